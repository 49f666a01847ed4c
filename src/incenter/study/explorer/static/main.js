// The page: what is being looked at, what was answered, and what each control does.

import { asker, post } from "./asking.js";
import { framing, norm, scaled, turned, unit } from "./camera.js";
import { showChoice } from "./choice.js";
import { showLengths } from "./lengths.js";
import { watchPicture } from "./moving.js";
import { showNumbers } from "./numbers.js";
import { drawPicture, extentOf } from "./picture.js";
import { COLOURED, escaped, short } from "./shapes.js";

const start = JSON.parse(document.getElementById("start").textContent);
const by = (id) => document.getElementById(id);
const picture = by("picture");

// `rows` are the three gradients that the page has in hand; null while the server holds those that are looked at.
const state = { rows: null, held: null, shown: null, chosen: null, family: "", p: 2, zoom: 1, frame: null, extent: null, hidden: new Set(), marked: null };
let answer = null;
let reframe = "view"; // what the next answer resets: the "view", its "size" alone, or nothing
let drawing = false;

const ask = asker({ live: start.live, saved: start.answers, answered, refused });

function question() {
  const source = state.held ? { held: state.held, ...(state.shown && { shown: state.shown }) } : { gradients: state.rows };
  return { body: { ...source, p: state.p }, key: `${state.chosen}/${state.p}` };
}

const asked = () => ask(question());

function answered(found, newest) {
  answer = found;
  complain(null);
  if (reframe === "view") home();
  if (reframe === "size") fit();
  if (newest) reframe = null; // an answer to what was looked at before frames only until the right one comes
  redraw();
  showNumbers(answer, state);
  showLengths(answer, start.live && state.rows !== null);
  showSeen();
  speak();
}

function refused(sentence) {
  complain(sentence);
}

function complain(sentence) {
  by("trouble").hidden = sentence === null;
  by("trouble").textContent = sentence || "";
}

// --- the picture

const view = () => ({
  frame: state.frame,
  extent: state.extent,
  zoom: state.zoom,
  width: picture.clientWidth,
  height: picture.clientHeight,
  hidden: state.hidden,
  marked: state.marked,
  gradients: inHand() && state.rows.map((row) => ({ direction: unit(row), length: norm(row) })),
  draggable: start.live,
});

// A moment after another source was chosen, the answer is still one about the source before.
const inHand = () => state.rows !== null && answer.scene.gradients.length === state.rows.length;

/** Draw before the next frame, once, however much has changed. */
function redraw() {
  if (drawing || answer === null) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawPicture(answer, view());
  });
}

function home() {
  if (answer === null) return;
  const { center, gradients } = answer.scene;
  const named = answer.methods.filter((method) => COLOURED.includes(method.method) && method.direction);
  state.frame = framing(center || [0, 0, 0], [...gradients, ...named.map((method) => method.direction)]);
  fit();
}

function fit() {
  state.extent = extentOf(answer, state.frame);
  state.zoom = 1;
  redraw();
}

watchPicture(picture, {
  view,
  directions: () => (inHand() ? state.rows.map(unit) : answer.scene.gradients),
  lengths: () => (inHand() ? state.rows.map(norm) : answer.scene.lengths),
  draggable: () => start.live && answer !== null,
  moved: (k, direction) => change(k, (row) => scaled(direction, norm(row))),
  stretched: (k, factor) => change(k, (row) => scaled(row, factor)),
  turned: (right, up) => {
    if (answer === null) return;
    state.frame = turned(state.frame, right, up);
    redraw();
  },
  zoomed: (factor) => {
    state.zoom = Math.min(4, Math.max(0.5, state.zoom * factor));
    redraw();
  },
  home,
});
by("home").addEventListener("click", home);
new ResizeObserver(redraw).observe(picture);

const [SHORTEST, LONGEST] = [1e-30, 1e30]; // far from where squares would over- or underflow

/** Gradient `k` becomes `next(row)`: at once on the page, and the numbers follow. */
function change(k, next) {
  if (!state.rows && !copied()) return;
  const row = next(state.rows[k]);
  if (!(norm(row) > SHORTEST && norm(row) < LONGEST)) return;
  state.rows = state.rows.map((old, i) => (i === k ? row : old));
  if (state.chosen !== null) choose(null);
  redraw();
  asked();
}

// Gradients that the server holds are not changed: a copy of the three, as they are drawn, is.
function copied() {
  const { gradients, lengths } = answer.scene;
  if (gradients.length !== 3 || lengths.some((length) => !length)) {
    complain("Only three gradients that are not zero can be dragged.");
    return false;
  }
  state.rows = gradients.map((direction, k) => scaled(direction, lengths[k]));
  state.held = null;
  return true;
}

// --- what to look at

