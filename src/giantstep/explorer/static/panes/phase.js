// The phase diagram: two axes, the map of theory at once, measured cells on it as they are computed.

import * as api from "../api.js";
import * as state from "../state.js";
import { choice, mark, slider, text } from "../parts/controls.js";
import { debounced, el, number, onceAFrame, readable, replace, table } from "../parts/dom.js";
import { exports } from "../parts/exports.js";
import { targetAndActivation } from "../parts/expression.js";
import { complaint } from "../parts/notes.js";
import { runner } from "../parts/runner.js";
import { waiting } from "../parts/waiting.js";
import { cut, diagram } from "./phase_plots.js";

const KEY = "phase.";
const AXIS_KEYS = ["x", "xs", "y", "ys", "show", "stored", "slice"];
const SHOWN = {
  alignment: "alignment with the target",
  test_error: "test error of the readout",
  train_error: "train error of the readout",
  norm: "length of the rows",
};

const parts = {};
const fixed = {};
let map = null;
let cells = new Map();
let page = null;
let turn = 0;

const stored = () => state.get("phase.stored") !== "";
const axisNamed = (name) => page.vocabulary.axes.find((axis) => axis.name === name);

/** What is asked of the server: fields, axes, and what is shown. */
function request() {
  const chosen = [
    ["x", "xs"],
    ["y", "ys"],
  ].map(([axis, values]) => ({
    field: axisNamed(state.get(KEY + axis))?.field ?? state.get(KEY + axis),
    values: state.get(KEY + values),
  }));
  const own = new Set([...AXIS_KEYS, ...chosen.map((axis) => axis.field)]);
  const fields = Object.entries(state.under(KEY)).filter(([name]) => !own.has(name));
  return {
    setting: Object.fromEntries(fields),
    axes: chosen,
    show: state.get("phase.show"),
  };
}

/** The cells of the places that are shown, as rows along the second axis. */
function rows() {
  const others = state.get("phase.slice").split(",").map(Number);
  const [x, y] = map.axes;
  const at = (i, j) =>
    cells.get([i, ...(y ? [j] : []), ...map.axes.slice(2).map((_, k) => others[k] || 0)].join());
  return (y?.texts ?? [""]).map((_, j) => x.texts.map((__, i) => at(i, j) ?? null));
}

function draw() {
  if (map === null) return;
  const shown = rows();
  diagram(parts.map, map, shown);
  cut(parts.cut, map, shown);
  const none = shown.flat().filter((cell) => cell?.told && cell.predicted === null);
  parts.regime.hidden = none.length === 0;
  replace(
    parts.regime,
    el("strong", {}, "Outside the theory's regime "),
    `in ${none.length} of ${shown.flat().length} cells, left empty: ${none[0]?.no_prediction ?? ""}`,
  );
  parts.theories.textContent = theoriesOf(shown.flat());
  parts.reading.textContent = reading(shown.flat());
  const lost = shown.flat().filter((cell) => cell?.failure);
  parts.failed.say(lost.length ? `${lost.length} cells failed: ${lost[0].failure}` : "");
  if (parts.numbers.open) replace(parts.table, numbersOf(shown));
}

/** How many cells theory finds above half of the largest cosine, or between which values others lie. */
function reading(shown) {
  const values = shown.map((cell) => cell?.predicted).filter((value) => typeof value === "number");
  if (!values.length || shown.some((cell) => !cell?.told)) return "";
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (map.level === null)
    return `Theory predicts values from ${number(low)} to ${number(high)}: ${map.title}.`;
  const learned = values.filter((value) => value >= map.level * high).length;
  return `Theory predicts at least half of the largest cosine, ${number(high)}, in ${learned} of ${values.length} cells. Their edge is the line in the map.`;
}

/** Which theories the cells come from, and that a line divides them where there are several. */
function theoriesOf(shown) {
  const names = shown.filter((cell) => cell?.told && cell.theory).map((cell) => cell.theory);
  const kinds = [...new Set(names)];
  const counted = kinds.map((kind) => {
    const count = names.filter((name) => name === kind).length;
    return `${kind} networks (${count} ${count === 1 ? "cell" : "cells"})`;
  });
  if (kinds.length === 0) return "";
  if (kinds.length === 1) return `Theory of ${kinds[0]} networks in every cell.`;
  return `Theories: ${counted.join(", ")}. The dotted line is where another theory takes over.`;
}

