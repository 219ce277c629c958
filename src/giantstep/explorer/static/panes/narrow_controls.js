// What is asked of few neurons: the controls, and the fields of the setting they stand for.

import * as state from "../state.js";
import { choice, mark, slider, text } from "../parts/controls.js";
import { el } from "../parts/dom.js";
import { targetAndActivation } from "../parts/expression.js";

const BATCHES = { fresh: "fresh at every step", reused: "the same reused at all steps" };

const DEFAULTS = {
  "narrow.d": 1000,
  "narrow.size": "ratio",
  "narrow.ratio": 16,
  "narrow.kappa": 1.5,
  "narrow.p": 8,
  "narrow.steps": 2,
  "narrow.stepping": "giant",
  "narrow.giant": 1,
  "narrow.formula": "p*d^0.5",
  "narrow.batches": "fresh",
  "narrow.update": "gradient",
  "narrow.bias": 0,
  "narrow.bias_at": "start",
  "narrow.noise": 0,
  "narrow.runs": 8,
  "narrow.seed": 0,
};

/** Fields of the setting, as the server reads them. */
export function fields() {
  const { size, ratio, kappa, stepping, giant, formula, ...rest } = state.under("narrow.");
  const giants = giant === "1" ? "giant" : `${giant}giant`;
  return {
    target: state.get("target"),
    activation: state.get("activation"),
    ...rest,
    n: size === "kappa" ? `d^${kappa}` : `${ratio}d`,
    step_size: stepping === "formula" ? formula : giants,
  };
}

/** Two ways to give one field: a menu, and the control of the way that is chosen. */
function ways() {
  const sizes = {
    ratio: slider("narrow.ratio", {
      words: "Samples for each input",
      symbol: "n/d",
      field: "n",
      from: 0.25,
      to: 64,
      log: true,
    }),
    kappa: slider("narrow.kappa", {
      words: "Exponent of the samples",
      symbol: "κ, n = d^κ",
      field: "n",
      from: 0.5,
      to: 2,
      help: "a leap of k needs κ = k",
    }),
  };
  const steps = {
    giant: slider("narrow.giant", {
      words: "Length of an update",
      symbol: "η/η giant",
      field: "step_size",
      from: 0.01,
      to: 100,
      log: true,
      help: "1: one update is of the order of a row of W",
    }),
    formula: text("narrow.formula", {
      words: "Formula",
      symbol: "η",
      field: "step_size",
      help: "a number, p*d^0.5, n^0.3, or one a step: 8, 4",
    }),
  };
  return { size: sizes, stepping: steps };
}

/** {node, show(), mark(problem)}: the column of controls. */
export function controls(vocabulary) {
  state.declare(DEFAULTS);
  const { batches, updates, most } = vocabulary;
  const lines = targetAndActivation(vocabulary);
  const { size, stepping } = ways();
  const node = el(
    "div",
    { class: "card asked" },
    el("h2", {}, "Network and data"),
    lines.nodes,
    slider("narrow.d", {
      words: "Inputs",
      symbol: "d",
      from: 10,
      to: 1e9,
      log: true,
      whole: true,
    }),
    choice("narrow.size", {
      words: "Samples of a step",
      symbol: "n",
      options: [
        ["ratio", "in multiples of d"],
        ["kappa", "as a power of d"],
      ],
    }),
    Object.values(size),
    slider("narrow.p", {
      words: "Neurons",
      symbol: "p",
      from: 2,
      to: 200,
      log: true,
      whole: true,
      multiple: 2,
      help: "in pairs that begin as opposites",
    }),
    slider("narrow.steps", { words: "Giant steps", symbol: "T", from: 1, to: 10, whole: true }),
    choice("narrow.stepping", {
      words: "Step size",
      symbol: "η",
      options: [
        ["giant", "in giant ones"],
        ["formula", "as a formula"],
      ],
    }),
    Object.values(stepping),
    choice("narrow.batches", {
      words: "Batches",
      options: batches.filter((name) => name in BATCHES).map((name) => [name, BATCHES[name]]),
    }),
    slider("narrow.runs", {
      words: "Runs",
      from: 1,
      to: Math.min(most.runs, 64),
      log: true,
      whole: true,
    }),
    el(
      "details",
      {},
      el("summary", {}, "Update, biases, noise, seed"),
      choice("narrow.update", { words: "Update", options: updates }),
      slider("narrow.bias", { words: "Biases", symbol: "standard deviation", from: 0, to: 6 }),
      choice("narrow.bias_at", {
        words: "Biases act",
        options: [
          ["start", "in the steps and the readout"],
          ["readout", "in the readout alone"],
        ],
      }),
      slider("narrow.noise", {
        words: "Label noise",
        symbol: "standard deviation",
        from: 0,
        to: 3,
      }),
      text("narrow.seed", { words: "Seed", mode: "numeric" }),
    ),
  );
  return {
    node,
    show() {
      lines.show();
      for (const [key, group] of Object.entries({ size, stepping })) {
        for (const [way, control] of Object.entries(group)) {
          control.hidden = state.get(`narrow.${key}`) !== way;
        }
      }
    },
    /** Show a problem where it belongs, with null nowhere; whether it could be seen there. */
    mark(problem) {
      const folded = node.querySelector("details");
      const shown = [lines.mark(problem), mark(node, problem)].some(Boolean);
      if (folded.querySelector("[aria-invalid=true]")) folded.open = true;
      return shown;
    },
  };
}
