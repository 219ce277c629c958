// What can be learned, before any run: type a target, see its staircase.

import * as api from "../api.js";
import * as state from "../state.js";
import { bars } from "../parts/bars.js";
import { debounced, el, number, replace } from "../parts/dom.js";
import { targetAndActivation } from "../parts/expression.js";
import { exports } from "../parts/exports.js";
import { complaint, notes } from "../parts/notes.js";
import { blockedSentences, stairs } from "../parts/stairs.js";
import { defined, term } from "../parts/terms.js";
import { waiting } from "../parts/waiting.js";

// Milliseconds after the last keystroke: a key that is held or a word that is pasted is one change.
const PAUSE = 20;

const parts = {};
let found = null;
let page = null;

function figures(analysis) {
  const exponent = analysis.generative_exponent;
  const samples = exponent === 1 ? "$d$" : `$d^${exponent}$`;
  const shown = [
    [
      term("leap index", "Leap index"),
      "$\\ell$",
      analysis.leap_index,
      "Lowest degree that the target has. One step needs about $d^\\ell$ samples to detect it.",
    ],
    [
      "Leaps",
      "",
      analysis.leaps.join(", then ") || "–",
      "The directions are learned in stages. For a leap of $\\ell$ a stage needs about $d^\\ell$ samples.",
    ],
    [
      term("generative exponent", "Generative exponent"),
      "$k^\\ast$",
      exponent,
      exponent === null
        ? "No transform of the label was found to help."
        : `About ${samples} samples suffice after the best transform of the label. Reused batches can use it.`,
    ],
    [
      "Directions",
      "$r$",
      analysis.directions.length,
      "The target depends on at most so many directions.",
    ],
    [
      term("variance", "Variance"),
      "$\\mathrm{Var} f$",
      number(analysis.variance, 4),
      "The mean squared error of the best constant guess.",
    ],
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
  const wide = ["d", "d^2", "d^3"].map((size) => `$n, p \\sim ${size}$`);
  const head = ["After step", "Readout of", "few neurons", ...wide];
  const any = "any activation";
  const row = (floor, whose, first) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, first ? (floor.step === 0 ? "0 (start)" : floor.step) : ""),
      el("td", {}, whose),
      floor.by_degree.map((value) => el("td", {}, number(value, 4))),
    );
  const rows = analysis.floors.flatMap((floor, step) => {
    const best = analysis.floors_any[step];
    const same = floor.by_degree.every((value, k) => value === best.by_degree[k]);
    return same
      ? [row(best, any, true)]
      : [row(floor, analysis.activation, true), row(best, any, false)];
  });
  return el(
    "table",
    {},
    el(
      "caption",
      {},
      defined(
        "Each number is a [floor]: a lower bound of the mean squared error as d grows, with fresh " +
          "batches. A row that names an activation holds for neurons without biases, and one of any " +
          "activation with biases too. At finite d errors can lie slightly below a floor. There p " +
          "neurons also fit a share p/d of the next degree. Floors of the pane Few neurons are " +
          "lower by this share.",
      ),
    ),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        head.map((text) => el("th", { scope: "col" }, text)),
      ),
    ),
    el("tbody", {}, rows),
  );
}

function draw() {
  parts.answer.hidden = found === null;
  parts.empty.hidden = found !== null;
  if (found === null) return;
  replace(parts.figures, figures(found));
  parts.lines.write(found.formulas);
  for (const kind of ["fresh", "reused"]) {
    const node = parts[kind];
    const width = Math.max(200, Math.floor(node.clientWidth));
    const title = `Staircase with ${kind} batches`;
    replace(node, stairs(found.stairs[kind], title, width));
    parts[`${kind}-reading`].textContent = blockedSentences(found.stairs[kind]).join(" ");
  }
  const width = Math.max(200, Math.floor(parts.bars.clientWidth));
  replace(parts.bars, bars(found.coefficients.degrees, found.activation, width));
  replace(parts.floors, floors(found));
  notes(
    parts.notes,
    "Notes",
    [...found.undecided, ...found.notes],
  );
}

