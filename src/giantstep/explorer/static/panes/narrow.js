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
  replace,
} from "../parts/dom.js";
import { exports } from "../parts/exports.js";
import { complaint, judge, notes } from "../parts/notes.js";
import { defined } from "../parts/terms.js";
import { flight } from "../parts/flight.js";
import { network } from "../parts/network.js";
import { newest } from "../parts/newest.js";
import { player } from "../parts/player.js";
import { runner } from "../parts/runner.js";
import { waiting } from "../parts/waiting.js";
import { functions, known } from "./function_plots.js";
import { controls, fields } from "./narrow_controls.js";
import { alignment, errors, neurons } from "./narrow_plots.js";
import { beside, sideControl, sideRequest, sides } from "./narrow_side.js";

const KEY = "narrow.";
const parts = {};
let predicted = null;
let measured = null;
let otherMeasured = null; // runs of the second of two settings side by side
let page = null;
let turn = 0;

const CAPTIONS = {
  function:
    "[Mean|conditional mean] of target and network given the coordinates shown, which have variance 1. " +
    "All other coordinates of the input are averaged out. The network has its fitted [readout].",
  network:
    "The slices of a neuron are its squared [cosines|cosine] with the directions on the left, lines are " +
    "as wide as the |cosines|. Lines to the output are as wide as the fitted [readout] weight, dashed " +
    "where it is negative.",
  neurons:
    "Each mark is a neuron, placed by its [cosine] with directions of the target: 0 is unrelated, " +
    "1 or -1 is parallel. Rings are [theory], points are simulations.",
  alignment:
    "Each line is the median |[cosine]| of the neurons with one direction, predicted by [theory]. " +
    "Points are simulations; their bars are two [standard errors|standard error].",
  errors:
    "Lines are theory, points are simulations. A [floor] is a lower bound as d grows. At finite d " +
    "errors can lie slightly below it. The floors of the pane Target leave out the share p/d of the " +
    "next degree, which p neurons can fit and which is subtracted here.",
};

/** A plot with its title, what its numbers say, and how to read it. */
function figure(name, title) {
  parts[`${name}-reading`] = el("p", { class: "reading" });
  return el(
    "figure",
    { class: "card", "data-plot": name },
    el("figcaption", {}, title),
    parts[name],
    parts[`${name}-reading`],
    el("p", { class: "caption" }, defined(CAPTIONS[name])),
    exports({ node: parts[name], name }),
  );
}

/** What theory says, in sentences below the plots. */
function interpret(at) {
  const reading = predicted.reading;
  const computed = predicted.function;
  const told = {
    neurons: reading?.neurons[at],
    alignment: reading?.alignment,
    errors: reading?.errors,
    network: predicted.network?.[at],
    function: computed?.reading ? computed.reading[known(computed, at)] : computed?.complaint,
  };
  for (const [name, sentence] of Object.entries(told))
    parts[`${name}-reading`].textContent = sentence ?? "";
}

/** How far the setting is from the nearest limit of the theory that serves it. */
function nearest({ nearest: limit, theory }) {
  if (!theory) return "";
  if (!limit) return "This setting is far from every limit of theory.";
  const { name, value, bound, upper } = limit;
  const covered = `${name} ${upper ? "at most" : "at least"} ${number(bound)}`;
  return `The nearest limit of this theory: ${covered}. Here: ${number(value)}.`;
}

function sizes(setting, shares) {
  const steps = setting.step_size.map((size) => number(size, 3));
  const equal = new Set(steps).size === 1;
  const size = equal ? steps[0] : steps.slice(0, 4).join(", ");
  const share = equal && shares.length ? ` (${number(shares[0], 2)} × giant)` : "";
  const step = steps.length ? `, step size ${size}${share}` : "";
  return `d = ${number(setting.d)}, n = ${number(setting.n)}, p = ${setting.p}${step}`;
}

/** What flies from step to step: the neurons in the plane, and the network. */
async function drawNeurons(at) {
  if (predicted === null || predicted.other) return;
  if (Math.ceil(at) >= predicted.recorded.length) return;
  const { clientWidth: width, clientHeight: height } = parts.network;
  const drawable = predicted.neurons && width > 0;
  replace(parts.network, drawable ? network(predicted, at, { width, height }) : null);
  await neurons(parts.neurons, predicted, measured, at);
}

async function draw() {
  if (predicted === null) return null;
  const at = parts.player.step();
  parts.flight.jump(at);
  if (predicted.other) return parts.sides.draw([measured, otherMeasured], at);
  interpret(at);
  return Promise.all([
    drawNeurons(at),
    alignment(parts.alignment, predicted, measured),
    errors(parts.errors, predicted, measured),
    functions(parts.function, predicted, at),
  ]);
}

