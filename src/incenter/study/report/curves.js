"use strict";

// The interactive curves, the copying of commands, and what is folded up and wanted all the same.

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { left: 62, right: 14, top: 10, bottom: 40 };
  const JUMP = 10; // steps of the cursor for Page Up and Page Down
  const ACROSS = 70, DOWN = 40; // points between two numbers of an axis

  /** An SVG element with these attributes. */
  const drawn = (parent, name, attributes, text) => {
    const element = parent.appendChild(document.createElementNS(SVG, name));
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  /** A number in as few letters as four digits take. */
  const inWords = (value) => {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-3) {
      return value.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
    }
    return String(Number(value.toPrecision(4)));
  };
  const grouped = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });

  /** Round numbers from `low` to `high`, about `count` of them. */
  const linearTicks = (low, high, count) => {
    const rough = (high - low) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((each) => each * power >= rough * (1 - 1e-9));
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
      ticks.push(Number((k * step).toPrecision(12)));
    }
    return ticks;
  };

  /** Powers of ten, and what is between them where there is room. */
  const logarithmicTicks = (low, high, count) => {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const decades = Math.log10(high / low);
    const factors = decades * 3 <= count ? [1, 2, 5] : [1];
    const stride = Math.max(1, Math.ceil(decades / count));
    const ticks = [];
    for (let power = first; power <= last; power += 1) {
      if (power % stride !== 0) continue;
      for (const factor of factors) {
        const tick = Number(`${factor}e${power}`);
        if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
      }
    }
    return ticks.length > 1 ? ticks : linearTicks(low, high, count).filter((tick) => tick > 0);
  };

  /** `count` numbers from the first to the last. */
  const between = ([first, last], count) =>
    Array.from({ length: count }, (_, k) => first + ((last - first) * k) / Math.max(1, count - 1));

  const scale = (low, high, from, to, logarithmic) => {
    const bent = logarithmic ? Math.log : (value) => value;
    const [a, b] = [bent(low), bent(high)];
    return (value) => from + ((bent(value) - a) / (b - a || 1)) * (to - from);
  };

  const chart = () => {
    const place = document.getElementById("chart");
    if (!place) return;
    place.hidden = false;
    const { problems } = JSON.parse(document.getElementById("curves-data").textContent);
    for (const curve of problems.flatMap((each) => each.methods.flatMap((method) => method.curves))) {
      if (curve) curve.steps = between(curve.steps, curve.median.length);
    }
    const form = place.querySelector("form");
    const plot = document.getElementById("plot");
    const list = document.getElementById("methods");
    const hidden = new Set(); // titles of methods: the same choice on every problem
    let logarithmic = null; // what the person chose; null for what suits the quantity
    let share = 1; // where the cursor is, from the first step to the last
    let shown = []; // methods with their curves of this quantity

    const problem = () => problems[form.elements.problem.value];
    const quantity = () => problem().quantities[form.elements.quantity.value];
    const visible = () => shown.filter(({ curve, method }) => curve && !hidden.has(method.title));
    const isLogarithmic = () => form.elements.log.checked;

    /** A select with these texts; the one that was chosen before, where it is there again. */
    const fill = (select, texts) => {
      const before = select.selectedOptions[0]?.textContent;
      select.replaceChildren(...texts.map((text, index) => new Option(text, index)));
      select.value = Math.max(0, texts.indexOf(before));
    };

    const steps = () => {
      const all = visible().flatMap(({ curve }) => [curve.steps[0], curve.steps.at(-1)]);
      return all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
    };

    /** The number of the record next to the cursor; -1 where the curve does not reach it. */
    const nearest = (curve, step) => {
      const last = curve.steps.length - 1;
      const slack = (curve.steps[last] - curve.steps[0]) / Math.max(1, last);
      if (step < curve.steps[0] - slack || step > curve.steps[last] + slack) return -1;
      let best = 0;
      curve.steps.forEach((each, index) => {
        if (Math.abs(each - step) < Math.abs(curve.steps[best] - step)) best = index;
      });
      return best;
    };

    const chooseProblem = () => {
      fill(form.elements.quantity, problem().quantities.map((each) => each.title));
      chooseQuantity();
    };

    const chooseQuantity = () => {
      const index = Number(form.elements.quantity.value);
      shown = problem().methods.map((method) => ({ method, curve: method.curves[index] }));
      if (logarithmic === null) form.elements.log.checked = quantity().log;
      listMethods();
      draw();
    };

    const listMethods = () => {
      list.replaceChildren(...shown.map((each) => {
        const item = document.createElement("li");
        const label = item.appendChild(document.createElement("label"));
        const box = label.appendChild(document.createElement("input"));
        box.type = "checkbox";
        box.checked = !hidden.has(each.method.title);
        box.addEventListener("change", () => {
          if (box.checked) hidden.delete(each.method.title); else hidden.add(each.method.title);
          draw();
        });
        const swatch = drawn(label, "svg", { width: 28, height: 12, "aria-hidden": "true" });
        drawn(swatch, "line", { x1: 1, x2: 27, y1: 6, y2: 6, ...lineOf(each.method) });
        const name = label.appendChild(document.createElement("span"));
        name.textContent = name.title = each.method.title;
        each.output = label.appendChild(document.createElement("output"));
        return item;
      }));
    };

    // Black, of the plain colours the only one that a dark page swallows, is the colour of the text.
    const colorOf = (method) => (method.color === "#000000" ? "currentColor" : method.color);
    const lineOf = (method) => ({
      stroke: colorOf(method), "stroke-width": method.width, "stroke-dasharray": method.dash,
    });

    const extent = () => {
      const values = visible().flatMap(({ curve }) => [...curve.median, ...(curve.low ?? []), ...(curve.high ?? [])]);
      const usable = isLogarithmic() ? values.filter((value) => value > 0) : values;
      if (!usable.length) return null;
      const low = Math.min(...usable), high = Math.max(...usable);
      if (isLogarithmic()) return low < high ? [low / 1.1, high * 1.1] : [low / 2, high * 2];
      const room = (high - low || Math.abs(high) || 1) * 0.05;
      return [low >= 0 && low < high / 2 ? 0 : low - room, high + room];
    };

    let reach = null; // what is drawn where

    const draw = () => {
      const { width, height } = plot.getBoundingClientRect();
      plot.replaceChildren();
      const svg = drawn(plot, "svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
      const right = width - MARGIN.right, bottom = height - MARGIN.bottom;
      const [first, last] = steps();
      const x = scale(0, last, MARGIN.left, right, false);
      reach = { svg, x, first, last, right, bottom };
      const range = extent();
      if (range === null) {
        const words = visible().length ? "Nothing here is above 0." : "No method is chosen that has this quantity.";
        drawn(svg, "text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, words);
      } else {
        const y = scale(...range, bottom, MARGIN.top, isLogarithmic());
        axes(svg, x, y, range);
        for (const each of visible()) curveOf(svg, each, x, y);
        reach.y = y;
      }
      read();
      note();
    };

    const axes = (svg, x, y, range) => {
      const { last, right, bottom } = reach;
      const ticks = isLogarithmic() ? logarithmicTicks : linearTicks;
      for (const tick of ticks(...range, (bottom - MARGIN.top) / DOWN)) {
        drawn(svg, "line", { class: "grid", x1: MARGIN.left, x2: right, y1: y(tick), y2: y(tick) });
        drawn(svg, "text", { x: MARGIN.left - 8, y: y(tick) + 4, "text-anchor": "end" }, inWords(tick));
      }
      for (const tick of linearTicks(0, last, (right - MARGIN.left) / ACROSS)) {
        drawn(svg, "line", { class: "grid", x1: x(tick), x2: x(tick), y1: MARGIN.top, y2: bottom });
        const anchor = x(tick) > right - 20 ? "end" : "middle";
        drawn(svg, "text", { x: x(tick), y: bottom + 17, "text-anchor": anchor }, grouped(tick));
      }
      drawn(svg, "line", { class: "axis", x1: MARGIN.left, x2: right, y1: bottom, y2: bottom });
      drawn(svg, "text", { x: (MARGIN.left + right) / 2, y: bottom + 34, "text-anchor": "middle" }, "step");
    };

    const curveOf = (svg, { method, curve }, x, y) => {
      const usable = (value) => !isLogarithmic() || value > 0;
      const color = colorOf(method);
      if (curve.low && curve.low.every(usable)) {
        const upper = curve.steps.map((step, k) => `${x(step)},${y(curve.high[k])}`);
        const lower = curve.steps.map((step, k) => `${x(step)},${y(curve.low[k])}`).reverse();
        drawn(svg, "polygon", { class: "band", points: [...upper, ...lower].join(" "), fill: color });
      }
      let path = "", pen = "M";
      curve.median.forEach((value, k) => {
        if (!usable(value)) { pen = "M"; return; } // where there is no place for it, the curve breaks off
        path += `${pen}${x(curve.steps[k]).toFixed(1)},${y(value).toFixed(1)}`;
        pen = "L";
      });
      drawn(svg, "path", { class: "curve", d: path, ...lineOf(method) });
    };

    /** The values at the cursor. */
    const read = () => {
      const { svg, x, y, first, last, bottom } = reach;
      const step = first + share * (last - first);
      svg.querySelectorAll(".reading").forEach((each) => each.remove());
      const reading = drawn(svg, "g", { class: "reading" });
      drawn(reading, "line", { class: "cursor", x1: x(step), x2: x(step), y1: MARGIN.top, y2: bottom });
      const words = [];
      for (const { method, curve, output } of shown) {
        output.value = "";
        if (!curve) { output.value = "not recorded"; continue; }
        const index = hidden.has(method.title) ? -1 : nearest(curve, step);
        if (index < 0) continue;
        const value = curve.median[index];
        output.value = inWords(value);
        words.push(`${method.title} ${inWords(value)}`);
        if (y && (!isLogarithmic() || value > 0)) {
          drawn(reading, "circle", { cx: x(curve.steps[index]), cy: y(value), r: 4, fill: colorOf(method) });
        }
      }
      document.getElementById("position").textContent = `At step ${grouped(step)}`;
      plot.setAttribute("aria-valuemin", first);
      plot.setAttribute("aria-valuemax", last);
      plot.setAttribute("aria-valuenow", Math.round(step));
      plot.setAttribute("aria-valuetext", `step ${grouped(step)}: ${words.join(", ") || "nothing"}`);
    };

    const note = () => {
      const missing = isLogarithmic() && visible().some(({ curve }) => curve.median.some((value) => value <= 0));
      document.getElementById("note").textContent =
        missing ? "Values at or below 0 have no place on a logarithmic axis: a curve breaks off there." : "";
    };

    const move = (to) => { share = Math.min(1, Math.max(0, to)); read(); };
    const follow = (event) => {
      const { first, last, right } = reach;
      const along = event.clientX - plot.getBoundingClientRect().left - MARGIN.left;
      move(((along / (right - MARGIN.left)) * last - first) / (last - first || 1));
    };
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerdown", follow);
    plot.addEventListener("keydown", (event) => {
      const count = Math.max(1, ...visible().map(({ curve }) => curve.steps.length - 1));
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: JUMP, PageDown: -JUMP }[event.key];
      const to = event.key === "Home" ? 0 : event.key === "End" ? 1 : by === undefined ? null : share + by / count;
      if (to === null) return;
      event.preventDefault();
      move(to);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.elements.problem.addEventListener("change", chooseProblem);
    form.elements.quantity.addEventListener("change", chooseQuantity);
    form.elements.log.addEventListener("change", () => { logarithmic = isLogarithmic(); draw(); });
    for (const [name, off] of [["all", false], ["none", true]]) {
      place.querySelector(`button[name=${name}]`).addEventListener("click", () => {
        for (const { method } of shown) if (off) hidden.add(method.title); else hidden.delete(method.title);
        listMethods();
        draw();
      });
    }
    new ResizeObserver(draw).observe(plot);
    fill(form.elements.problem, problems.map((each) => each.title));
    chooseProblem();
  };

  const copying = () => {
    for (const button of document.querySelectorAll(".copy")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const code = button.previousElementSibling;
        getSelection().selectAllChildren(code); // there to be copied by hand, where a browser forbids it to pages
        try {
          await navigator.clipboard.writeText(code.textContent);
          button.textContent = "Copied";
        } catch {
          button.textContent = "Selected";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
    }
  };

  /** A link into something that is folded up unfolds it. */
  const unfolding = () => {
    const unfold = () => {
      const target = location.hash && document.getElementById(location.hash.slice(1));
      if (target instanceof HTMLDetailsElement) target.open = true;
    };
    for (const link of document.querySelectorAll(".made a")) {
      link.addEventListener("click", () => link.closest(".made").hidePopover());
    }
    addEventListener("hashchange", unfold);
    unfold();
    let folded = [];
    addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details:not([open])")];
      for (const each of folded) each.open = true;
    });
    addEventListener("afterprint", () => { for (const each of folded) each.open = false; });
  };

  chart();
  copying();
  unfolding();
})();