const both = () => ({ target: state.get("target"), activation: state.get("activation") });

async function analyse(patient = false) {
  const begun = performance.now();
  parts.root.setAttribute("aria-busy", "true");
  parts.waiting.begin();
  try {
    found = await api.call("analyze", { ...both(), patient });
    parts.lines.mark(null);
    parts.problem.say("");
    parts.answer.classList.remove("stale");
    draw();
    page.say(`Analysed in ${Math.round(performance.now() - begun)} ms.`);
  } catch (problem) {
    const onward = problem.slow ? () => analyse(true) : null;
    parts.problem.say(parts.lines.mark(problem) ? "" : problem.message, onward);
    if (found !== null) parts.answer.classList.add("stale");
  }
  rest();
}

/** Nothing is under way any more. */
function rest() {
  parts.waiting.end();
  parts.root.setAttribute("aria-busy", "false");
}

function stop() {
  api.drop("analyze");
  rest();
  parts.answer.classList.add("stale");
  page.say("Stopped. The page still shows another target.");
}

const soon = debounced(PAUSE, () => analyse());

export default {
  id: "target",
  title: "Target",

  mount(root, given) {
    page = given;
    parts.root = root;
    parts.lines = targetAndActivation(page.vocabulary);
    parts.problem = complaint();
    parts.waiting = waiting("The target is being analysed", stop);
    parts.figures = el("dl", { class: "figures" });
    parts.bars = el("div", { class: "drawing" });
    parts.floors = el("div", { class: "scroll" });
    parts.notes = el("div");
    for (const kind of ["fresh", "reused"]) {
      parts[kind] = el("div", { class: "drawing" });
      parts[`${kind}-reading`] = el("p", { class: "reading" });
    }
    const asked = el(
      "div",
      { class: "card asked" },
      el("h2", {}, "Target and neuron"),
      parts.lines.nodes,
      parts.problem.node,
      parts.waiting.node,
      el(
        "h3",
        {},
        "Hermite coefficients ",
        el("span", { class: "symbol" }, "$c_k = \\mathbb{E}[\\sigma(z)\\,\\mathrm{He}_k(z)]/k!$"),
      ),
      parts.bars,
      el(
        "small",
        {},
        "The number below a bar is its degree k. Pale bars: this activation cannot learn target " +
          "parts of this degree.",
      ),
    );
    parts.answer = el(
      "div",
      { class: "answer" },
      el(
        "div",
        { class: "card" },
        parts.lines.printed,
        el("h2", {}, "What can be learned"),
        parts.figures,
      ),
      el(
        "div",
        { class: "card" },
        el("h2", {}, term("staircase", "Staircase")),
        el(
          "p",
          { class: "caption" },
          "Each stair is one giant step on about d samples, with the directions that it adds. Dashed: " +
            "not learned.",
        ),
        el(
          "div",
          { class: "pair" },
          el(
            "figure",
            {},
            el("figcaption", {}, "Fresh batches"),
            parts.fresh,
            parts["fresh-reading"],
            exports({ node: parts.fresh, name: "staircase-fresh" }),
          ),
          el(
            "figure",
            {},
            el("figcaption", {}, "Reused batches"),
            parts.reused,
            parts["reused-reading"],
            exports({ node: parts.reused, name: "staircase-reused" }),
          ),
        ),
      ),
      el(
        "div",
        { class: "card" },
        el("h2", {}, "The smallest possible error"),
        parts.floors,
        parts.notes,
        exports({ name: "analysis", command: "analyze", setting: both, data: () => found }),
      ),
    );
    parts.empty = el(
      "p",
      { class: "card" },
      "Type a target to see what can be learned of it.",
    );
    replace(root, asked, parts.answer, parts.empty);
    draw();
    new ResizeObserver(debounced(50, draw)).observe(root);
    analyse();
  },

  update(changed) {
    parts.lines.show();
    if (changed.has("target") || changed.has("activation")) soon();
  },
};
