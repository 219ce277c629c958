// Few neurons: what theory says at once, and runs that land on it.

import * as api from "../api.js";
import * as state from "../state.js";
import {
  debounced,
  duration,
  el,
  many,
  number,
  onceAFrame,
  readable,
  replace,
} from "../parts/dom.js";
import { exports } from "../parts/exports.js";
import { complaint, judge, notes } from "../parts/notes.js";
import { defined } from "../parts/terms.js";
import { player } from "../parts/player.js";
import { runner } from "../parts/runner.js";
import { waiting } from "../parts/waiting.js";
import { controls, fields } from "./narrow_controls.js";
import { alignment, errors, neurons } from "./narrow_plots.js";

const KEY = "narrow.";
const parts = {};
let predicted = null;
let measured = null;
let page = null;
let turn = 0;

const CAPTIONS = {
  neurons:
    "Each mark is a neuron, placed by its [cosine] with directions of the target: 0 is unrelated, " +
    "1 is parallel.",
  alignment:
    "Each line is the median [cosine] of the neurons with one direction, predicted by [theory]. " +
    "Points are simulations; their bars are two [standard errors|standard error].",
  errors:
    "Lines are theory, points are simulations. A [floor] is a lower bound as d grows. At finite d " +
    "errors can lie slightly below it.",
};

/** A plot with its title, what its numbers say, and how to read it. */
function figure(name, title, ...between) {
  parts[`${name}-reading`] = el("p", { class: "reading" });
  return el(
    "figure",
    { class: "card" },
    el("figcaption", {}, title),
    parts[name],
    between,
    parts[`${name}-reading`],
    el("p", { class: "caption" }, defined(CAPTIONS[name])),
    exports({ node: parts[name], name }),
  );
}

/** What theory says, in sentences below the plots. */
function interpret(at) {
  const reading = predicted.reading;
  for (const name of Object.keys(CAPTIONS)) {
    const told = name === "neurons" ? reading?.neurons[at] : reading?.[name];
    parts[`${name}-reading`].textContent = readable(told ?? "");
  }
}

/** How far the setting is from the nearest limit of the theory that serves it. */
function nearest({ nearest: limit, theory }) {
  if (!theory) return "";
  if (!limit) return `This setting is far from every limit of the ${theory} theory.`;
  const { name, value, bound, upper, share } = limit;
  const which = upper ? "at most" : "at least";
  const inside = share <= 1 ? "This setting is within it" : "This setting is beyond it";
  return `The nearest limit of the ${theory} theory: ${name} must be ${which} ${number(bound)}. ${inside}, at ${number(value)}.`;
}

function sizes(setting, shares) {
  const steps = setting.step_size.map((size) => number(size, 3));
  const size = new Set(steps).size === 1 ? steps[0] : steps.slice(0, 4).join(", ");
  const share = shares.length ? ` (${number(shares[0], 2)} × giant)` : "";
  const step = steps.length ? `, step size ${size}${share}` : "";
  return `d = ${number(setting.d)}, n = ${number(setting.n)}, p = ${setting.p}${step}`;
}

async function draw() {
  if (predicted === null) return null;
  const at = parts.player.step();
  interpret(at);
  return Promise.all([
    neurons(parts.neurons, predicted, measured, at),
    alignment(parts.alignment, predicted, measured),
    errors(parts.errors, predicted, measured),
  ]);
}

function tell() {
  const { setting, giant_shares: shares, complaint: objection, cost } = predicted;
  parts.sizes.textContent = sizes(setting, shares);
  parts.cost.textContent = cost.seconds
    ? `Simulating ${many(setting.runs, "run")} takes ${duration(cost.seconds)}.`
    : `This cannot be simulated here: ${cost.message}.`;
  parts.runner.cost(cost);
  parts.regime.hidden = objection === null;
  replace(
    parts.regime,
    el("strong", {}, "No theory covers this setting. "),
    `${readable(objection ?? "")}. `,
    cost.seconds ? "You can still run the simulation." : "",
  );
  parts.nearest.textContent = nearest(predicted);
  notes(parts.notes, "Notes", predicted.notes.map(readable));
}

/** A sentence where the mistake is: in a line, below a control, or above the answer. */
function refuse(problem) {
  const shown = parts.asked.mark(problem);
  parts.problem.say(shown ? "" : problem?.message);
  parts.answer.classList.toggle("stale", problem !== null);
}

/** Theory takes long: what is drawn of it stays, and it is computed on where that is wanted. */
function wait(problem, drafted) {
  const rest = drafted ? "what is drawn is a draft" : "there is no prediction yet";
  parts.problem.say(`${problem.message}: ${rest}`, () => predict(true));
  if (drafted) parts.theory.textContent = "A draft.";
  else if (predicted?.pending) show({ ...predicted, pending: false }, "No prediction yet.");
  else parts.answer.classList.add("stale");
}

