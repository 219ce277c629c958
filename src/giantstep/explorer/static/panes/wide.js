// As many neurons as inputs: bulk, spikes and losses of theory, and the histogram of runs over them.

import * as api from "../api.js";
import * as state from "../state.js";
import { choice, mark, slider, text } from "../parts/controls.js";
import { debounced, duration, el, many, number, replace } from "../parts/dom.js";
import { exports } from "../parts/exports.js";
import { targetAndActivation } from "../parts/expression.js";
import { complaint, judge, notes } from "../parts/notes.js";
import { player } from "../parts/player.js";
import { runner } from "../parts/runner.js";
import { defined } from "../parts/terms.js";
import { waiting } from "../parts/waiting.js";
import { errors } from "./narrow_plots.js";
import { spectrum } from "./wide_plots.js";

const KEY = "wide.";
const parts = {};
let predicted = null;
let measured = null;
let page = null;
let turn = 0;

const MATRICES = { weights: "Weights W", features: "Features σ(XWᵀ)/√n" };

/** Fields of the setting, as the server reads them. */
function fields() {
  const { ratio, width, steps, alpha1, alpha2, batches, ...rest } = state.under(KEY);
  const two = steps === "2";
  return {
    target: state.get("target"),
    activation: state.get("activation"),
    ...rest,
    n: `${ratio}d`,
    p: `${width}d`,
    step_size: two ? `n^${alpha1}, n^${alpha2}` : `n^${alpha1}`,
    batches: two ? batches : "fresh",
  };
}

const SPECTRUM =
  "The horizontal axis holds [singular values|singular value]. Line: density of the [bulk] by theory. Bars: " +
  "simulation. Marks: values outside the bulk. Those that are there at the start come from the mean of the " +
  "activation, the others from directions that the network has learned.";

const caption = (text) => el("p", { class: "caption" }, defined(text));

function figure(name, title, ...below) {
  parts[`${name}-reading`] = el("p", { class: "reading" });
  const reading = parts[`${name}-reading`];
  const node = el("figure", { class: "card" }, el("figcaption", {}, title), parts[name], reading, below);
  node.append(exports({ node: parts[name], name: `spectrum-${name}` }));
  return node;
}

/** What is known of a matrix: runs and theory together once there are runs. */
const view = (matrix, at) => (measured?.spectra ?? predicted?.spectra)?.[matrix]?.[at] ?? null;

async function draw() {
  if (predicted === null) return null;
  const at = parts.player.step();
  const spectra = Object.keys(MATRICES).map((matrix) => {
    const found = view(matrix, at);
    parts[`${matrix}-none`].hidden = found !== null;
    return spectrum(parts[matrix], matrix, found, predicted.recorded[at]);
  });
  const told = predicted.reading;
  for (const matrix of Object.keys(MATRICES))
    parts[`${matrix}-reading`].textContent = told?.[matrix][at] ?? "";
  parts["losses-reading"].textContent = told?.losses ?? "";
  replace(parts.table, spikes());
  const losses = errors(parts.losses, readoutOnly(predicted), measured && readoutOnly(measured));
  return Promise.all([...spectra, losses]);
}

/** Without the error of the network itself, which giant steps at this width make large. */
const readoutOnly = (found) => ({
  ...found,
  steps: found.steps?.map(({ network_error: _, ...rest }) => rest),
});

const spread = (value) =>
  value.standard_error
    ? `${number(value.mean, 4)} ± ${number(value.standard_error, 2)}`
    : number(value.mean, 4);

/** What a step says of the spikes of a matrix, in words. */
function places(step) {
  if (!step || step.outliers === null) return "–";
  const counted = step.outliers.map(spread);
  const hidden = step.inside.map((value) => `(${spread(value)})`);
  return [...counted, ...hidden].join(", ") || "none";
}

function spikes() {
  const groups = Object.entries(MATRICES).map(([matrix, title]) => {
    const rows = predicted.recorded.map((step, at) => {
      const theory = predicted.steps?.[at]?.[matrix];
      const runs = measured?.steps?.[at]?.[matrix];
      const cells = [places(theory), runs ? places(runs) : "–", runs?.counts?.join(", ") ?? "–"];
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, `after step ${step}`),
        cells.map((cell) => el("td", {}, cell)),
      );
    });
    const heading = el("th", { scope: "rowgroup", colspan: 4 }, title);
    return el("tbody", {}, el("tr", {}, heading), rows);
  });
  const head = ["", "theory", "runs", "count in each run"];
  return el(
    "table",
    { class: "spikes" },
    el(
      "caption",
      {},
      defined(
        "Singular values outside the [bulk]. Those in brackets lie so close to it that noise may " +
          "cover them, and they are not counted.",
      ),
    ),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        head.map((title) => el("th", { scope: "col" }, title)),
      ),
    ),
    groups,
  );
}