function numbersOf(shown) {
  const line = (cell) => {
    const spread = cell.standard_error === null ? "" : ` ± ${number(cell.standard_error, 2)}`;
    const at = Object.entries(cell.at)
      .map(([field, value]) => `${field} = ${value}`)
      .join(", ");
    const values = [
      number(cell.predicted),
      cell.mean === null ? "–" : `${number(cell.mean)}${spread}`,
      cell.runs || "–",
    ];
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, at),
      values.map((value) => el("td", {}, value)),
    );
  };
  const titles = ["Cell", "theory", "runs", "number of runs"];
  return table(titles, shown.flat().filter(Boolean).map(line));
}

// Cells come in faster than plots can be drawn.
const soonDrawn = onceAFrame(draw);

/** Titles in words for what the server names. */
function titled(found) {
  const known = (axis, k) => {
    const chosen = stored() ? null : axisNamed(state.get(k === 0 ? "phase.x" : "phase.y"));
    const words =
      chosen?.field === axis.name
        ? `${chosen.words}${chosen.symbol ? `: ${chosen.symbol}` : ""}`
        : axis.label;
    return { ...axis, title: words, texts: axis.texts.map(readable) };
  };
  return {
    ...found,
    axes: found.axes.map(known),
    title: SHOWN[found.show] ?? found.show.replaceAll("_", " "),
  };
}

function keep(found, fill) {
  for (const cell of found) {
    const key = cell.place.join();
    const before = cells.get(key);
    cells.set(key, before ? fill(before, cell) : { ...cell, told: false, ...fill(cell, cell) });
  }
}

const theory = (before, cell) => ({
  ...before,
  predicted: cell.predicted,
  theory: cell.theory,
  no_prediction: cell.no_prediction,
  told: true,
});
const runs = (before, { mean, standard_error: error, p_value, runs: count, failure }) => ({
  ...before,
  mean,
  standard_error: error,
  p_value,
  runs: count,
  failure,
});

/** The map of theory, coarse first: part by part until it is whole. */
async function predict(patient = false) {
  const mine = (turn += 1);
  const begun = performance.now();
  const asked = request();
  let first = 0;
  cells = new Map();
  parts.waiting.begin(async () => {
    const frame = first === 0 ? await api.call("map", asked).catch(() => null) : null;
    if (mine !== turn || first > 0 || frame === null) return;
    map = titled(frame);
    parts.answer.classList.remove("stale");
    draw();
  });
  parts.answer.setAttribute("aria-busy", "true");
  try {
    for (;;) {
      const found = await api.call("phase", { ...asked, first, patient });
      if (mine !== turn) return;
      if (first === 0) page.say(`First cells in ${Math.round(performance.now() - begun)} ms.`);
      map = titled(found);
      keep(found.cells, theory);
      parts.lines.write(found.formulas);
      parts.runner.cost(found.cost);
      refuse(null);
      parts.answer.classList.remove("stale");
      first = found.done;
      parts.waiting.share(found.done, found.total);
      draw();
      if (found.done >= found.total) break;
    }
  } catch (problem) {
    if (mine !== turn) return;
    refuse(problem);
    if (!problem.slow) parts.answer.classList.add("stale");
  }
  parts.waiting.end();
  parts.answer.setAttribute("aria-busy", "false");
}

/** A sweep of the folder, as it was written. */
async function open(name) {
  const mine = (turn += 1);
  parts.waiting.end();
  try {
    const found = await api.call("sweep", { name });
    if (mine !== turn) return;
    map = titled(found);
    cells = new Map();
    keep(found.cells, (before) => ({ ...before, told: true }));
    refuse(null);
    parts.answer.classList.remove("stale");
    slices();
    const setting = Object.entries(found.setting).map(([field, value]) => `${field} = ${value}`);
    parts.setting.textContent = `Setting: ${setting.join(", ")}`;
    draw();
    page.say(`Opened the sweep ${name}.`);
  } catch (problem) {
    if (mine !== turn) return;
    refuse(problem);
    parts.answer.classList.add("stale");
  }
}

/** A menu for each further axis of a stored sweep. */
function slices() {
  const chosen = state.get("phase.slice").split(",");
  const menus = map.axes.slice(2).map((axis, k) => {
    const menu = el(
      "select",
      {
        onchange: () => {
          const places = map.axes.slice(2).map((_, at) => chosen[at] || "0");
          places[k] = menu.value;
          state.set({ "phase.slice": places.join(",") });
        },
      },
      axis.texts.map((value, index) => el("option", { value: index }, value)),
    );
    menu.value = chosen[k] || "0";
    return el("label", {}, `${axis.title} `, menu);
  });
  replace(parts.slices, menus);
}

/** A sentence where the mistake is: in a line, below a control, or above the answer. */
function refuse(problem) {
  const shown = [parts.lines.mark(problem), mark(parts.asked, problem)].some(Boolean);
  const onward = problem?.slow ? () => predict(true) : null;
  parts.problem.say(problem === null || shown ? "" : problem.message, onward);
}

