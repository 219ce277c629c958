// Side by side: the setting of the controls, and the same with one field changed, on common axes.

import * as state from "../state.js";
import { el, replace } from "../parts/dom.js";
import { exports } from "../parts/exports.js";
import { functions, known } from "./function_plots.js";
import { fields } from "./narrow_controls.js";
import { alignment, errors, neurons } from "./narrow_plots.js";

const other = (first, second) => (now) => (now === first ? second : first);

// Fields that can differ: their words, and the value that is offered in place of the present one.
const FIELDS = {
  activation: ["another activation", other("relu", "tanh")],
  batches: ["fresh or reused batches", other("fresh", "reused")],
  target: ["another target", flipped],
  n: ["another number of samples n", other("64d", "0.25d")],
  d: ["another number of inputs d", other("10000", "1000")],
  p: ["another number of neurons p", other("64", "8")],
  steps: ["another number of steps", (now) => String(Number(now) + 1)],
  step_size: ["another step size", other("giant", "3p^1.5")],
  update: ["another update", other("gradient", "normalised")],
  noise: ["another label noise", other("0", "1")],
  bias: ["other biases", other("0", "6")],
};

/** A target with its last sign changed: x1^2 - x2^2 becomes x1^2 + x2^2. */
function flipped(target) {
  const at = Math.max(target.lastIndexOf(" + "), target.lastIndexOf(" - "));
  if (at < 0) return `-(${target})`;
  const sign = target[at + 1] === "+" ? "-" : "+";
  return `${target.slice(0, at)} ${sign} ${target.slice(at + 3)}`;
}

/** Make the keys of the comparison known. */
export const declareSide = () => state.declare({ "side.field": "", "side.value": "" });

/** Whether two settings are shown. */
export const beside = () => state.get("side.field") in FIELDS;

/** The fields of the second setting. */
export const otherFields = () => ({ ...fields(), [state.get("side.field")]: state.get("side.value") });

/** What a request needs besides the first setting; a job is of another kind. */
export const sideRequest = () => (beside() ? { kind: "compare", other: otherFields() } : {});

/** The menu of what differs and the line of its value: {node, show()}. */
export function sideControl() {
  const menu = el(
    "select",
    {
      id: "side-field",
      onchange: () => {
        const offer = FIELDS[menu.value]?.[1];
        const value = offer ? offer(String(fields()[menu.value])) : "";
        state.set({ "side.field": menu.value, "side.value": value });
      },
    },
    el("option", { value: "" }, "Nothing"),
    Object.entries(FIELDS).map(([name, [words]]) => el("option", { value: name }, words)),
  );
  const line = el("input", {
    type: "text",
    "aria-label": "Value on the right",
    spellcheck: "false",
    autocomplete: "off",
    onchange: () => state.set({ "side.value": line.value.trim() }),
  });
  return {
    node: el(
      "div",
      { class: "control", "data-field": "side" },
      el("label", { for: "side-field" }, "Side by side with"),
      menu,
      line,
      el("small", {}, "The second setting differs from the first in one value, which you can edit."),
      el("p", { class: "problem", role: "alert", hidden: true }),
    ),
    show() {
      menu.value = beside() ? state.get("side.field") : "";
      line.hidden = !beside();
      line.value = state.get("side.value");
    },
  };
}

const PLOTS = {
  neurons: "Where the neurons point",
  alignment: "What each step has learned",
  errors: "The error after each step",
  function: "What the network computes",
};

/**
 * The place of the comparison: {node, draw(measured, at), show(found), say(text)}. ``found`` is the
 * answer of the server for both settings; runs of the second are kept here.
 */
export function sides() {
  const names = [0, 1].map(() => el("h3", { class: "side-name" }));
  const sentence = el("p", { class: "reading difference", role: "status" });
  const nodes = {};
  const readings = {};
  const column = (name, k) => {
    nodes[`${name}-${k}`] = el("div", { class: "plot" });
    return el(
      "div",
      { class: "side" },
      el("p", { class: "side-of" }),
      nodes[`${name}-${k}`],
      (readings[`${name}-${k}`] = el("p", { class: "reading" })),
      exports({ node: nodes[`${name}-${k}`], name: `${name}-${k ? "right" : "left"}` }),
    );
  };
  const figures = Object.entries(PLOTS).map(([name, title]) =>
    el(
      "figure",
      { class: "card", "data-plot": name },
      el("figcaption", {}, title),
      el("div", { class: "pair" }, column(name, 0), column(name, 1)),
    ),
  );
  const downloads = [fields, otherFields].map((setting, k) =>
    el("div", {}, names[k], exports({ setting, name: k ? "right" : "left" })),
  );
  const node = el(
    "div",
    { class: "sides", hidden: true },
    el("div", { class: "card" }, el("h2", {}, "Side by side"), sentence),
    figures,
    el("div", { class: "card" }, el("h2", {}, "Download each setting"), el("div", { class: "pair" }, downloads)),
  );
  let predicted = null;

  /** What theory says of one side at a step, below its plots. */
  function tell({ reading, function: computed }, k, at) {
    const told = {
      neurons: reading?.neurons[at],
      alignment: reading?.alignment,
      errors: reading?.errors,
      function: computed?.reading ? computed.reading[known(computed, at)] : computed?.complaint,
    };
    for (const [name, text] of Object.entries(told))
      readings[`${name}-${k}`].textContent = text ?? "";
  }

  /** Draw both columns at a step; ``measured`` are the runs of both. */
  function draw(measured, at) {
    if (predicted === null || node.hidden) return null;
    const both = [predicted, predicted.other];
    const common = both.map((found, k) => [found, measured[k]]);
    both.forEach((found, k) => tell(found, k, Math.min(at, found.recorded.length - 1)));
    return Promise.all(
      both.flatMap((found, k) => [
        neurons(nodes[`neurons-${k}`], found, measured[k], Math.min(at, found.recorded.length - 1), common),
        alignment(nodes[`alignment-${k}`], found, measured[k], common),
        errors(nodes[`errors-${k}`], found, measured[k], common),
        functions(nodes[`function-${k}`], found, Math.min(at, found.recorded.length - 1)),
      ]),
    );
  }

  return {
    node,
    draw,
    /** Take what theory says of both; null hides the comparison. */
    show(found) {
      node.hidden = found === null;
      // Without deviations from run to run, cosines at chance are drawn as 0.
      predicted = found && { ...found, draft: true, other: { ...found.other, draft: true } };
      if (found === null) return;
      for (const [k, name] of found.names.entries()) {
        replace(names[k], name);
        for (const of of node.querySelectorAll(`.side:nth-child(${k + 1}) .side-of`)) replace(of, name);
      }
      const objection = found.other.complaint;
      const none = objection ? `No theory covers the right side. ${objection}.` : "";
      this.say(found.difference ?? none);
    },
    /** What differs, in a sentence. */
    say(text) {
      replace(sentence, text);
    },
  };
}