function choose(name) {
  state.chosen = name;
  for (const button of by("presets").children) button.setAttribute("aria-pressed", button.dataset.name === name);
  const pressed = by("presets").querySelector("[aria-pressed=true]");
  if (pressed) by("presets").scrollLeft = pressed.offsetLeft - by("presets").offsetLeft - 40; // on a phone they are a strip
  by("look").classList.toggle("left", name === null);
  if (name === null) return null; // what was said of the preset stays, paler: it was where this began
  const preset = start.presets.find((each) => each.name === name);
  const held = start.held.find((each) => each.name === name);
  by("look").textContent = preset ? preset.look : `${held.title}${held.step === null ? "" : `, step ${held.step}`}: ${described(held)}`;
  return preset || held;
}

function described(held) {
  const size = `${held.m} ${held.m === 1 ? "gradient" : "gradients"} of ${held.n.toLocaleString("en")} parameters`;
  if (held.n <= 3) return `${size}, drawn as they are.`;
  return `${size}, drawn in three dimensions with their own lengths and angles${held.m > 3 ? ", three at a time" : ""}.`;
}

function lookAt(name) {
  const found = choose(name);
  state.rows = found.gradients || null;
  state.held = found.gradients ? null : name;
  state.shown = null;
  if (!found.family || found.family !== state.family) reframe = "view";
  state.family = found.family;
  const many = start.live && !found.gradients && found.m > 3 && found.n > 3;
  showChoice(many ? found.names : null, (rows) => {
    state.shown = rows;
    reframe = "view";
    asked();
  });
  return asked();
}

function showPresets() {
  by("presets").innerHTML = [...start.held, ...start.presets]
    .map((each) => `<button type="button" data-name="${escaped(each.name)}">${escaped(each.title)}</button>`)
    .join("");
}

by("presets").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) lookAt(button.dataset.name);
});

by("norm").innerHTML = start.norms.map((p) => `<option value="${p}" ${p === 2 ? "selected" : ""}>${p === "inf" ? "∞" : p}</option>`).join("");
by("norm").addEventListener("change", () => {
  state.p = by("norm").value === "inf" ? "inf" : Number(by("norm").value);
  reframe = reframe || "size"; // the ball of another norm has another size
  asked();
});

// --- files

async function load(file) {
  try {
    const found = await post(`file?name=${encodeURIComponent(file.name)}`, file);
    start.held = [...start.held.filter((each) => each.name !== found.name), found];
    showPresets();
    await lookAt(found.name);
  } catch (error) {
    complain(error.message);
  }
}

by("file").addEventListener("change", () => {
  if (by("file").files.length) load(by("file").files[0]);
  by("file").value = "";
});
for (const kind of ["dragover", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    if (kind === "drop" && start.live && event.dataTransfer.files.length) load(event.dataTransfer.files[0]);
  });
}

function showSeen() {
  const { whole, exact, ball, center } = answer.scene;
  const lines = state.chosen === null ? ["Gradients of your own."] : [];
  if (!whole) lines.push("Cone and ball are those of the three gradients alone; the arrows are the shadows of the directions of all.");
  else if (!exact && answer.p !== 2) lines.push("Directions that leave the span of the gradients are seen as their shadows.");
  if (center === null) lines.push(`No cone to draw: ${answer.sentence}.`);
  else if (!ball) lines.push("The ball of this norm has no picture in three of so many dimensions; p = 2 has.");
  by("seen").hidden = lines.length === 0;
  by("seen").textContent = lines.join(" ");
}

// --- lengths

by("lengths").addEventListener("input", (event) => {
  const k = Number(event.target.dataset.gradient);
  change(k, (row) => scaled(unit(row), 10 ** Number(event.target.value)));
});

// --- the list of rules

by("methods").addEventListener("change", (event) => {
  const { method } = event.target.closest("li").dataset;
  if (event.target.checked) state.hidden.delete(method);
  else state.hidden.add(method);
  redraw();
});
for (const [kind, on] of [["pointerover", true], ["focusin", true], ["pointerleave", false], ["focusout", false]]) {
  by("methods").addEventListener(kind, (event) => {
    const row = event.target.closest("li");
    state.marked = on && row ? row.dataset.method : null;
    redraw();
  });
}

// --- words for who does not see the picture

let speaking = 0;

function speak() {
  clearTimeout(speaking);
  speaking = setTimeout(() => {
    const binding = answer.names.filter((_, k) => answer.active[k]).slice(0, 6).join(", ");
    by("spoken").textContent = `r star ${short(answer.radius)}, ${answer.status.toLowerCase()}; binding: ${binding || "none"}.`;
  }, 700);
}

by("load").hidden = !start.live;
by("hint").textContent = start.live
  ? "Drag a tip to move a gradient, the background to turn the view. Tab and the arrow keys do the same (Shift: finer; + and −: length)."
  : "This page is saved: turn the view and choose presets. To drag the gradients: pip install incenter, then incenter explore.";
document.querySelector("footer").textContent = `incenter ${start.version}. Every number is computed by the library.`;
showPresets();
lookAt((start.held[0] || start.presets[0]).name);