/** The player shows another step. */
function moved() {
  if (predicted === null) return;
  if (predicted.other) {
    draw();
    return;
  }
  const at = parts.player.step();
  interpret(at);
  functions(parts.function, predicted, at);
  parts.flight.to(at);
}

function tell(dragging) {
  const { setting, giant_shares: shares, complaint: objection, cost } = predicted;
  parts.asked.write(predicted.formulas);
  parts.sizes.textContent = sizes(setting, shares);
  parts.sizes.classList.remove("old");
  // What would move the plots waits until the control is released.
  if (dragging) return;
  parts.cost.textContent = cost.seconds
    ? `Simulating ${many(setting.runs, "run")}${predicted.other ? " of each setting" : ""} takes ${duration(cost.seconds)}.`
    : `This cannot be simulated here: ${cost.message}.`;
  parts.runner.cost(cost);
  parts.regime.hidden = objection === null;
  replace(
    parts.regime,
    el("strong", {}, "No theory covers this setting. "),
    `${objection ?? ""}. `,
    cost.seconds ? "You can still run the simulation." : "",
  );
  if (!predicted.draft) parts.nearest.textContent = nearest(predicted);
  notes(parts.notes, "Notes", predicted.notes);
}

/** A sentence where the mistake is: in a line, below a control, or above the answer. */
function refuse(problem) {
  const shown = parts.asked.mark(problem);
  parts.problem.say(shown ? "" : problem?.message);
  parts.answer.classList.toggle("stale", problem !== null);
}

/** Theory takes long: what is drawn of it stays, and it is computed on where that is wanted. */
function wait(problem, drafted) {
  const rest = drafted ? "The plots show a draft" : "There is no prediction yet";
  parts.problem.say(`${problem.message}. ${rest}.`, () => predict(true));
  if (drafted) parts.theory.textContent = "A draft.";
  else if (predicted?.pending) show({ ...predicted, pending: false }, "No prediction yet.");
  else parts.answer.classList.add("stale");
}

/** What the server said of the setting, drawn; the words around the plots later, where it is dragged. */
function show(found, words, dragging = false) {
  predicted = found;
  parts.sides.show(found.other ? found : null);
  const revealed = parts.plots.hidden;
  parts.plots.hidden = false;
  parts.single.forEach((node) => (node.hidden = Boolean(found.other)));
  if (revealed) page.revealed();
  parts.theory.textContent = words;
  parts.plots.classList.toggle("draft", Boolean(found.draft));
  parts.player.steps(predicted.recorded);
  tell(dragging);
  return draw();
}

/** The setting of the controls, and the second one where two are side by side. */
const wanted = () => ({ setting: fields(), ...sideRequest() });

const ask = (request) => api.call(request.other ? "beside" : "predict", request);

// The request whose draft was drawn while a control was dragged.
let followed = "";

/** Drafts that follow a slider while it is dragged. */
const following = newest(
  (asked) => ask({ ...asked, draft: true, patient: false }),
  async (found, asked) => {
    followed = JSON.stringify(asked);
    await show(found, found.draft ? "This is a draft." : `Theory of ${found.theory} networks.`, true);
  },
);

/** A draft at once, then the whole prediction in its place; floors first where theory is slow. */
async function predict(patient = false) {
  const begun = performance.now();
  const asked = wanted();
  const { setting } = asked;
  const mine = (turn += 1);
  following.stop();
  // A draft that was drawn on the way to where a slider is released is not asked for again.
  const there = followed === JSON.stringify(asked) && predicted.theory !== null;
  followed = "";
  let drawn = there;
  if (patient) parts.problem.say("");
  parts.waiting.begin(async () => {
    // Of two settings nothing is drawn before their prediction.
    if (!drawn && asked.other) parts.answer.classList.add("stale");
    if (drawn || asked.other) return;
    const frame = await api.call("frame", { setting }).catch(() => null);
    if (mine !== turn || drawn || !frame) return;
    refuse(null);
    show({ ...frame, pending: true }, "Theory is being computed.");
  });
  if (there) {
    tell(false);
    page.say(`Predicted in ${Math.round(performance.now() - begun)} ms.`);
  }
  try {
    for (const draft of there ? [false] : [true, false]) {
      const found = await ask({ ...asked, draft, patient });
      if (mine !== turn) return; // one setting and two have slots of their own
      drawn = true;
      refuse(null);
      if (found.theory === null) {
        show(found, "No prediction.");
        page.say("No prediction.");
        break;
      }
      const kind = found.draft ? " This is a draft, which is being refined." : "";
      // The whole of it is asked for when the draft is seen: the two would share the processor.
      await show(found, `Theory of ${found.theory} networks.${kind}`);
      if (mine !== turn) return;
      if (draft) page.say(`Predicted in ${Math.round(performance.now() - begun)} ms.`);
      if (!found.draft) break; // the server has no draft of this setting
    }
  } catch (problem) {
    if (mine !== turn) return;
    if (problem.slow) wait(problem, drawn);
    else refuse(problem);
    page.say("");
    drawn = true;
  }
  parts.waiting.end();
}

