// Sentences in place: what went wrong, what theory does not cover.

import { el, replace } from "./dom.js";

/**
 * A place for one sentence about what went wrong; an empty text clears it. Where ``onward`` is given
 * a button beside it goes on all the same.
 */
export function complaint() {
  const node = el("p", { class: "problem", role: "alert", hidden: true });
  return {
    node,
    say(text, onward = null) {
      const button = onward && el("button", { type: "button", onclick: onward }, "Go on");
      replace(node, text ?? "", button && " ", button);
      node.classList.toggle("slow", button !== null);
      node.hidden = !text;
    },
  };
}

/** A list of notes, folded where there are many. */
export function notes(node, heading, texts) {
  if (texts.length === 0) {
    replace(node);
    return;
  }
  const list = el(
    "ul",
    {},
    texts.map((text) => el("li", {}, text)),
  );
  replace(
    node,
    el("details", { class: "notes", open: texts.length < 4 }, el("summary", {}, heading), list),
  );
}

/** What the comparison of theory and runs says, or in its place that there is none yet. */
export function judge(node, found) {
  node.hidden = false;
  const none =
    "Press Run to add simulations to the plots. How well theory and simulations agree is then said here.";
  replace(
    node,
    el("strong", {}, found?.verdict ?? none),
    found?.sure ? el("details", {}, el("summary", {}, "How sure?"), found.sure) : null,
  );
  node.classList.toggle("empty", found === null);
  node.classList.toggle("agrees", found?.agrees === true);
  node.classList.toggle("differs", found?.agrees === false);
}
