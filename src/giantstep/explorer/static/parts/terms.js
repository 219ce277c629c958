// Words of the glossary that explain themselves: a button each, its definition beside it.
//
// The definition appears while the pointer or the focus is on the button, and goes with Escape.

import { el, readable } from "./dom.js";

let definitions = {};
let shown = null;
const tip = el("div", { id: "definition", class: "definition", role: "tooltip", hidden: true });

/** Take the definitions of the server, by name. */
export function define(given) {
  definitions = given;
  document.body.append(tip);
}

/** Put the definition below its button, or above where there is no room; always in the window. */
function place(button) {
  const gap = 6;
  const at = button.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const most = document.documentElement.clientWidth - width - gap;
  const below = at.bottom + gap + height < window.innerHeight;
  tip.style.left = `${Math.max(gap, Math.min(at.left, most))}px`;
  tip.style.top = `${Math.max(gap, below ? at.bottom + gap : at.top - height - gap)}px`;
}

function show(button, name) {
  hide();
  shown = button;
  tip.textContent = readable(definitions[name]);
  tip.hidden = false;
  button.setAttribute("aria-describedby", tip.id);
  place(button);
}

function hide() {
  shown?.removeAttribute("aria-describedby");
  shown = null;
  tip.hidden = true;
}

// First of all who hear the key: what else it does waits for the second time.
window.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || tip.hidden) return;
    event.stopPropagation();
    hide();
  },
  true,
);
window.addEventListener("scroll", () => shown && place(shown), { passive: true, capture: true });

/** A word with the definition of a term; the word alone where the glossary has none. */
export function term(name, words = name, attributes = {}) {
  if (!(name in definitions)) return words;
  const button = el(
    "button",
    {
      type: "button",
      class: "term",
      onpointerenter: () => show(button, name),
      onpointerleave: hide,
      onfocus: () => show(button, name),
      onblur: hide,
      onclick: () => show(button, name),
      ...attributes,
    },
    words,
  );
  return button;
}

/** A question mark beside a label that explains a term. */
export const question = (name, words) =>
  name in definitions
    ? term(name, "?", { class: "term mark", "aria-label": `What is meant: ${words}` })
    : null;

/** A text as nodes, with [words] and [words|name] as terms. */
export function defined(text) {
  return text.split(/(\[[^\]]+\])/).map((part) => {
    if (!part.startsWith("[")) return part;
    const [words, name = words] = part.slice(1, -1).split("|");
    return term(name, words);
  });
}
