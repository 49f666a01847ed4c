// Which three of many gradients are drawn.

import { escaped } from "./shapes.js";

/** Offer `names` in three lists; `chosen(rows)` is called when they change. None where there is nothing to choose. */
export function showChoice(names, chosen) {
  const box = document.getElementById("choice");
  box.hidden = names === null;
  box.querySelectorAll("select").forEach((old) => old.remove());
  if (names === null) return;
  const rows = [0, 1, 2];
  const options = names.map((name, k) => `<option value="${k}">${escaped(name)}</option>`).join("");
  const lists = rows.map((place) => {
    const list = document.createElement("select");
    list.setAttribute("aria-label", `Gradient ${place + 1} of the picture`);
    list.innerHTML = options;
    list.value = place;
    list.addEventListener("change", () => {
      const row = Number(list.value);
      const other = rows.indexOf(row);
      if (other >= 0) rows[other] = rows[place]; // the two change places
      rows[place] = row;
      lists.forEach((each, k) => (each.value = rows[k]));
      chosen([...rows]);
    });
    return list;
  });
  box.append(...lists);
}
