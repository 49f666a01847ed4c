// An orthographic eye that turns freely about the origin. A frame is three rows: right, up, and toward the eye.

export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const scaled = (a, s) => a.map((x) => x * s);
export const sum = (a, b) => a.map((x, k) => x + b[k]);
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const norm = (a) => Math.hypot(...a);
export const unit = (a) => (norm(a) > 0 ? scaled(a, 1 / norm(a)) : a);

/** Right, up and depth of a point, as the frame has it. */
export const see = (frame, point) => frame.map((row) => dot(row, point));

/** The point that the frame sees at these coordinates. */
export const unsee = (frame, seen) => frame.reduce((whole, row, k) => sum(whole, scaled(row, seen[k])), [0, 0, 0]);

/** The frame after the scene was pushed by these angles to the right and up. */
export function turned(frame, right, up) {
  const first = rotated(frame[0], frame[2], right);
  const second = rotated(frame[1], first[1], up);
  return orthonormal([first[0], second[0], second[1]]);
}

function rotated(a, b, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [sum(scaled(a, c), scaled(b, s)), sum(scaled(b, c), scaled(a, -s))];
}

// Rounding would otherwise shear the picture after many turns.
function orthonormal([right, , toward]) {
  const t = unit(toward);
  const r = unit(sum(right, scaled(t, -dot(right, t))));
  return [r, cross(t, r), t];
}

const TURNS = 48;
const LEANS = [0.3, 0.5, 0.7, 0.9];

/** A frame with `axis` upright and leaning toward the eye, from the side that keeps `points` best apart. */
export function framing(axis, points) {
  const up = norm(axis) > 0 ? unit(axis) : [0, 0, 1];
  const aside = unit(cross(up, Math.abs(up[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  let best = null;
  for (let k = 0; k < TURNS * LEANS.length; k += 1) {
    const right = rotated(aside, cross(up, aside), (2 * Math.PI * k) / TURNS)[0];
    const [toward, upright] = rotated(cross(right, up), up, LEANS[Math.floor(k / TURNS)]);
    const frame = [right, upright, toward];
    const worth = apart(points.map((point) => see(frame, point)));
    if (best === null || worth > best.worth + 1e-9) best = { worth, frame };
  }
  return best.frame;
}

// Points close together on the screen count most; a tip that points at the eye or away from it is hard to take hold of.
function apart(seen) {
  let worth = 0;
  seen.forEach((a, i) => {
    worth += 0.3 * Math.min(0.7, Math.hypot(a[0], a[1])) + 0.04 * a[2];
    for (const b of seen.slice(i + 1)) worth += Math.min(0.45, Math.hypot(a[0] - b[0], a[1] - b[1])) / seen.length;
  });
  return worth;
}
