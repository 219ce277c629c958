// Words of the glossary that explain themselves: a button each, its definition beside it.
//
// The definition appears while the pointer or the focus is on the button, and goes with Escape.

import { el, replace } from "./dom.js";

// Milliseconds in which the pointer may go from a word to a link of its definition.
const REACH = 250;

let definitions = {};
let known = { words: null, names: new Map() };
let shown = null;
let leaving = 0;
const tip = el("div", {
  id: "definition",
  class: "definition",
  role: "tooltip",
  hidden: true,
  onpointerenter: () => window.clearTimeout(leaving),
  onpointerleave: () => hide(),
});

/** Take the definitions of the server by name, and the words that stand for each of them. */
export function define(given, words) {
  definitions = given;
  const names = new Map(
    Object.entries(words).flatMap(([name, forms]) => forms.map((form) => [form.toLowerCase(), name])),
  );
  // The longest first: "standard errors" before "standard error".
  const forms = [...names.keys()].sort((a, b) => b.length - a.length);
  known = { words: new RegExp(`(?<![\\w-])(?:${forms.join("|")})(?![\\w-])`, "gi"), names };
  document.body.append(tip);
}

/** {words, names}: what finds technical words in a text, and the term that each stands for. */
export const marked = () => known;

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
  const { text, formula, papers, plot, command } = definitions[name];
  const links = papers.map((paper) =>
    el("a", { href: paper.address, target: "_blank", rel: "noopener noreferrer" }, paper.name),
  );
  replace(
    tip,
    el("p", {}, coded(text)),
    formula ? el("p", { class: "formula" }, formula) : null,
    links.length ? el("p", { class: "row" }, "Read more: ", links) : null,
    el("p", { class: "quiet" }, "More in a terminal: ", el("code", {}, command)),
  );
  tip.hidden = false;
  button.setAttribute("aria-describedby", tip.id);
  place(button);
  linked(plot)?.classList.add("linked");
}

/** A text as nodes: what is between backticks is typed by a user. */
const coded = (text) =>
  text.split(/\x60([^\x60]+)\x60/).map((part, at) => (at % 2 ? el("code", {}, part) : part));

/** The figure of the pane that shows what a term speaks of. */
const linked = (plot) =>
  plot && document.querySelector(`.pane:not([hidden]) figure[data-plot="${plot}"]`);

function hide() {
  window.clearTimeout(leaving);
  document.querySelector("figure.linked")?.classList.remove("linked");
  shown?.removeAttribute("aria-describedby");
  shown = null;
  tip.hidden = true;
}

/** Hide it soon, unless the pointer goes to a link of it. */
function leave() {
  window.clearTimeout(leaving);
  leaving = window.setTimeout(hide, REACH);
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
      "data-term": name,
      onpointerenter: () => show(button, name),
      onpointerleave: leave,
      onfocus: () => show(button, name),
      onblur: leave,
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
