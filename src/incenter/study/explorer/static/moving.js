// Hands on the picture: a tip is dragged over its sphere, the background turns the view, two fingers or the wheel zoom.

import { cross, dot, scaled, sum, unit, unsee } from "./camera.js";
import { projector } from "./picture.js";
import { drawnLength } from "./shapes.js";

const STEP = Math.PI / 90; // of an arrow key, 2 degrees
const FINE = Math.PI / 720; // with Shift, a quarter of a degree
const LONGER = 1.1;

/** `hands` {view, directions, lengths, draggable, moved(k, direction), stretched(k, factor), turned(right, up), zoomed(factor), home()} */
export function watchPicture(picture, hands) {
  const fingers = new Map();
  let held = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    picture.setPointerCapture(event.pointerId);
    const handle = event.target.closest(".handle");
    if (handle && hands.draggable() && fingers.size === 1) {
      handle.focus({ preventScroll: true });
      held = grasp(Number(handle.dataset.gradient), event, picture, hands);
    } else {
      held = null;
    }
    picture.classList.toggle("holding", held !== null);
  });
  picture.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = [...fingers.values()];
    const [x, y] = fingers.get(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (fingers.size === 2) hands.zoomed(spread([...fingers.values()]) / spread(before));
    else if (held) hands.moved(held.k, held.to(event));
    else hands.turned((event.clientX - x) / 160, (y - event.clientY) / 160);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    picture.addEventListener(end, (event) => {
      fingers.delete(event.pointerId);
      held = null;
      picture.classList.remove("holding");
    });
  }
  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    hands.zoomed(Math.exp(-event.deltaY / 600));
  }, { passive: false });
  picture.addEventListener("keydown", (event) => onKey(event, hands));
}

const spread = ([a, b]) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));

// The tip keeps its distance from the pointer, its length, and the side of the sphere that it is on.
function grasp(k, event, picture, hands) {
  const frame = picture.getBoundingClientRect();
  const eye = projector(hands.view());
  const radius = drawnLength(hands.lengths()[k]);
  const tip = scaled(hands.directions()[k], radius);
  const [x, y, depth] = eye.project(tip);
  const off = [event.clientX - frame.left - x, event.clientY - frame.top - y];
  const side = depth < 0 ? -1 : 1;
  const to = (moved) => {
    const right = (moved.clientX - frame.left - off[0] - eye.middle[0]) / eye.scale;
    const up = (eye.middle[1] - (moved.clientY - frame.top - off[1])) / eye.scale;
    const left = radius * radius - right * right - up * up;
    return unit(unsee(hands.view().frame, [right, up, left > 0 ? side * Math.sqrt(left) : 0]));
  };
  return { k, to };
}

const ARROW_KEYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function onKey(event, hands) {
  const handle = event.target.closest(".handle");
  const way = ARROW_KEYS[event.key];
  const grow = { "+": 1, "=": 1, "-": -1, "−": -1 }[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (way && handle) pushed(Number(handle.dataset.gradient), scaled(way, event.shiftKey ? FINE : STEP), hands);
  else if (way) hands.turned(...scaled(way, 0.12));
  else if (grow && handle) hands.stretched(Number(handle.dataset.gradient), LONGER ** grow);
  else if (grow) hands.zoomed(LONGER ** grow);
  else if (event.key === "Home") hands.home();
  else return;
  event.preventDefault();
}

// Right and left turn the tip about the screen's upright axis, up and down about its level one, so that it can be pushed all
// the way round. A tip that lies along that axis would only spin: it is turned about the line of sight instead.
function pushed(k, [right, up], hands) {
  const [level, upright, toward] = hands.view().frame;
  const now = hands.directions()[k];
  const axis = right ? upright : level;
  const stuck = Math.abs(dot(now, axis)) > 0.95;
  hands.moved(k, unit(rotation(now, stuck ? toward : axis, stuck ? -(right || -up) : right || -up)));
}

function rotation(point, axis, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return sum(sum(scaled(point, c), scaled(cross(axis, point), s)), scaled(axis, dot(axis, point) * (1 - c)));
}
