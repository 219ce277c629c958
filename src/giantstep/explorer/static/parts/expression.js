// A line for an expression, with a menu of known ones; a mistake is marked where it stands.

import * as state from "../state.js";
import { el, readable, replace } from "./dom.js";

let count = 0;
const code = (text) => el("code", {}, text);

/**
 * {node, show(), mark(problem), write(formula)} for a key of the state; what is typed can be shown as
 * a formula below it. ``menu`` are pairs [value, words] under the
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
  const sentence = el("p", { id: `${id}-problem`, class: "problem verbatim", role: "alert", hidden: true });
  const written = el("p", { class: "written" });
  const known = new Set(menu.map(([value]) => value));
  let of = null; // what the formula was written for

  /** Show the value of the state, unless it is what is being typed. */
  function show() {
    const value = state.get(key);
    if (line.value !== value) line.value = value;
    picked.value = known.has(value) ? value : "";
    written.classList.toggle("old", of !== null && of !== value);
  }

  /** Show which character a problem is about, or with null that there is none. */
  function mark(problem) {
    written.hidden = problem !== null; // it shows what was typed before
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
    written,
    echo,
    sentence,
    help ? el("small", { id: `${id}-help` }, help) : null,
  );
  function write(formula) {
    of = state.get(key);
    replace(written, formula ?? "");
    written.classList.remove("old");
  }

  return { node, show, mark, write };
}

/**
 * The lines for target and activation: {nodes, printed, show(), mark(problem), write(formulas)}. Panes share
 * them, unless one has its own under a ``prefix`` of the keys. ``printed`` holds both formulas on paper, where
 * there are no controls.
 */
export function targetAndActivation({ catalog, activations }, prefix = "") {
  const lines = {
    target: expression(`${prefix}target`, {
      words: "Target",
      symbol: "f(x)",
      help: ["Write a formula of ", code("x1, x2, …"), ", such as ", code("x1*x2 + He3(x1)"), "."],
      heading: "Targets of the papers",
      menu: catalog.map((entry) => [entry.expression, readable(`${entry.name}: ${entry.remark}`)]),
    }),
    activation: expression(`${prefix}activation`, {
      words: "Activation",
      symbol: "σ(z)",
      help: ["Choose a name, or write a formula of ", code("z"), " such as ", code("He1 + He2/2"), "."],
      heading: "Activations",
      menu: activations.map((name) => [name, name]),
    }),
  };
  const printed = el("p", { class: "printed" });
  return {
    printed,
    nodes: Object.values(lines).map((line) => line.node),
    show: () => Object.values(lines).forEach((line) => line.show()),
    /** Show target and activation as the formulas {target, activation} of the server. */
    write(formulas) {
      for (const [key, line] of Object.entries(lines)) line.write(formulas?.[key]);
      const typed = Object.keys(lines).map((key) => formulas?.[key] ?? state.get(`${prefix}${key}`));
      replace(printed, `Target ${typed[0]}, activation ${typed[1]}`);
    },
    /** Mark the line that a problem is about; whether there was one. */
    mark(problem) {
      for (const [key, line] of Object.entries(lines))
        line.mark(problem?.field === key ? problem : null);
      return problem !== null && problem.field in lines;
    },
  };
}
