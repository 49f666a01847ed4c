// What the drawings are made of: colours by rule, marks by gradient, and safe text.

/** The five rules of the paper's picture have a colour each (Okabe and Ito's); the others share a grey. */
export const COLOURED = ["chebyshev", "config", "harmonic", "mgda", "imtl_g"];
export const colour = (method) => (COLOURED.includes(method) ? `var(--${method})` : "var(--other)");

const MARKS = [
  "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z",
  "M-4.6-4.6H4.6V4.6H-4.6Z",
  "M0-5.8L5.6 4.4H-5.6Z",
  "M0-6.2L5.4 0 0 6.2-5.4 0Z",
  "M0 5.8L5.6-4.4H-5.6Z",
  "M-6-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z",
];

/** The outline of a gradient's mark, about 10 pixels across. */
export const mark = (gradient) => MARKS[gradient % MARKS.length];

export const escaped = (text) =>
  String(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

export const decimals = (value, digits) => (Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value).toFixed(digits).replace("-", "−");

/** Four digits, whatever the size. */
export function short(value) {
  if (value === null) return "not finite";
  const size = Math.abs(value);
  if (size === 0) return "0";
  return size >= 1e-3 && size < 1e4 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}

/** How long an arrow is drawn: lengths go over many powers of ten. */
export const drawnLength = (length) => Math.max(0.5, Math.min(1.5, 1 + 0.2 * Math.log10(length || 1e-9)));

/** The outline of the unit l_q ball (1/p + 1/q = 1) as the frame sees it: its farthest point along each way on the screen. */
export function ballOutline(frame, p, steps = 96) {
  return Array.from({ length: steps }, (_, k) => {
    const turn = (2 * Math.PI * k) / steps;
    const way = frame[0].map((x, i) => Math.cos(turn) * x + Math.sin(turn) * frame[1][i]);
    return farthest(way, p);
  });
}

function farthest(way, p) {
  const largest = Math.max(...way.map(Math.abs));
  const size = way.map((x) => Math.abs(x) / largest);
  if (p === "inf") {
    const first = size.indexOf(1);
    return way.map((x, k) => (k === first ? Math.sign(x) : 0));
  }
  const whole = size.reduce((total, x) => total + x ** p, 0) ** ((p - 1) / p);
  return way.map((x, k) => (Math.sign(x) * size[k] ** (p - 1)) / whole);
}