const soon = debounced(150, () => predict());

function stop() {
  turn += 1;
  api.drop("phase");
  parts.answer.setAttribute("aria-busy", "false");
  page.say("Stopped; the cells that are there stay.");
}

const handlers = {
  cell(cell) {
    keep([cell], runs);
    soonDrawn();
  },
  result(found) {
    parts.exponents.hidden = found.exponents.length === 0;
    const told = found.exponents.map(({ place, exponent, interval, predicted }) => {
      const at = Object.entries(place)
        .map(([name, value]) => `${name} = ${value}`)
        .join(", ");
      const said = predicted === null ? "" : `, theory of the mean ${number(predicted, 2)}`;
      return el(
        "li",
        {},
        `${at}: d^${number(exponent, 2)} (${number(interval[0], 2)} to ${number(interval[1], 2)}${said})`,
      );
    });
    const title = el("summary", {}, "Exponents in d, of the median of the runs");
    replace(parts.exponents, title, el("ul", {}, told));
    draw();
  },
};

async function listSweeps() {
  const found = await api.call("sweeps").catch(() => ({ folder: null, sweeps: [] }));
  parts.stored.hidden = found.folder === null;
  if (found.folder === null) return;
  const menu = el(
    "select",
    {
      id: "phase-stored",
      onchange: () => state.set({ "phase.stored": menu.value, "phase.slice": "" }),
    },
    el(
      "option",
      { value: "" },
      found.sweeps.length ? "none: compute here" : "none in this folder yet",
    ),
    found.sweeps.map((name) => el("option", { value: name }, name === "." ? found.folder : name)),
  );
  menu.value = state.get("phase.stored");
  parts.menu = menu;
  replace(
    parts.stored,
    el("label", { for: "phase-stored" }, "Stored sweep"),
    menu,
    el("small", {}, `of the folder ${found.folder}, written by giantstep sweep`),
  );
}

function declare() {
  const [x, y] = ["n-power", "d"].map(axisNamed);
  state.declare({
    "phase.x": x.name,
    "phase.xs": x.values,
    "phase.y": y.name,
    "phase.ys": y.values,
    "phase.show": "alignment",
    "phase.stored": "",
    "phase.slice": "",
    // Leap 2 and a large step: what is learned turns from nothing to nearly all around n = d^2.
    "phase.target": "x1*x2",
    "phase.activation": "relu",
    "phase.d": 200,
    "phase.n": "4d",
    "phase.p": 8,
    "phase.steps": 1,
    "phase.step_size": "8*giant",
    "phase.batches": "fresh",
    "phase.noise": 0,
    "phase.runs": 4,
    "phase.seed": 0,
  });
}

function controls() {
  const { axes, batches } = page.vocabulary;
  const options = axes.map((axis) => [
    axis.name,
    `${axis.words}${axis.symbol ? ` (${axis.symbol})` : ""}`,
  ]);
  const help = "a list, LOW..HIGH:COUNT, or LOW..HIGH:COUNT log";
  Object.assign(fixed, {
    d: slider("phase.d", {
      words: "Inputs",
      symbol: "d",
      from: 10,
      to: 1e6,
      log: true,
      whole: true,
    }),
    n: text("phase.n", { words: "Samples of a step", symbol: "n", help: "a number, 4d, d^1.5" }),
    p: slider("phase.p", {
      words: "Neurons",
      symbol: "p",
      from: 2,
      to: 64,
      log: true,
      whole: true,
    }),
    steps: slider("phase.steps", {
      words: "Giant steps",
      symbol: "T",
      from: 1,
      to: 6,
      whole: true,
    }),
    step_size: text("phase.step_size", {
      words: "Step size",
      symbol: "η",
      help: "giant, a number, p*d^0.5",
    }),
    batches: choice("phase.batches", {
      words: "Batches",
      options: batches.filter((name) => ["fresh", "reused"].includes(name)),
    }),
    noise: slider("phase.noise", {
      words: "Label noise",
      symbol: "standard deviation",
      from: 0,
      to: 3,
    }),
  });
  const shared = () =>
    state.set({ "phase.target": state.get("target"), "phase.activation": state.get("activation") });
  return [
    ...parts.lines.nodes,
    el(
      "p",
      { class: "row" },
      el("small", {}, "This pane has a target of its own."),
      el("button", { type: "button", class: "export", onclick: shared }, "Use the target of the other panes"),
    ),
    choice("phase.x", { words: "Across", field: "axes", options }),
    text("phase.xs", { words: "Values across", field: "axes", help }),
    choice("phase.y", { words: "Upwards", field: "axes", options }),
    text("phase.ys", { words: "Values upwards", field: "axes", help }),
    choice("phase.show", { words: "Shown", field: "show", options: Object.entries(SHOWN) }),
    slider("phase.runs", { words: "Runs in each cell", from: 1, to: 16, whole: true }),
    el(
      "details",
      {},
      el("summary", {}, "What stays the same"),
      Object.values(fixed),
      text("phase.seed", { words: "Seed", mode: "numeric" }),
    ),
  ];
}