function stopped() {
  turn += 1; // a draft that is being drawn is not refined either
  api.drop(beside() ? "beside" : "predict");
  parts.theory.textContent = predicted?.theory
    ? "Stopped. This is a draft."
    : "Stopped before there was a prediction.";
}

// A target is predicted at every keystroke: after the last one.
const soon = debounced(120, () => predict());

/** What the runs say as they come in. */
const handlers = {
  frame(frame) {
    const begun = { ...frame, runs: [], steps: null };
    if (frame.side === 1) otherMeasured = begun;
    else measured = begun;
    judge(parts.verdict, null);
  },
  run({ run, steps, neurons: places, side = 0 }) {
    const held = side === 1 ? otherMeasured : measured;
    held.runs[run] = places;
    held.steps = steps;
    soonDrawn();
  },
  result({ sides: both, difference, ...found }) {
    measured = { ...measured, ...found, ...both?.[0], runs: measured.runs };
    if (both) otherMeasured = { ...otherMeasured, ...both[1], runs: otherMeasured.runs };
    if (difference) parts.sides.say(difference);
    judge(parts.verdict, found);
    draw();
    // The verdict is of the whole prediction, which took too long to be drawn so far.
    if (predicted?.draft && parts.problem.node.classList.contains("slow")) predict(true);
  },
};

// Runs may come in faster than plots can be drawn.
const soonDrawn = onceAFrame(draw);

export default {
  id: "narrow",
  title: "Few neurons",
  plots: true,
  live: true,

  mount(root, given) {
    page = given;
    parts.asked = controls(page.vocabulary);
    parts.player = player(moved);
    parts.flight = flight(drawNeurons);
    parts.runner = runner({
      kind: "learn",
      request: wanted,
      on: handlers,
      page,
    });
    for (const name of ["neurons", "function", "alignment", "errors"])
      parts[name] = el("div", { class: "plot" });
    parts.network = el("div", { class: "drawing whole" });
    new ResizeObserver(onceAFrame(() => drawNeurons(parts.flight.at()))).observe(parts.network);
    parts.problem = complaint();
    parts.waiting = waiting("Theory is being computed", stopped);
    parts.verdict = el("div", { class: "verdict", role: "status", hidden: true });
    parts.regime = el("p", { class: "regime", hidden: true });
    parts.sizes = el("p", { class: "sizes" });
    parts.cost = el("small");
    parts.theory = el("small");
    parts.nearest = el("small");
    parts.notes = el("div");
    parts.side = sideControl();
    parts.sides = sides();
    parts.single = [
      figure("neurons", "Where the neurons point"),
      figure("function", "What the network computes"),
      figure("network", "The network"),
      figure("alignment", "What each step has learned"),
      figure("errors", "The error after each step"),
    ];
    parts.answer = el(
      "div",
      { class: "answer" },
      el(
        "div",
        { class: "card" },
        parts.asked.printed,
        parts.runner.node,
        el("div", { class: "slot" }, parts.waiting.node, parts.problem.node),
        parts.sizes,
        parts.cost,
        parts.regime,
      ),
      (parts.plots = el(
        "div",
        { class: "plots", hidden: true },
        parts.verdict,
        parts.player.node,
        parts.sides.node,
        parts.single,
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
            data: () => ({ predicted, measured, otherMeasured }),
          }),
        ),
      )),
    );
    parts.asked.node.querySelector(".control").after(parts.side.node);
    replace(root, parts.asked.node, parts.answer);
    this.update(new Set([KEY]));
  },

  update(changed, dragging = false) {
    parts.asked.show();
    parts.side.show();
    parts.verdict.classList.toggle("both", beside());
    const typed = changed.has("target") || changed.has("activation");
    if (!typed && ![...changed].some((key) => /^(narrow|side)\./.test(key))) return;
    parts.runner.stop("Cancelled: the setting has changed.");
    measured = null;
    otherMeasured = null;
    judge(parts.verdict, null);
    if (dragging) {
      turn += 1; // a prediction of the setting before is not refined
      parts.waiting.end();
      following.ask(wanted());
      return;
    }
    turn += 1; // what was asked of the setting before is not shown any more
    parts.sizes.classList.add("old");
    // A scene of the tour shows its own plots or none, never those of the scene before.
    if (state.get("tour")) parts.plots.hidden = true;
    if (typed) soon();
    else predict();
  },
};
