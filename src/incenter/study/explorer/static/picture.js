// The picture, back to front: far facets, what is inside the cone, near facets, gradients, words. The ball lies on the
// inner side of every facet's plane, so this order is exact for an orthographic eye.

import { dot, norm, scaled, see, sum } from "./camera.js";
import { COLOURED, ballOutline, colour, drawnLength, mark } from "./shapes.js";
import { words } from "./wording.js";

const element = (id) => document.getElementById(id);
const SAME = Math.cos((0.7 * Math.PI) / 180); // directions this close share an arrow and its words

const stop = (offset, name, opacity) => `<stop offset="${offset}" style="stop-color:var(--${name});stop-opacity:${opacity}"/>`;
const SHADES =
  `<radialGradient id="globe" cx="0.38" cy="0.32" r="0.75">${stop(0, "card", 1)}${stop(1, "globe", 1)}</radialGradient>` +
  `<radialGradient id="ball" cx="0.34" cy="0.28" r="0.8">${stop(0, "shine", 0.55)}${stop(0.55, "cone", 0.42)}${stop(1, "ball", 0.62)}</radialGradient>`;

/** Where a point of the scene is on the screen, in pixels, and its depth. */
export function projector(view) {
  const { left, right, low, high } = view.extent;
  const scale = Math.min(view.width / (right - left), view.height / (high - low)) * view.zoom;
  const middle = [view.width / 2 - (scale * (left + right)) / 2, view.height / 2 + (scale * (low + high)) / 2];
  const project = (point) => {
    const [x, y, depth] = see(view.frame, point);
    return [middle[0] + scale * x, middle[1] - scale * y, depth];
  };
  return { project, scale, middle };
}

/** What the screen must hold to show all of an answer, with room for words. */
export function extentOf(answer, frame) {
  const { scene } = answer;
  const points = [
    ...scene.gradients.map((direction, k) => scaled(direction, drawnLength(scene.lengths[k]))),
    ...(scene.ball ? outlineOf(answer, frame) : []),
  ].map((point) => see(frame, point));
  const [across, up] = [0, 1].map((k) => [-1, 1, ...points.map((point) => point[k])]); // the globe, and the points
  return { left: Math.min(...across) - 0.3, right: Math.max(...across) + 0.3, low: Math.min(...up) - 0.12, high: Math.max(...up) + 0.12 };
}

/** Draw `answer` as `view` {frame, extent, zoom, width, height, hidden, marked, gradients} has it. */
export function drawPicture(answer, view) {
  if (!element("shades").hasChildNodes()) element("shades").innerHTML = SHADES;
  const eye = projector(view);
  const scene = answer.scene;
  const arrows = shownArrows(answer, view);
  const near = scene.facets.filter((facet) => dot(scene.gradients[facet.gradient], view.frame[2]) <= 0);
  const far = scene.facets.filter((facet) => !near.includes(facet));
  const inside = arrows.map((arrow) => arrowMarkup(arrow, eye, view, scene));
  const tips = gradientTips(scene, view);
  element("scene").innerHTML = [
    globe(eye, view.frame),
    tips.filter((tip) => tip.depth < 0).map((tip) => shaft(tip, eye)).join(""),
    far.map((facet) => sector(facet, answer, eye, "far")).join(""),
    ball(answer, eye, view.frame),
    inside.join(""),
    near.map((facet) => sector(facet, answer, eye, "near")).join(""),
    scene.facets.map((facet) => rim(facet, answer, eye)).join(""),
    contacts(scene, eye),
    tips.filter((tip) => tip.depth >= 0).map((tip) => shaft(tip, eye)).join(""),
    axes(eye, view),
  ].join("");
  drawHandles(answer, tips, eye, view);
  element("words").innerHTML = words(answer, arrows, tips, eye, view);
}

const path = (points, eye) => points.map((point) => eye.project(point).slice(0, 2).map((x) => x.toFixed(1)).join(" ")).join("L");

