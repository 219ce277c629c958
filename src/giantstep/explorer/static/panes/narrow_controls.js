// What is asked of few neurons: the controls, and the fields of the setting they stand for.

import * as state from "../state.js";
import { choice, mark, slider, text } from "../parts/controls.js";
import { el, readable } from "../parts/dom.js";
import { targetAndActivation } from "../parts/expression.js";

const BATCHES = {
  fresh: "New samples at every step",
  reused: "The same samples at every step",
};
const READOUT_STARTS = {
  uniform: "Uniform on [-1, 1]",
  gaussian: "Gaussian with variance 1/p",
  signs: "+1 or -1 at random",
  alternating: "+1, -1, +1, -1, …",
  ones: "All 1",
};

/** The keys of the state for a setting of the server: n and step_size can be given in two ways. */
function keys({ target, activation, n, step_size: size, ...others }) {
  const ratio = /^([\d.]+)d$/.exec(n)?.[1];
  const giant = size === "giant" ? "1" : /^([\d.]+)giant$/.exec(size)?.[1];
  const held = {
    ...others,
    size: ratio ? "ratio" : "kappa",
    ratio: ratio ?? 64,
    kappa: /^d\^([\d.]+)$/.exec(n)?.[1] ?? 1.5,
    stepping: giant ? "giant" : "formula",
    giant: giant ?? 1,
    formula: giant ? "3p^1.5" : size,
  };
  const named = Object.entries(held).map(([key, value]) => [`narrow.${key}`, value]);
  return { target, activation, ...Object.fromEntries(named) };
}

/** Make the keys of this pane known; the page opens on the setting of the demonstration. */
export function declare({ demo }) {
  const { target: _target, activation: _activation, ...own } = keys(demo);
  state.declare(own);
}

/** What must change in the state so that the controls show a whole setting. */
export const adopted = (setting) => keys(setting);

/** Fields of the setting, as the server reads them. */
export function fields() {
  const { size, ratio, kappa, stepping, giant, formula, ...others } = state.under("narrow.");
  const giants = giant === "1" ? "giant" : `${giant}giant`;
  return {
    target: state.get("target"),
    activation: state.get("activation"),
    ...others,
    n: size === "kappa" ? `d^${kappa}` : `${ratio}d`,
    step_size: stepping === "formula" ? formula : giants,
  };
}

/** A menu of whole settings; it names the one that the controls show. */
function examples({ examples: known }) {
  const same = (setting) => {
    const here = fields();
    return Object.entries(setting).every(([name, value]) => String(here[name]) === value);
  };
  const menu = el(
    "select",
    {
      id: "example",
      onchange: () => {
        const chosen = known[Number(menu.value)];
        if (chosen) state.set(adopted(chosen.setting));
      },
    },
    el("option", { value: "" }, "A setting of your own"),
    known.map(({ name, shows }, at) => el("option", { value: at }, `${name}. ${readable(shows)}`)),
  );
  return {
    node: el(
      "div",
      { class: "control" },
      el("label", { for: "example" }, "Example"),
      menu,
      el("small", {}, "An example sets all controls."),
    ),
    show() {
      const at = known.findIndex(({ setting }) => same(setting));
      menu.value = at < 0 ? "" : at;
    },
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
      help: "Each step uses so many samples for each of the $d$ inputs.",
    }),
    kappa: slider("narrow.kappa", {
      words: "Exponent of the samples",
      symbol: "$\\kappa$ in $n = d^\\kappa$",
      field: "n",
      from: 0.5,
      to: 2,
      help: "A target of leap index $k$ needs $\\kappa = k$.",
    }),
  };
  const steps = {
    giant: slider("narrow.giant", {
      words: "Length of a step",
      symbol: "$\\eta/\\eta_{\\mathrm{giant}}$",
      field: "step_size",
      term: "giant",
      from: 0.01,
      to: 100,
      log: true,
      help: "1 = giant: one step changes a neuron by about its own length.",
    }),
    formula: text("narrow.formula", {
      words: "Formula of the step size",
      symbol: "η",
      field: "step_size",
      term: "giant",
      help: ["Type a number, a formula such as ", el("code", {}, "p*d^0.5"), ", or one value for each step: ", el("code", {}, "8, 4"), "."],
    }),
  };
  return { size: sizes, stepping: steps };
}

