// Every text of the page is set as it appears: formulas as mathematics, technical words explained.
//
// Formulas stand between dollar signs as LaTeX, or are typed with plain characters. Of each technical
// word the first that can be seen in a pane becomes a button with its definition.

import { latexOf, TYPED } from "./ascii.js";
import { onceAFrame } from "./dom.js";
import { formula } from "./maths.js";
import { marked, term } from "./terms.js";

const FORMULAS = new RegExp(`\\$([^$\\n]+)\\$|${TYPED.source}`, "g");
// What is typed or drawn stays as it is; what is pressed or labels a control holds no button.
const VERBATIM = "code, input, select, textarea, script, style, svg, math, .plot, .verbatim";
const PRESSED = `${VERBATIM}, button, label, summary, a, [role=tablist], [role=tooltip]`;
const UNSEEN = "[hidden], details:not([open]) > :not(summary)";

/** The nodes of text below a node, without those inside elements that a selector names. */
function texts(root, without) {
  if (root.nodeType === Node.TEXT_NODE) return root.parentElement?.closest(without) ? [] : [root];
  if (root.nodeType !== Node.ELEMENT_NODE || root.closest(without)) return [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => {
    if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
    return node.matches(without) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
  });
  const found = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  return found;
}

// No line ends between a formula and the brackets and full stops that touch it.
const JOINER = "\u2060";
const opening = (text) => text.replace(/[(\[“]$/, `$&${JOINER}`);
const closing = (text) => text.replace(/^[.,;:!?)\]”]/, `${JOINER}$&`);

/** Put the formulas of a text as mathematics in its place. */
function setFormulas(text) {
  const parts = [];
  let last = 0;
  for (const match of text.data.matchAll(FORMULAS)) {
    const before = text.data.slice(last, match.index);
    parts.push(opening(last ? closing(before) : before), formula(match[1] ?? latexOf(match[0])));
    last = match.index + match[0].length;
  }
  if (last) text.replaceWith(...parts, closing(text.data.slice(last)));
}

/** Explain the words of a pane that are not explained where they are first seen. */
function setTerms(pane) {
  const { words, names } = marked();
  if (!words) return;
  const known = new Set(
    [...pane.querySelectorAll(".term[data-term]:not(.mark)")]
      .filter((button) => !button.closest(UNSEEN))
      .map((button) => button.dataset.term),
  );
  for (const text of texts(pane, `${PRESSED}, ${UNSEEN}`)) {
    let rest = text;
    let at = 0; // where the rest begins in the whole text
    for (const match of [...text.data.matchAll(words)]) {
      const name = names.get(match[0].toLowerCase());
      if (known.has(name)) continue;
      known.add(name);
      const word = rest.splitText(match.index - at);
      rest = word.splitText(match[0].length);
      at = match.index + match[0].length;
      word.replaceWith(term(name, match[0]));
    }
  }
}

const panes = () => document.querySelectorAll(".pane:not([hidden]), #tour:not([hidden])");
const soon = onceAFrame(() => panes().forEach(setTerms));

/** Set all texts of the page, those that are there and those that will come. */
export function typeset() {
  const set = (root) => texts(root, VERBATIM).forEach(setFormulas);
  new MutationObserver((records) => {
    for (const record of records) {
      if (record.target.nodeType === Node.ELEMENT_NODE && record.target.closest(VERBATIM)) continue;
      if (record.type === "characterData") set(record.target);
      for (const node of record.addedNodes) if (node.isConnected) set(node);
    }
    soon();
  }).observe(document.body, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ["hidden", "open"],
  });
  set(document.body);
  soon();
}
