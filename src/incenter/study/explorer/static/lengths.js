// One slider per gradient, logarithmic.

import { badge } from "./numbers.js";
import { short } from "./shapes.js";

const SLIDER = 3; // powers of ten on either side of 1

/** Show the lengths of the gradients in the picture; they are moved where `movable`. */
export function showLengths(answer, movable) {
  const lengths = answer.scene.lengths;
  const box = document.getElementById("lengths");
  if (box.children.length !== lengths.length) {
    box.innerHTML = lengths.map((_, k) => `<label>${badge(k)}<span class="who"></span><input type="range" min="${-SLIDER}" max="${SLIDER}" step="0.01" data-gradient="${k}"><output></output></label>`).join("");
  }
  lengths.forEach((length, k) => {
    const [who, slider, output] = ["span", "input", "output"].map((kind) => box.children[k].querySelector(kind));
    const row = answer.scene.shown[k];
    const exponent = Math.log10(length || 1);
    box.children[k].querySelector("svg").outerHTML = badge(row);
    who.textContent = `|${answer.names[row]}|`;
    slider.disabled = !movable;
    slider.min = Math.min(-SLIDER, Math.floor(exponent));
    slider.max = Math.max(SLIDER, Math.ceil(exponent));
    slider.setAttribute("aria-label", `Length of ${answer.names[row]}, on a logarithmic scale`);
    slider.setAttribute("aria-valuetext", short(length));
    if (document.activeElement !== slider) slider.value = exponent;
    output.textContent = short(length);
  });
}
