// Where words go: each beside its arrow's tip, none over another or over a handle, all inside the picture.

const WAYS = [[1, 0], [1, -1], [1, 1], [0, -1], [0, 1], [-1, 0], [-1, -1], [-1, 1]];

const CROWDED = 30; // the cost of lying over something

/** Labels {x, y, text, size, needed} with a place {left, top, width, height, far}, first come first served; what finds none and need not be is left out. */
export function placed(labels, taken, width, height) {
  const boxes = [...taken];
  return labels.flatMap((label) => {
    const size = { width: textWidth(label.text, label.size), height: label.size * 1.25 };
    const found = candidates(label, size, width).map((box) => ({ ...box, cost: cost(box, boxes, width, height) }));
    const best = found.reduce((a, b) => (b.cost < a.cost ? b : a));
    if (best.cost >= CROWDED && !label.needed) return [];
    boxes.push(best);
    return [{ ...label, ...best }];
  });
}

const pen = document.createElement("canvas").getContext("2d");

function textWidth(text, size) {
  pen.font = `700 ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width + 2;
}

function candidates(label, size, width) {
  const outward = label.x >= width / 2 ? 1 : -1; // away from the middle first
  return [12, 24, 40, 60, 84].flatMap((distance, ring) =>
    WAYS.map(([right, down], order) => {
      const [x, y] = [label.x + outward * right * distance, label.y + down * (right ? 0.6 * distance : distance)];
      const side = outward * right;
      const left = side > 0 ? x : side < 0 ? x - size.width : x - size.width / 2;
      return { left, top: y - size.height / 2, ...size, far: distance > 24, base: 3 * ring + 0.25 * order };
    }),
  );
}

function cost(box, boxes, width, height) {
  const out = Math.max(0, 4 - box.left, box.left + box.width + 4 - width, 2 - box.top, box.top + box.height + 2 - height);
  const overlap = boxes.reduce((total, other) => total + common(box, other), 0);
  return box.base + 4 * out + (overlap > 0 ? CROWDED + overlap / 8 : 0);
}

function common(a, b) {
  const across = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left);
  const down = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top);
  return across > 0 && down > 0 ? across * down : 0;
}