function tell() {
  const { setting, complaint: objection, theory, cost } = predicted;
  const steps = setting.step_size.map((size) => number(size, 3)).join(", then ");
  parts.lines.write(predicted.formulas);
  parts.sizes.textContent = `d = ${number(setting.d)}, n = ${number(setting.n)}, p = ${number(setting.p)}, step size ${steps}`;
  parts.cost.textContent = cost.seconds
    ? `Simulating ${many(setting.runs, "run")} takes ${duration(cost.seconds)}.`
    : `This cannot be simulated here: ${cost.message}.`;
  parts.runner.cost(cost);
  parts.regime.hidden = objection === null;
  replace(
    parts.regime,
    el("strong", {}, "No theory covers this setting. "),
    `${objection ?? ""}. `,
    cost.seconds ? "You can still run the simulation." : "",
  );
  parts.theory.textContent = theory
    ? `Theory of ${theory} networks, for the readout of the first run.`
    : "No prediction.";
  notes(parts.notes, "Notes", predicted.notes);
}

/** A sentence where the mistake is: in a line, below a control, or above the answer. */
function refuse(problem) {
  const shown = [parts.lines.mark(problem), mark(parts.asked, problem)].some(Boolean);
  const onward = problem?.slow ? () => predict(true) : null;
  parts.problem.say(problem === null || shown ? "" : problem.message, onward);
}

/** The weights at once, then features and losses too. */
async function predict(patient = false) {
  const begun = performance.now();
  const mine = (turn += 1);
  const setting = fields();
  let drawn = false;
  parts.answer.setAttribute("aria-busy", "true");
  parts.waiting.begin();
  parts.waiting.say("Theory of the weights");
  try {
    for (const draft of [true, false]) {
      const found = await api.call("wide", { setting, draft, patient });
      if (mine !== turn) return;
      predicted = found;
      drawn = true;
      parts.answer.classList.remove("stale");
      refuse(null);
      parts.player.steps(predicted.recorded);
      tell();
      // Features and losses are asked for when the weights are seen, as they share the processor.
      await draw();
      if (mine !== turn) return;
      if (draft) page.say(`Weights predicted in ${Math.round(performance.now() - begun)} ms.`);
      if (predicted.theory === null) break;
      if (draft) parts.waiting.say("Theory of features and losses");
    }
  } catch (problem) {
    if (mine !== turn) return;
    refuse(problem);
    parts.answer.classList.toggle("stale", !(problem.slow && drawn));
  }
  parts.waiting.end();
  parts.answer.setAttribute("aria-busy", "false");
}

// A target is predicted at every keystroke: after the last one.
const soon = debounced(150, () => predict());

function stop() {
  turn += 1;
  api.drop("wide");
  parts.answer.setAttribute("aria-busy", "false");
  page.say("Stopped. The prediction so far stays.");
}

const handlers = {
  frame(frame) {
    measured = { ...frame, runs: 0, steps: null, spectra: null };
    judge(parts.verdict, null);
  },
  run(found) {
    measured = { ...measured, ...found };
    draw();
  },
  comparing({ runs }) {
    parts.comparing.begin();
    parts.comparing.say(`Comparing: theory for the readout of each of ${runs} runs`);
  },
  result(found) {
    parts.comparing.end();
    measured = { ...measured, ...found };
    judge(parts.verdict, found);
    draw();
  },
};

