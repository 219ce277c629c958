// Controls of a pane: each is bound to a key of the state, has a label in words, its symbol beside.

import * as state from "../state.js";
import { el, number } from "./dom.js";

let count = 0;
const fresh = (key) => `${key.replace(/\W/g, "-")}-${(count += 1)}`;

function labelled(id, words, symbol, help, ...control) {
  const mark = symbol ? el("span", { class: "symbol" }, symbol) : null;
  const hint = help ? el("small", { id: `${id}-help` }, help) : null;
  return el("div", { class: "control" }, el("label", { for: id }, words, " ", mark), control, hint);
}

/** Keep a control and its key the same, whichever of them changes. */
function bind(key, show) {
  state.listen((changed) => changed.has(key) && show(state.get(key)));
  show(state.get(key));
}

/** A menu. ``options`` are values, or [value, words]. */
export function choice(key, { words, symbol, help, options }) {
  const id = fresh(key);
  const menu = el(
    "select",
    { id, "aria-describedby": help ? `${id}-help` : null, onchange: () => state.set({ [key]: menu.value }) },
    options.map((option) => {
      const [value, text] = Array.isArray(option) ? option : [option, option];
      return el("option", { value }, text);
    }),
  );
  bind(key, (value) => {
    menu.value = value;
  });
  return labelled(id, words, symbol, help, menu);
}

/** A line of text; the state changes when it is left, or with the return key. */
export function text(key, { words, symbol, help, mode = "text" }) {
  const id = fresh(key);
  const line = el("input", {
    id,
    type: "text",
    inputmode: mode,
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": help ? `${id}-help` : null,
    onchange: () => state.set({ [key]: line.value.trim() || state.initial(key) }),
  });
  bind(key, (value) => {
    line.value = value;
  });
  return labelled(id, words, symbol, help, line);
}

/**
 * A slider with the number beside it, which can be typed too. ``log`` spaces values evenly in their
 * logarithm, ``whole`` rounds them. The state changes when the slider is released.
 */
export function slider(key, { words, symbol, help, from, to, log = false, whole = false, format }) {
  const id = fresh(key);
  const steps = 1000;
  const place = (value) =>
    steps * (log ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from));
  const value = (at) => {
    const share = at / steps;
    const found = log ? from * (to / from) ** share : from + (to - from) * share;
    if (!whole) return Number(found.toPrecision(3));
    return found < 100 ? Math.round(found) : Number(found.toPrecision(2));
  };
  const shown = format ?? ((found) => number(found, 3));
  const range = el("input", {
    type: "range",
    id,
    min: 0,
    max: steps,
    step: 1,
    oninput: () => say(value(Number(range.value))),
    onchange: () => state.set({ [key]: value(Number(range.value)) }),
    onkeydown: (event) => {
      // A key moves by a visible amount: one whole number at least.
      const direction = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!direction) return;
      event.preventDefault();
      const now = Number(state.get(key)) || from;
      let at = place(Math.min(Math.max(now, from), to));
      let next = now;
      while (next === now && at >= 0 && at <= steps) {
        at += direction * (whole ? 2 : 10);
        next = value(Math.min(Math.max(at, 0), steps));
      }
      state.set({ [key]: next });
    },
  });
  const typed = el("input", {
    type: "text",
    inputmode: "decimal",
    class: "number",
    "aria-label": `${words}${symbol ? `, ${symbol}` : ""}: type a value`,
    onchange: () => state.set({ [key]: typed.value.replaceAll(",", "").trim() || state.initial(key) }),
  });
  const say = (found) => {
    typed.value = shown(found);
    range.setAttribute("aria-valuetext", shown(found));
  };
  bind(key, (held) => {
    const found = Number(held);
    if (Number.isFinite(found)) {
      range.value = Math.min(Math.max(place(found), 0), steps);
      say(found);
    } else typed.value = held;
  });
  return labelled(id, words, symbol, help, el("div", { class: "slider" }, range, typed));
}
