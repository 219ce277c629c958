// What can be learned, before any run: type a target, see its staircase.

import * as api from "../api.js";
import * as state from "../state.js";
import { bars } from "../parts/bars.js";
import { debounced, el, number, replace, subscripts } from "../parts/dom.js";
import { notes } from "../parts/notes.js";
import { stairs } from "../parts/stairs.js";

// After the last keystroke: short enough to feel immediate, long enough to skip half-typed words.
const PAUSE = 60;

const parts = {};
let found = null;
let page = null;

function expression(key, words, symbol, help, menu) {
  const id = `${key}-text`;
  const line = el("input", {
    id,
    type: "text",
    class: "expression",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    "aria-describedby": `${id}-problem ${id}-help`,
    oninput: () => state.set({ [key]: line.value }),
  });
  const echo = el("code", { class: "echo", "aria-hidden": "true", hidden: true });
  const problem = el("p", { id: `${id}-problem`, class: "problem", role: "alert", hidden: true });
  parts[key] = { line, echo, problem, menu };
  return el(
    "div",
    { class: "control" },
    el("label", { for: id }, words, " ", el("span", { class: "symbol" }, symbol)),
    el("div", { class: "with-menu" }, line, menu),
    echo,
    problem,
    el("small", { id: `${id}-help` }, help),
  );
}

function picker(key, words, options) {
  const menu = el(
    "select",
    {
      "aria-label": words,
      onchange: () => {
        if (menu.value) state.set({ [key]: menu.value });
      },
    },
    el("option", { value: "" }, words),
    options.map(([value, text]) => el("option", { value }, text)),
  );
  return menu;
}

/** Show which character a sentence is about. */
function mark(key, problem) {
  const { line, echo, problem: place } = parts[key];
  const mine = problem && (problem.field === key || (problem.field === null && key === "target"));
  line.setAttribute("aria-invalid", Boolean(mine));
  place.hidden = !mine;
  place.textContent = mine ? problem.message : "";
  echo.hidden = !(mine && problem.position);
  if (echo.hidden) return;
  const at = problem.position - 1;
  const typed = line.value;
  replace(echo, typed.slice(0, at), el("mark", {}, typed[at] ?? " "), typed.slice(at + 1));
}

function figures(analysis) {
  const shown = [
    ["Leap index", "ℓ", analysis.leap_index, "smallest degree with a Hermite tensor: n ~ dˡ samples let one step see it"],
    ["Leaps", "", analysis.leaps.join(" → ") || "–", "n ~ dᵏ that each stage needs, until all directions are learned"],
    ["Generative exponent", "k*", analysis.generative_exponent, "the same after the best transform of the label: what reused batches can use"],
    ["Directions", "r", analysis.directions.length, "that the target depends on at most"],
    ["Variance", "Var f", number(analysis.variance, 4), "the error of a constant guess"],
  ];
  return shown.map(([words, symbol, value, help]) =>
    el(
      "div",
      { class: "figure" },
      el("dt", {}, words, " ", el("span", { class: "symbol" }, symbol)),
      el("dd", {}, value ?? "none", el("small", {}, help)),
    ),
  );
}

function floors(analysis) {
  const head = ["After step", "few neurons", "n, p ~ d", "n, p ~ d²", "n, p ~ d³"];
  const rows = analysis.floors.map((floor) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, floor.step === 0 ? "0 (start)" : floor.step),
      floor.by_degree.map((value) => el("td", {}, number(value, 4))),
    ),
  );
  return el(
    "table",
    {},
    el("caption", {}, "Floors: the mean squared error that no readout beats, fresh batches"),
    el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, rows),
  );
}

function blindness(analysis) {
  const told = [];
  for (const [kind, drawn] of Object.entries(analysis.stairs)) {
    for (const step of drawn.steps) {
      for (const { directions, coefficient } of step.blocked) {
        told.push(
          `With ${kind} batches step ${step.step} adds ${directions.join(", ")}, but ${analysis.activation} cannot use it: its coefficient of degree ${coefficient} is zero.`,
        );
      }
    }
  }
  return told;
}