/** What the server said of the setting, drawn. */
function show(found, words) {
  predicted = found;
  parts.plots.hidden = false;
  parts.theory.textContent = words;
  parts.player.steps(predicted.recorded);
  tell();
  return draw();
}

/** A draft at once, then the whole prediction in its place; floors first where theory is slow. */
async function predict(patient = false) {
  const begun = performance.now();
  const setting = fields();
  const mine = (turn += 1);
  let drawn = false;
  if (patient) parts.problem.say("");
  parts.waiting.begin(async () => {
    if (drawn) return;
    const frame = await api.call("frame", { setting }).catch(() => null);
    if (mine !== turn || drawn || !frame) return;
    refuse(null);
    show({ ...frame, pending: true }, "Theory is being computed.");
  });
  try {
    for (const draft of [true, false]) {
      const found = await api.call("predict", { setting, draft, patient });
      drawn = true;
      refuse(null);
      if (found.theory === null) {
        show(found, "No prediction.");
        page.say("No prediction.");
        break;
      }
      const kind = draft ? " This is a draft, which is being refined." : "";
      // The whole of it is asked for when the draft is seen: the two would share the processor.
      await show({ ...found, draft }, `Theory of ${found.theory} networks.${kind}`);
      if (mine !== turn) return;
      if (draft) page.say(`Predicted in ${Math.round(performance.now() - begun)} ms.`);
    }
  } catch (problem) {
    if (problem.slow) wait(problem, drawn);
    else refuse(problem);
    page.say("");
    drawn = true;
  }
  parts.waiting.end();
}

function stopped() {
  turn += 1; // a draft that is being drawn is not refined either
  api.drop("predict");
  parts.theory.textContent = predicted?.theory
    ? "Stopped. This is a draft."
    : "Stopped before there was a prediction.";
}

// A target is predicted at every keystroke: after the last one.
const soon = debounced(120, () => predict());

/** What the runs say as they come in. */
const handlers = {
  frame(frame) {
    measured = { ...frame, runs: [], steps: null };
    judge(parts.verdict, null);
  },
  run({ run, steps, neurons: places }) {
    measured.runs[run] = places;
    measured.steps = steps;
    soonDrawn();
  },
  result(found) {
    measured = { ...measured, ...found, runs: measured.runs };
    judge(parts.verdict, found);
    draw();
  },
};

// Runs may come in faster than plots can be drawn.
const soonDrawn = onceAFrame(draw);

export default {
  id: "narrow",
  title: "Few neurons",
  plots: true,

  mount(root, given) {
    page = given;
    parts.asked = controls(page.vocabulary);
    parts.player = player(draw);
    parts.runner = runner({
      kind: "learn",
      request: () => ({ setting: fields() }),
      on: handlers,
      page,
    });
    for (const name of ["neurons", "alignment", "errors"])
      parts[name] = el("div", { class: "plot" });
    parts.problem = complaint();
    parts.waiting = waiting("Theory is being computed", stopped);
    parts.verdict = el("p", { class: "verdict", role: "status", hidden: true });
    parts.regime = el("p", { class: "regime", hidden: true });
    parts.sizes = el("p", { class: "sizes" });
    parts.cost = el("small");
    parts.theory = el("small");
    parts.nearest = el("small");
    parts.notes = el("div");
    parts.answer = el(
      "div",
      { class: "answer" },
      el(
        "div",
        { class: "card" },
        parts.runner.node,
        parts.waiting.node,
        parts.sizes,
        parts.cost,
        parts.problem.node,
        parts.regime,
        parts.verdict,
      ),
      (parts.plots = el(
        "div",
        { class: "plots", hidden: true },
        figure("neurons", "Where the neurons point", parts.player.node),
        figure("alignment", "What each step has learned"),
        figure("errors", "How the error falls"),
        el(
          "div",
          { class: "card" },
          el("h2", {}, "Download"),
          parts.theory,
          parts.nearest,
          parts.notes,
          exports({
            setting: fields,
            job: () => parts.runner.job(),
            data: () => ({ predicted, measured }),
          }),
        ),
      )),
    );
    replace(root, parts.asked.node, parts.answer);
    this.update(new Set([KEY]));
  },

  update(changed) {
    parts.asked.show();
    const typed = changed.has("target") || changed.has("activation");
    if (!typed && ![...changed].some((key) => key.startsWith(KEY))) return;
    parts.runner.stop("Cancelled: the setting has changed.");
    measured = null;
    judge(parts.verdict, null);
    // A scene of the tour shows its own plots or none, never those of the scene before.
    if (state.get("tour")) parts.plots.hidden = true;
    if (typed) soon();
    else predict();
  },
};
