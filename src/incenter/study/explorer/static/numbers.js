// The numbers beside the picture: the library's, written out.

import { COLOURED, colour, decimals, escaped, mark, short } from "./shapes.js";

const node = (id) => document.getElementById(id);
const FEW = 6; // gradients whose cosines are all written out
const ROUNDING = 1e-6; // cosines below minus this are marked as an increase

export function showNumbers(answer, view) {
  verdict(answer);
  methods(answer, view);
  silent(answer);
  node("python").querySelector("code").textContent = answer.python;
}

function verdict(answer) {
  node("value").textContent = answer.radius === null ? "none" : decimals(answer.radius, 6);
  const status = answer.status.toLowerCase().replace("_", " ");
  node("status").className = answer.status === "OPTIMAL" ? "good" : "warning";
  node("status").textContent = status;
  const size = `${answer.m} ${answer.m === 1 ? "loss" : "losses"}, ${answer.n.toLocaleString("en")} parameters`;
  node("gap").textContent = `certified gap ${answer.gap.toExponential(1)}: ${answer.sentence}. ${size}.`;
  const shown = answer.m > FEW ? answer.names.map((_, k) => k).filter((k) => answer.active[k]).slice(0, FEW) : answer.names.map((_, k) => k);
  const rest = answer.m > FEW ? `<li>${answer.active.filter(Boolean).length} of ${answer.m} bind</li>` : "";
  node("binding").innerHTML = shown.map((k) => bound(answer, k)).join("") + rest;
}

function bound(answer, k) {
  const word = answer.dropped[k] ? "dropped" : answer.active[k] ? "binds" : "has room";
  const share = answer.weights[k] === null ? "" : ` <span class="quiet">weight ${decimals(answer.weights[k], 3)}</span>`;
  return `<li class="${answer.active[k] ? "binds" : "free"}">${badge(k)}${escaped(answer.names[k])} <b>${word}</b>${share}</li>`;
}

export const badge = (k) => `<svg class="badge" viewBox="-8 -8 16 16" aria-hidden="true"><path d="${mark(k)}"/></svg>`;

// Rows are kept and moved, not made anew: a person may have one under the pointer, or the focus in it.
function methods(answer, view) {
  const list = node("methods");
  const known = new Map([...list.children].map((row) => [row.dataset.method, row]));
  const answered = answer.methods.filter((method) => method.note === undefined);
  answered.forEach((method, place) => {
    const row = known.get(method.method) || newRow(method);
    known.delete(method.method);
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] || null);
    fill(row, method, answer, view);
  });
  known.forEach((row) => row.remove());
}

function newRow(method) {
  const row = document.createElement("li");
  row.dataset.method = method.method;
  row.style.setProperty("--c", colour(method.method));
  row.classList.toggle("named", COLOURED.includes(method.method));
  row.innerHTML = `<label><input type="checkbox" checked> <span></span></label><b class="least"></b><svg class="strip" aria-hidden="true"></svg><p class="cosines"></p>`;
  row.querySelector("label span").textContent = method.label;
  return row;
}

function fill(row, method, answer, view) {
  const cosines = method.cosines.map((cosine) => cosine ?? 0);
  row.querySelector("input").checked = !view.hidden.has(method.method);
  row.querySelector(".least").textContent = decimals(method.radius ?? 0, 4);
  row.classList.toggle("worse", Math.min(...cosines) < -ROUNDING);
  const none = cosines.every((cosine) => cosine === 0);
  row.querySelector(".strip").innerHTML = strip(none ? [] : cosines, answer);
  const all = cosines.length <= FEW ? cosines.map((cosine, k) => `<span>${badge(k)}${decimals(cosine, 4)}</span>`).join("") : "";
  const worse = cosines.filter((cosine) => cosine < -ROUNDING).length;
  const many = cosines.length > FEW ? `<span>${worse} of ${cosines.length} losses go up</span>` : "";
  const status = method.status === "OPTIMAL" ? "" : `<span class="state">${method.status.toLowerCase().replace("_", " ")}</span>`;
  row.querySelector(".cosines").innerHTML = none ? `<span class="state">no direction</span>${status}` : all + many + status;
  row.title = `length ${short(method.length)}` + (method.weights && cosines.length <= FEW ? `, weights ${method.weights.map(short).join(", ")}` : "");
}

const across = (cosine) => `${(50 + 47 * cosine).toFixed(2)}%`;

function strip(cosines, answer) {
  const least = answer.p === 2 && answer.radius > 0 ? `<line class="deepest" x1="${across(answer.radius)}" x2="${across(answer.radius)}" y1="0" y2="100%"/>` : "";
  const ends = [Math.min(...cosines), Math.max(...cosines)].map(across);
  const marks = cosines.map((cosine, k) => {
    const y = cosines.length <= FEW ? 50 + 44 * ((k + 0.5) / cosines.length - 0.5) : 50;
    const shape = cosines.length <= FEW ? `<path d="${mark(k)}"/>` : '<path d="M-1-6H1V6H-1Z"/>';
    return `<svg x="${across(cosine)}" y="${y}%" overflow="visible">${shape}</svg>`;
  });
  const span = cosines.length ? `<line class="span" x1="${ends[0]}" x2="${ends[1]}" y1="50%" y2="50%"/>` : "";
  return `<rect class="up" x="0" y="0" width="50%" height="100%"/>${least}${span}${marks.join("")}`;
}

function silent(answer) {
  const without = answer.methods.filter((method) => method.note !== undefined);
  node("silent").hidden = without.length === 0;
  node("silent").querySelector("summary").textContent = `${without.length} rules without an answer here`;
  node("silent").querySelector("ul").innerHTML = without
    .map((method) => `<li><b>${escaped(method.label)}</b> ${escaped(method.note)}</li>`)
    .join("");
}