export default {
  id: "wide",
  title: "Linear width",
  plots: true,

  mount(root, given) {
    page = given;
    state.declare({
      "wide.d": 400,
      "wide.ratio": 2,
      "wide.width": 1.5,
      "wide.steps": "1",
      "wide.alpha1": 0.3,
      "wide.alpha2": 0.3,
      "wide.batches": "fresh",
      "wide.noise": 0,
      "wide.ridge": 0.1,
      "wide.runs": 4,
      "wide.seed": 0,
    });
    parts.alpha2 = slider("wide.alpha2", {
      words: "Size of the second step",
      symbol: "$\\alpha_2$ in $\\eta_2 = n^{\\alpha_2}$",
      field: "step_size",
      from: 0,
      to: 0.8,
    });
    parts.batches = choice("wide.batches", {
      words: "Second step",
      symbol: "batch",
      options: [
        ["fresh", "On new samples"],
        ["reused", "On the samples of the first step"],
      ],
    });
    parts.player = player(draw);
    parts.runner = runner({
      kind: "spectrum",
      request: () => ({ setting: fields() }),
      on: handlers,
      page,
    });
    for (const name of [...Object.keys(MATRICES), "losses"])
      parts[name] = el("div", { class: "plot" });
    for (const name of Object.keys(MATRICES))
      parts[`${name}-none`] = el("small", { hidden: true }, "There is no prediction of this plot. Press Run to simulate it.");
    parts.problem = complaint();
    parts.lines = targetAndActivation(page.vocabulary);
    parts.verdict = el("div", { class: "verdict", role: "status", hidden: true });
    parts.regime = el("p", { class: "regime", hidden: true });
    parts.sizes = el("p", { class: "sizes" });
    parts.cost = el("small");
    parts.theory = el("small");
    parts.notes = el("div");
    parts.table = el("div", {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "Table of spikes",
    });
    parts.waiting = waiting("Theory is being computed", stop);
    parts.comparing = waiting("Theory and runs are compared", () =>
      parts.runner.stop("Stopped. The runs stay."),
    );
    const { linear_width: conventions } = page.vocabulary;
    parts.asked = el(
      "div",
      { class: "card asked" },
      el("h2", {}, "Network and data"),
      parts.lines.nodes,
      slider("wide.d", {
        words: "Inputs",
        symbol: "d",
        from: 50,
        to: 1500,
        log: true,
        whole: true,
      }),
      slider("wide.ratio", {
        words: "Samples for each input",
        symbol: "n/d",
        field: "n",
        from: 0.5,
        to: 8,
        log: true,
      }),
      slider("wide.width", {
        words: "Neurons for each input",
        symbol: "p/d",
        field: "p",
        from: 0.25,
        to: 4,
        log: true,
      }),
      choice("wide.steps", {
        words: "Giant steps",
        symbol: "T",
        options: [
          ["1", "One"],
          ["2", "Two"],
        ],
      }),
      slider("wide.alpha1", {
        words: "Size of the first step",
        symbol: "$\\alpha_1$ in $\\eta_1 = n^{\\alpha_1}$",
        field: "step_size",
        from: 0,
        to: 0.6,
        help: "Larger steps push more singular values out of the bulk.",
        term: "spike",
      }),
      parts.alpha2,
      parts.batches,
      slider("wide.runs", { words: "Runs", from: 1, to: 16, whole: true }),
      el(
        "details",
        {},
        el("summary", {}, "Noise, penalty, seed"),
        slider("wide.noise", {
          words: "Label noise",
          symbol: "standard deviation",
          from: 0,
          to: 3,
        }),
        slider("wide.ridge", {
          words: "Penalty of the readout",
          symbol: "ridge",
          term: "ridge",
          from: 0.001,
          to: 10,
          log: true,
        }),
        text("wide.seed", { words: "Seed", mode: "numeric" }),
        el(
          "small",
          {},
          `As in the papers: the output scale is ${conventions.output_scale}, weights start on the ${conventions.start}, and the readout starts ${conventions.readout_start}.`,
        ),
      ),
    );
    parts.answer = el(
      "div",
      { class: "answer" },
      el(
        "div",
        { class: "card" },
        parts.lines.printed,
        parts.runner.node,
        parts.comparing.node,
        parts.sizes,
        parts.cost,
        el("div", { class: "slot" }, parts.waiting.node, parts.problem.node),
        parts.regime,
        parts.verdict,
        parts.player.node,
      ),
      el(
        "div",
        { class: "plots" },
        Object.entries(MATRICES).map(([name, title]) => figure(name, title, parts[`${name}-none`], caption(SPECTRUM))),
        figure(
          "losses",
          "The error after each step",
          caption(
            "Lines are [theory], points are simulations with bars of two [standard errors|standard error].",
          ),
        ),
        el(
          "div",
          { class: "card" },
          el("h2", {}, "Spikes and downloads"),
          parts.table,
          parts.theory,
          parts.notes,
          exports({
            name: "spectrum",
            command: "spectrum",
            setting: fields,
            job: () => parts.runner.job(),
            data: () => ({ predicted, measured }),
          }),
        ),
      ),
    );
    replace(root, parts.asked, parts.answer);
    this.update(new Set([KEY]));
  },

  update(changed) {
    const two = state.get("wide.steps") === "2";
    parts.alpha2.hidden = !two;
    parts.batches.hidden = !two;
    parts.lines.show();
    const typed = changed.has("target") || changed.has("activation");
    if (!typed && ![...changed].some((key) => key.startsWith(KEY))) return;
    parts.runner.stop("Cancelled: the setting has changed.");
    parts.comparing.end();
    measured = null;
    judge(parts.verdict, null);
    if (typed) soon();
    else predict();
  },
};
