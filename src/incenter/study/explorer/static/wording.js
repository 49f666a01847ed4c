// The words in the picture: the gradients' names, and each arrow's rules.

import { placed } from "./labels.js";
import { COLOURED, colour, escaped } from "./shapes.js";

const NARROW = 480; // pixels, below which only the rules with a colour are named

/** Names at `tips` {tip, k} and `arrows` {tip, methods, lead}, seen with `eye`. */
export function words(answer, arrows, tips, eye, view) {
  const narrow = view.width < NARROW;
  const taken = tips.map((tip) => box(eye.project(tip.tip), 11));
  if (answer.scene.center) taken.push(box(eye.project(answer.scene.center), 4));
  const gradients = tips.map((tip) => ({ ...at(eye, tip.tip), text: answer.names[answer.scene.shown[tip.k]], size: 15, kind: "name", needed: true }));
  const rules = arrows
    .filter((arrow) => !narrow || COLOURED.includes(arrow.lead.method) || arrow.methods.some((each) => each.method === view.marked))
    .map((arrow) => ({
      ...at(eye, arrow.tip),
      text: together(arrow, narrow),
      size: arrow.lead.method === "chebyshev" ? 15 : COLOURED.includes(arrow.lead.method) ? 13.5 : 11.5,
      kind: COLOURED.includes(arrow.lead.method) ? "rule" : "rule other",
      c: colour(arrow.lead.method),
      needed: COLOURED.includes(arrow.lead.method) || arrow.methods.some((each) => each.method === view.marked),
      rank: COLOURED.indexOf(arrow.lead.method) < 0 ? 9 : COLOURED.indexOf(arrow.lead.method),
    }))
    .sort((a, b) => a.rank - b.rank);
  return placed([...gradients, ...rules], taken, view.width, view.height)
    .map((label) => {
      const [left, middle] = [label.left, label.top + label.height / 2];
      const end = label.x < left ? left - 2 : label.x > left + label.width ? left + label.width + 2 : label.x;
      const line = label.far ? `<path class="leader" d="M${label.x} ${label.y}L${end} ${middle}"/>` : "";
      return `${line}<text class="${label.kind}" style="--c:${label.c || ""}" font-size="${label.size}" x="${left}" y="${middle + 0.35 * label.size}">${escaped(label.text)}</text>`;
    })
    .join("");
}

const box = ([x, y], half) => ({ left: x - half, top: y - half, width: 2 * half, height: 2 * half });

function at(eye, tip) {
  const [x, y] = eye.project(tip);
  return { x, y };
}

function together(arrow, narrow) {
  const named = COLOURED.filter((name) => arrow.methods.some((each) => each.method === name));
  const first = named.length ? named.map((name) => arrow.methods.find((each) => each.method === name)) : [arrow.lead];
  const spelt = first.slice(0, narrow ? 1 : 2);
  const others = arrow.methods.length - spelt.length;
  return spelt.map((each) => each.label).join(", ") + (others > 0 ? ` +${others}` : "");
}
