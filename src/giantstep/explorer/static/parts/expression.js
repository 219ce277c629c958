// A line for an expression, with a menu of known ones; a mistake is marked where it stands.

import * as state from "../state.js";
import { el, replace } from "./dom.js";

let count = 0;

/**
 * {node, show(), mark(problem)} for a key of the state. ``menu`` are pairs [value, words] under the
 * ``heading``; without any there is no menu. The state changes with every keystroke.
 */
export function expression(key, { words, symbol, help, heading, menu }) {
  const id = `${key.replace(".", "-")}-${(count += 1)}`;
  const line = el("input", {
    id,
    type: "text",
    class: "expression",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    "data-field": key.split(".").at(-1),
    "aria-describedby": `${id}-problem ${id}-help`,
    oninput: () => state.set({ [key]: line.value }),
  });
  const picked = el(
    "select",
    { "aria-label": heading, onchange: () => picked.value && state.set({ [key]: picked.value }) },
    el("option", { value: "" }, `${heading} …`),
    menu.map(([value, text]) => el("option", { value }, text)),
  );
  const echo = el("code", { class: "echo", "aria-hidden": "true", hidden: true });
  const sentence = el("p", { id: `${id}-problem`, class: "problem", role: "alert", hidden: true });
  const known = new Set(menu.map(([value]) => value));

  /** Show the value of the state, unless it is what is being typed. */
  function show() {
    const value = state.get(key);
    if (line.value !== value) line.value = value;
    picked.value = known.has(value) ? value : "";
  }

  /** Show which character a problem is about, or with null that there is none. */
  function mark(problem) {
    line.setAttribute("aria-invalid", problem !== null);
    sentence.hidden = problem === null;
    sentence.textContent = problem?.message ?? "";
    echo.hidden = !problem?.position;
    if (echo.hidden) return;
    const at = problem.position - 1;
    const typed = line.value;
    replace(echo, typed.slice(0, at), el("mark", {}, typed[at] ?? " "), typed.slice(at + 1));
  }

  show();
  const node = el(
    "div",
    { class: "control" },
    el("label", { for: id }, words, " ", el("span", { class: "symbol" }, symbol)),
    el("div", { class: "with-menu" }, line, menu.length ? picked : null),
    echo,
    sentence,
    help ? el("small", { id: `${id}-help` }, help) : null,
  );
  return { node, show, mark };
}

/**
 * The lines for target and activation: {nodes, show(), mark(problem)}. Panes share them, unless one has
 * its own under a ``prefix`` of the keys.
 */
export function targetAndActivation({ catalog, activations }, prefix = "") {
  const lines = {
    target: expression(`${prefix}target`, {
      words: "Target",
      symbol: "f(x)",
      help: "Write a formula of x1, x2, …, such as x1*x2 + He3(x1) or tanh(x1 + x2).",
      heading: "Targets of the papers",
      menu: catalog.map((entry) => [entry.expression, `${entry.name}: ${entry.remark}`]),
    }),
    activation: expression(`${prefix}activation`, {
      words: "Activation",
      symbol: "σ(z)",
      help: "Choose a name, or write a formula of z such as He1 + He2/2.",
      heading: "Activations",
      menu: activations.map((name) => [name, name]),
    }),
  };
  return {
    nodes: Object.values(lines).map((line) => line.node),
    show: () => Object.values(lines).forEach((line) => line.show()),
    /** Mark the line that a problem is about; whether there was one. */
    mark(problem) {
      for (const [key, line] of Object.entries(lines))
        line.mark(problem?.field === key ? problem : null);
      return problem !== null && problem.field in lines;
    },
  };
}
