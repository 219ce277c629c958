// Controls of a pane: each is bound to a key of the state, has a label in words, its symbol beside.
//
// ``field`` is the field of the setting that a control is about: the last part of its key, unless
// it is told. A problem with that field is shown below it. ``term`` is a word of the glossary that a
// button beside the label explains.

import * as state from "../state.js";
import { el, number, spoken } from "./dom.js";
import { question } from "./terms.js";

let count = 0;
const fresh = (key) => `${key.replace(/\W/g, "-")}-${(count += 1)}`;

function labelled(id, key, { words, symbol, help, field, term }, ...control) {
  const mark = symbol ? el("span", { class: "symbol" }, symbol) : null;
  const hint = help ? el("small", { id: `${id}-help` }, help) : null;
  return el(
    "div",
    { class: "control", "data-field": field ?? key.split(".").at(-1) },
    el("div", { class: "named" }, el("label", { for: id }, words, " ", mark), explained(term, words)),
    control,
    hint,
    el("p", { class: "problem", role: "alert", id: `${id}-problem`, hidden: true }),
  );
}

const explained = (term, words) => (term ? question(term, words) : null);

const described = (id, help) => `${help ? `${id}-help ` : ""}${id}-problem`;

/** Keep a control and its key the same, whichever of them changes. */
function bind(key, show) {
  state.listen((changed) => changed.has(key) && show(state.get(key)));
  show(state.get(key));
}

/**
 * Show a problem below the control it is about, with null below none; whether there was one that
 * can be seen.
 */
export function mark(root, problem) {
  let found = false;
  for (const control of root.querySelectorAll(".control[data-field]")) {
    const mine = problem !== null && control.dataset.field === problem.field && !control.hidden;
    const sentence = control.querySelector(".problem");
    sentence.hidden = !mine;
    sentence.textContent = mine ? problem.message : "";
    for (const input of control.querySelectorAll("input, select"))
      input.setAttribute("aria-invalid", mine);
    found ||= mine;
  }
  return found;
}

/** A menu. ``options`` are values, or [value, words]. */
export function choice(key, given) {
  const id = fresh(key);
  const menu = el(
    "select",
    {
      id,
      "aria-describedby": described(id, given.help),
      onchange: () => state.set({ [key]: menu.value }),
    },
    given.options.map((option) => {
      const [value, text] = Array.isArray(option) ? option : [option, option];
      return el("option", { value }, text);
    }),
  );
  bind(key, (value) => {
    menu.value = value;
  });
  return labelled(id, key, given, menu);
}

/** A line of text; the state changes when it is left or with the return key, or ``live`` as one types. */
export function text(key, given) {
  const id = fresh(key);
  const line = el("input", {
    id,
    type: "text",
    inputmode: given.mode ?? "text",
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": described(id, given.help),
    oninput: () => given.live && state.set({ [key]: line.value }),
    onchange: () => state.set({ [key]: line.value.trim() || state.initial(key) }),
  });
  bind(key, (value) => {
    if (line.value !== value) line.value = value;
  });
  return labelled(id, key, given, line);
}

const STEPS = 1000;

/** Places on a slider and the values there: evenly spaced, or in their logarithm. */
function scale({ from, to, log, whole, multiple = 1 }) {
  const round = (value) => {
    if (!whole) return Number(value.toPrecision(3));
    return value < 100 ? multiple * Math.round(value / multiple) : Number(value.toPrecision(2));
  };
  return {
    place: (value) =>
      STEPS * (log ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from)),
    value: (at) =>
      round(log ? from * (to / from) ** (at / STEPS) : from + ((to - from) * at) / STEPS),
  };
}

/**
 * A slider with the number beside it, which can be typed too, beyond its ends as well. ``log`` spaces
 * values evenly in their logarithm, ``whole`` rounds them to multiples of ``multiple``. The state
 * changes while it is dragged, and its address when it is released.
 */
export function slider(key, given) {
  const id = fresh(key);
  const { from, to, whole = false } = given;
  const { place, value } = scale(given);
  let dragging = false;
  const released = () => {
    if (!dragging) return;
    dragging = false;
    state.set({ [key]: value(Number(range.value)) });
  };
  const range = el("input", {
    type: "range",
    id,
    min: 0,
    max: STEPS,
    step: 1,
    "aria-describedby": described(id, given.help),
    oninput: () => {
      // A drag that ends where it began is no change, but it ends.
      if (!dragging) window.addEventListener("pointerup", released, { once: true });
      dragging = true;
      state.drag({ [key]: value(Number(range.value)) });
    },
    onchange: released,
    onkeydown: (event) => {
      const direction = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!direction) return;
      // A key moves to the next value, not to the next place.
      event.preventDefault();
      const now = Number(state.get(key)) || from;
      let at = place(Math.min(Math.max(now, from), to));
      let next = now;
      while (next === now && at >= 0 && at <= STEPS) {
        at += direction * (whole ? 2 : 10);
        next = value(Math.min(Math.max(at, 0), STEPS));
      }
      state.set({ [key]: next });
    },
  });
  const typed = el("input", {
    type: "text",
    inputmode: "decimal",
    class: "number",
    "aria-label": `${given.words}${given.symbol ? `, ${spoken(given.symbol)}` : ""}: type a value`,
    onchange: () =>
      state.set({ [key]: typed.value.replaceAll(",", "").trim() || state.initial(key) }),
  });
  const say = (found) => {
    const plain =
      Math.abs(found) >= 1e7
        ? Number(found.toPrecision(4)).toExponential().replace("e+", "e")
        : found.toLocaleString("en");
    typed.value = plain;
    range.setAttribute("aria-valuetext", number(found));
  };
  bind(key, (held) => {
    const found = Number(held);
    if (Number.isFinite(found)) {
      // The handle stays below the pointer, between the values that are possible.
      if (!dragging) range.value = Math.min(Math.max(place(found), 0), STEPS);
      say(found);
    } else typed.value = held;
  });
  return labelled(id, key, given, el("div", { class: "slider" }, range, typed));
}