function draw() {
  if (found === null) return;
  replace(parts.figures, figures(found));
  for (const kind of ["fresh", "reused"]) {
    const node = parts[kind];
    const width = Math.max(200, Math.floor(node.clientWidth));
    const title = `Staircase with ${kind} batches`;
    replace(node, stairs(found.stairs[kind], title, width));
  }
  const width = Math.max(200, Math.floor(parts.bars.clientWidth));
  replace(parts.bars, bars(found.coefficients.degrees, found.activation, width));
  replace(parts.floors, floors(found));
  notes(parts.notes, "Notes", [...found.undecided, ...blindness(found), ...found.notes].map(subscripts));
}

async function analyse() {
  const begun = performance.now();
  const asked = { target: state.get("target"), activation: state.get("activation") };
  parts.root.setAttribute("aria-busy", "true");
  try {
    found = await api.call("analyze", asked);
    mark("target", null);
    mark("activation", null);
    parts.answer.classList.remove("stale");
    draw();
    page.say(`Analysed in ${Math.round(performance.now() - begun)} ms.`);
  } catch (problem) {
    mark("target", problem);
    mark("activation", problem);
    parts.answer.classList.add("stale");
  }
  parts.root.setAttribute("aria-busy", "false");
}

const soon = debounced(PAUSE, analyse);

function showLines() {
  for (const key of ["target", "activation"]) {
    const { line, menu } = parts[key];
    if (line.value !== state.get(key)) line.value = state.get(key);
    menu.value = [...menu.options].some((option) => option.value === line.value) ? line.value : "";
  }
}

export default {
  id: "target",
  title: "Target",

  mount(root, given) {
    page = given;
    const { catalog, activations } = page.vocabulary;
    parts.root = root;
    parts.figures = el("dl", { class: "figures" });
    parts.bars = el("div", { class: "drawing" });
    parts.floors = el("div", { class: "scroll" });
    parts.notes = el("div");
    for (const kind of ["fresh", "reused"]) parts[kind] = el("div", { class: "drawing" });
    const targets = picker("target", "Targets of the papers", catalog.map((entry) => [entry.expression, `${entry.name}: ${entry.remark}`]));
    const neurons = picker("activation", "Activations", activations.map((name) => [name, name]));
    const asked = el(
      "div",
      { class: "card asked" },
      el("h2", {}, "Target and neuron"),
      expression("target", "Target", "f(x)", "a function of the directions x1, x2, …: + - * / ^, He2(x1), tanh(x1 + x2), …", targets),
      expression("activation", "Activation", "σ(z)", "a name, or an expression in z such as He1 + He2/2", neurons),
      el("h3", {}, "Hermite coefficients ", el("span", { class: "symbol" }, "cₖ = E[σ(z) Heₖ(z)]/k!")),
      parts.bars,
      el("small", {}, "Degree k below its bar. A gradient step follows directions of degree k only through cₖ ≠ 0."),
    );
    parts.answer = el(
      "div",
      { class: "answer" },
      el("div", { class: "card" }, el("h2", {}, "What can be learned"), parts.figures),
      el(
        "div",
        { class: "card" },
        el("h2", {}, "Staircase ", el("span", { class: "symbol" }, "n ~ d samples a step")),
        el(
          "div",
          { class: "pair" },
          el("figure", {}, el("figcaption", {}, "Fresh batches"), parts.fresh),
          el("figure", {}, el("figcaption", {}, "Reused batches"), parts.reused),
        ),
      ),
      el("div", { class: "card" }, el("h2", {}, "Floors"), parts.floors, parts.notes),
    );
    replace(root, asked, parts.answer);
    new ResizeObserver(debounced(50, draw)).observe(root);
    showLines();
    analyse();
  },

  update(changed) {
    showLines();
    if (changed.has("target") || changed.has("activation")) soon();
  },
};