export default {
  id: "phase",
  title: "Phase diagram",
  plots: true,

  mount(root, given) {
    page = given;
    declare();
    parts.runner = runner({
      kind: "cells",
      request,
      on: handlers,
      page,
      words: "Measure the cells",
    });
    parts.lines = targetAndActivation(page.vocabulary, KEY);
    parts.problem = complaint();
    parts.failed = complaint();
    parts.waiting = waiting("Theory of the map", stop);
    parts.map = el("div", { class: "plot tall" });
    parts.cut = el("div", { class: "plot" });
    parts.regime = el("p", { class: "regime", hidden: true });
    parts.reading = el("p", { class: "reading" });
    parts.theories = el("small", { class: "theories" });
    parts.stored = el("div", { class: "control", hidden: true });
    parts.setting = el("p", { class: "sizes", hidden: true });
    parts.slices = el("div", { class: "row" });
    parts.exponents = el("details", { class: "notes", hidden: true });
    parts.table = el("div", {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "Numbers of the cells",
    });
    parts.numbers = el(
      "details",
      { class: "notes", ontoggle: () => draw() },
      el("summary", {}, "Numbers as a table"),
      parts.table,
    );
    parts.reproduced = exports({
      name: "phase",
      lines: { toml: "sweep-toml", python: "sweep-python" },
      request,
      job: () => parts.runner.job(),
    });
    parts.computed = el("div", {}, controls());
    parts.asked = el(
      "div",
      { class: "card asked" },
      el("h2", {}, "Two axes"),
      parts.stored,
      parts.setting,
      parts.computed,
    );
    parts.answer = el(
      "div",
      { class: "answer" },
      el(
        "div",
        { class: "card" },
        parts.lines.printed,
        parts.runner.node,
        parts.waiting.node,
        parts.problem.node,
        parts.failed.node,
        parts.regime,
        parts.slices,
      ),
      el(
        "figure",
        { class: "card" },
        el("figcaption", {}, "Phase diagram"),
        parts.map,
        el(
          "small",
          {},
          "Cell colour: theory. Disc colour: simulation. Same colour means agreement. Point at a cell for its numbers.",
        ),
        parts.reading,
        parts.theories,
        exports({ node: parts.map, name: "phase-diagram" }),
      ),
      el(
        "figure",
        { class: "card" },
        el("figcaption", {}, "Along the first axis"),
        parts.cut,
        el("small", {}, "Each line is one row of the map, predicted by theory. Points are simulations, with bars of two standard errors."),
        exports({ node: parts.cut, name: "phase-cut" }),
        parts.numbers,
        parts.exponents,
        el(
          "div",
          { class: "row exports" },
          parts.reproduced,
          exports({ name: "phase", data: () => ({ map, cells: [...cells.values()] }) }),
        ),
      ),
    );
    replace(root, parts.asked, parts.answer);
    listSweeps();
    this.update(new Set([KEY]));
  },

  update(changed) {
    for (const [axis, values] of [
      ["phase.x", "phase.xs"],
      ["phase.y", "phase.ys"],
    ]) {
      if (changed.has(axis) && !changed.has(values)) {
        state.set({ [values]: axisNamed(state.get(axis)).values });
        return;
      }
    }
    const taken = ["phase.x", "phase.y"].map((key) => axisNamed(state.get(key))?.field);
    for (const [field, node] of Object.entries(fixed)) node.hidden = taken.includes(field);
    parts.computed.hidden = stored();
    parts.setting.hidden = !stored();
    parts.runner.node.hidden = stored();
    // What made a stored sweep is in its own folder.
    parts.reproduced.hidden = stored();
    if (parts.menu) parts.menu.value = state.get("phase.stored");
    parts.lines.show();
    if (changed.size === 1 && changed.has("phase.slice")) {
      draw();
      return;
    }
    const typed = changed.has("phase.target") || changed.has("phase.activation");
    if (![...changed].some((key) => key.startsWith(KEY))) return;
    parts.runner.stop("Cancelled: the axes have changed.");
    parts.exponents.hidden = true;
    replace(parts.slices);
    if (stored()) open(state.get("phase.stored"));
    else if (typed) soon();
    else predict();
  },
};