/** Controls of the readout, which is fitted after each step, and of the test of it. */
function readout({ readout_starts: starts }) {
  return [
    choice("narrow.readout_start", {
      words: "Readout weights at the start",
      symbol: "a",
      options: starts
        .filter((name) => name in READOUT_STARTS)
        .map((name) => [name, READOUT_STARTS[name]]),
    }),
    text("narrow.readout_n", {
      words: "Samples that fit the readout",
      term: "readout",
      help: "After each step a new readout is fitted. Type a number or a formula such as 4d.",
    }),
    text("narrow.test_n", {
      words: "Samples that test it",
      help: "The test error is measured on so many new samples: 20000, 10d.",
    }),
    slider("narrow.bias", {
      words: "Biases of the neurons",
      symbol: "standard deviation",
      from: 0,
      to: 6,
      help: "With biases, neurons can fit any curve along a direction.",
    }),
    choice("narrow.bias_at", {
      words: "Where biases are used",
      options: [
        ["start", "In the steps and in the readout"],
        ["readout", "In the readout only"],
      ],
    }),
  ];
}

/** {node, show(), write(formulas), mark(problem)}: the column of controls. */
export function controls(vocabulary) {
  const { batches, updates, most } = vocabulary;
  // Targets are offered with the whole setting that shows what they are good for.
  const lines = targetAndActivation({ ...vocabulary, catalog: [] });
  const example = examples(vocabulary);
  const { size, stepping } = ways();
  const node = el(
    "div",
    { class: "card asked" },
    el("h2", {}, "Network and data"),
    example.node,
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
      term: "sizes",
      options: [
        ["ratio", "As a multiple of d"],
        ["kappa", "As a power of d"],
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
      term: "sizes",
      help: "Neurons start in pairs that cancel, so the output starts at 0.",
    }),
    slider("narrow.steps", { words: "Giant steps", symbol: "T", from: 1, to: 10, whole: true }),
    choice("narrow.stepping", {
      words: "Step size",
      symbol: "η",
      options: [
        ["giant", "As a multiple of a giant step"],
        ["formula", "As a formula"],
      ],
    }),
    Object.values(stepping),
    choice("narrow.batches", {
      words: "Batches",
      term: "reused",
      options: batches.filter((name) => name in BATCHES).map((name) => [name, BATCHES[name]]),
    }),
    slider("narrow.runs", {
      words: "Runs",
      term: "runs",
      from: 1,
      to: Math.min(most.runs, 64),
      log: true,
      whole: true,
      help: "The simulation is repeated so many times.",
    }),
    el("details", {}, el("summary", {}, "Readout, test and biases"), readout(vocabulary)),
    el(
      "details",
      {},
      el("summary", {}, "Update, noise, seed"),
      choice("narrow.update", { words: "Update", options: updates }),
      slider("narrow.noise", {
        words: "Label noise",
        symbol: "standard deviation",
        term: "noise",
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
      example.show();
      for (const [key, group] of Object.entries({ size, stepping })) {
        for (const [way, control] of Object.entries(group)) {
          control.hidden = state.get(`narrow.${key}`) !== way;
        }
      }
    },
    printed: lines.printed,
    write: lines.write,
    /** Show a problem where it belongs, with null nowhere; whether it could be seen there. */
    mark(problem) {
      const shown = [lines.mark(problem), mark(node, problem)].some(Boolean);
      for (const folded of node.querySelectorAll("details"))
        if (folded.querySelector("[aria-invalid=true]")) folded.open = true;
      return shown;
    },
  };
}