function globe(eye, frame) {
  const [x, y] = eye.middle;
  const rings = [0, 1, 2].map((axis) => ring(axis, eye, frame)).join("");
  return `<circle class="globe" cx="${x}" cy="${y}" r="${eye.scale}" fill="url(#globe)"/>${rings}`;
}

function ring(axis, eye, frame) {
  const points = Array.from({ length: 73 }, (_, k) => {
    const turn = (k * Math.PI) / 36;
    const point = [0, 0, 0];
    point[(axis + 1) % 3] = Math.cos(turn);
    point[(axis + 2) % 3] = Math.sin(turn);
    return point;
  });
  const front = [];
  points.forEach((point, k) => {
    const facing = dot(frame[2], point) >= 0;
    if (facing && k > 0) front.push(`M${path([points[k - 1], point], eye)}`);
  });
  return `<path class="ring" d="M${path(points, eye)}"/><path class="ring" d="${front.join("")}"/>`;
}

const binds = (scene, gradient) => (scene.active[gradient] ? "binds" : "free");

function sector(facet, answer, eye, side) {
  return `<path class="facet ${side} ${binds(answer.scene, facet.gradient)}" d="M${path([[0, 0, 0], ...facet.arc], eye)}Z"/>`;
}

function rim(facet, answer, eye) {
  const edge = [facet.arc[0], [0, 0, 0], facet.arc[facet.arc.length - 1]];
  return `<path class="rim" d="M${path(facet.arc, eye)}"/><path class="ray" d="M${path(edge, eye)}"/>`;
}

function ball(answer, eye, frame) {
  return answer.scene.ball ? `<path class="ball" fill="url(#ball)" d="M${path(outlineOf(answer, frame), eye)}Z"/>` : "";
}

const outlineOf = ({ scene, p }, frame) => ballOutline(frame, p).map((point) => sum(scene.center, scaled(point, scene.radius)));

function contacts(scene, eye) {
  const [x, y] = scene.center ? eye.project(scene.center) : [];
  return scene.contacts
    .map((contact) => eye.project(contact))
    .map(([a, b]) => `<path class="reach" d="M${x} ${y}L${a} ${b}"/><circle class="contact" cx="${a}" cy="${b}" r="4"/>`)
    .join("");
}

/** One arrow for each set of rules that agree, the deepest first; `tip` in the scene. */
function shownArrows(answer, view) {
  const arrows = [];
  for (const method of answer.methods) {
    const tip = method.direction;
    if (!tip || norm(tip) < 1e-9 || view.hidden.has(method.method)) continue;
    const known = arrows.find((arrow) => dot(arrow.tip, tip) > SAME * norm(arrow.tip) * norm(tip));
    if (known) known.methods.push(method);
    else arrows.push({ tip: method.method === "chebyshev" && answer.scene.whole ? answer.scene.center || tip : tip, methods: [method] });
  }
  for (const arrow of arrows) arrow.lead = leading(arrow.methods);
  return arrows;
}

const leading = (methods) =>
  [...COLOURED, "sum"].map((name) => methods.find((each) => each.method === name)).find((each) => each) || methods[0];

function arrowMarkup(arrow, eye, view, scene) {
  const marked = arrow.methods.some((each) => each.method === view.marked);
  const name = arrow.lead.method;
  const kind = name === "chebyshev" ? "main" : COLOURED.includes(name) ? "named" : "other";
  const quiet = view.marked && !marked ? " quiet" : "";
  const width = { main: 4.5, named: 3, other: 1.5 }[kind] + (marked ? 2 : 0);
  const pieces = split(arrow.tip, scene, view.frame).map(
    ([points, behind]) => `<path class="${behind ? "behind" : ""}" stroke-width="${width}" d="M${path(points, eye)}"/>`,
  );
  const head = arrowHead(arrow.tip, eye, 5 + 1.7 * width);
  return `<g class="arrow ${kind}${quiet}" style="--c:${colour(name)}">${pieces.join("")}${head}</g>`;
}

function arrowHead(tip, eye, size) {
  const [a, b] = [eye.project([0, 0, 0]), eye.project(tip)];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
  const kept = Math.min(size, length);
  const [x, y] = length > 0 ? [(b[0] - a[0]) / length, (b[1] - a[1]) / length] : [0, 0];
  const foot = [b[0] - kept * x, b[1] - kept * y];
  const wing = 0.42 * kept;
  return `<path class="head" d="M${b[0]} ${b[1]}L${foot[0] - wing * y} ${foot[1] + wing * x}L${foot[0] + wing * y} ${foot[1] - wing * x}Z"/>`;
}

// The stretches of an arrow that the ball hides are drawn paler. Only a round ball is asked: the others are seldom looked at.
function split(tip, scene, frame) {
  const steps = 40;
  const hidden = (share) => scene.ball && behindBall(scaled(tip, share), scene, frame);
  const pieces = [];
  for (let k = 0; k < steps; k += 1) {
    const [start, end] = [scaled(tip, k / steps), scaled(tip, (k + 1) / steps)];
    const behind = hidden((k + 0.5) / steps);
    const last = pieces[pieces.length - 1];
    if (last && last[1] === behind) last[0][1] = end;
    else pieces.push([[start, end], behind]);
  }
  return pieces;
}

function behindBall(point, scene, frame) {
  const [x, y, depth] = see(frame, sum(point, scaled(scene.center, -1)));
  const across = scene.radius ** 2 - x * x - y * y;
  return across > 0 && depth < Math.sqrt(across);
}

function gradientTips(scene, view) {
  return scene.gradients.map((direction, k) => {
    const rows = view.gradients; // while one is dragged it is ahead of its answer
    const way = rows ? rows[k].direction : direction;
    const length = drawnLength(rows ? rows[k].length : scene.lengths[k]);
    const tip = scaled(way, rows || scene.exact || scene.gradients.length <= 3 ? length : 1);
    return { k, tip, depth: dot(tip, view.frame[2]), zero: norm(way) === 0 };
  });
}

function shaft(tip, eye) {
  return tip.zero ? "" : `<path class="gradient ${tip.depth < 0 ? "away" : ""}" d="M${path([[0, 0, 0], tip.tip], eye)}"/>`;
}

function axes(eye, view) {
  const corner = [46, view.height - 42];
  return [0, 1, 2]
    .map((k) => {
      const [x, y] = [26 * view.frame[0][k], -26 * view.frame[1][k]];
      const [a, b] = [corner[0] + x, corner[1] + y];
      return `<path class="axis" d="M${corner[0]} ${corner[1]}L${a} ${b}"/><text class="axis" x="${corner[0] + 1.4 * x}" y="${corner[1] + 1.4 * y + 4}">θ${"₁₂₃"[k]}</text>`;
    })
    .join("");
}

// Handles stay the same elements from one drawing to the next, so that focus and a drag survive.
function drawHandles(answer, tips, eye, view) {
  const group = element("handles");
  while (group.children.length > tips.length) group.lastChild.remove();
  while (group.children.length < tips.length) {
    const handle = document.createElementNS("http://www.w3.org/2000/svg", "g");
    handle.innerHTML = '<circle class="reachable" r="22"/><circle class="focus" r="15"/><path/>';
    handle.classList.add("handle");
    group.append(handle);
  }
  tips.forEach((tip, k) => {
    const handle = group.children[k];
    const [x, y] = eye.project(tip.tip);
    const name = answer.names[answer.scene.shown[k]];
    handle.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    handle.lastChild.setAttribute("d", mark(answer.scene.shown[k]));
    handle.setAttribute("class", `handle ${binds(answer.scene, k)} ${tip.depth < 0 ? "away" : ""}`);
    handle.dataset.gradient = k;
    if (!view.draggable) return;
    handle.setAttribute("tabindex", "0");
    handle.setAttribute("role", "button");
    handle.setAttribute("aria-roledescription", "gradient");
    handle.setAttribute("aria-label", `${name}, ${answer.scene.active[k] ? "binds" : "has room"}. Arrow keys turn it, plus and minus change its length.`);
  });
}
