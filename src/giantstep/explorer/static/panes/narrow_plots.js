// The three plots of the narrow pane, from what the server sent.

import { plot } from "../plots.js";
import { readable } from "../parts/dom.js";
import { between } from "../parts/flight.js";

const MARKS = ["circle", "square", "diamond", "triangle-up", "cross", "star"];

/**
 * Neurons in the plane up to a step, with the way they came; rings are the prediction. ``at`` may lie
 * between two steps, as neurons fly from one to the next.
 */
export function neurons(node, predicted, measured, at, common = []) {
  const names = predicted.plane.map(readable);
  const single = names.length === 1;
  const recorded = predicted.recorded;
  const points = (run, step) =>
    between(run, step).map((place) => (single ? [between(recorded, step), place[0]] : place));
  const words = `Neurons after step ${recorded[Math.round(at)]}: cosines with ${names.join(" and ")}`;
  return plot(node, words, (colour) => {
    const data = [];
    const cloud = (runs, style) => {
      const places = runs.flatMap((run) => points(run, at));
      data.push({
        x: places.map((p) => p[0]),
        y: places.map((p) => p[1]),
        type: "scatter",
        hovertemplate: "(%{x:.3f}, %{y:.3f})",
        ...style,
      });
    };
    const runs = (measured?.runs ?? []).filter(Boolean);
    const ways = (all) => {
      const x = [];
      const y = [];
      const passed = Array.from({ length: Math.floor(at) + 1 }, (_, step) => step);
      if (at > Math.floor(at)) passed.push(at);
      for (const run of all) {
        const way = passed.map((step) => points(run, step));
        run[0].forEach((_, neuron) => {
          for (const places of way) {
            x.push(places[neuron][0]);
            y.push(places[neuron][1]);
          }
          x.push(null);
          y.push(null);
        });
      }
      return { x, y };
    };
    const trail = (all, color, opacity) =>
      data.push({
        ...ways(all),
        type: "scatter",
        mode: "lines",
        line: { color, width: 1 },
        opacity,
        hoverinfo: "skip",
        showlegend: false,
      });
    // Theory lies below the runs: where they agree, a point is in every ring.
    if (predicted.neurons) {
      if (!runs.length) trail(predicted.neurons.slice(0, 1), colour.theory, 0.3);
      cloud(predicted.neurons, {
        mode: "markers",
        name: "theory",
        marker: {
          color: colour.theory,
          symbol: "circle-open",
          size: runs.length ? 8 : 7,
          opacity: runs.length ? 0.4 : 0.9,
        },
      });
    }
    if (runs.length) {
      trail(runs.slice(0, 1), colour.measured, 0.15);
      cloud(runs, {
        mode: "markers",
        name: runs.length === 1 ? "neurons of one run" : `neurons of ${runs.length} runs`,
        marker: { color: colour.measured, size: 4, opacity: 0.8 },
      });
    }
    const range = [-1.15, 1.15];
    const layout = single
      ? {
          xaxis: {
            title: { text: "giant steps t" },
            range: [-0.3, lastStep(predicted, common) + 0.3],
            tickvals: recorded.length < 12 ? recorded : undefined,
          },
          yaxis: { title: { text: `cosine with ${names[0]}` }, range },
        }
      : {
          xaxis: { title: { text: `cosine with ${names[0]}` }, range, constrain: "domain" },
          yaxis: { title: { text: `cosine with ${names[1]}` }, range, scaleanchor: "x" },
          shapes: [{ type: "circle", x0: -1, x1: 1, y0: -1, y1: 1, line: { color: colour.line } }],
        };
    return { data, layout: { ...layout, annotations: hint(data, predicted, colour) } };
  });
}

/** What to wait for, or to do, where there is nothing to draw yet. */
function hint(data, predicted, colour) {
  if (data.length) return [];
  const text = predicted.pending ? "Theory is being computed." : "No prediction. Press Run to simulate.";
  const place = { xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false };
  return [{ ...place, text, font: { color: colour.faint } }];
}

/** A quantity step by step: theory as a line, runs as points with two standard errors. */
function curves(predicted, measured, { name, pick, colour, symbol, dash = "solid" }) {
  const found = [];
  const values = (steps) => steps.map((step) => pick(step) ?? null);
  if (predicted.steps?.some((step) => pick(step))) {
    found.push({
      x: predicted.recorded,
      y: values(predicted.steps).map((value) => value?.mean ?? null),
      type: "scatter",
      mode: "lines",
      name,
      legendgroup: name,
      line: { color: colour, width: 2, dash },
      hovertemplate: "theory %{y:.4g}",
    });
  }
  if (measured?.steps?.some((step) => pick(step))) {
    const points = values(measured.steps);
    found.push({
      x: measured.recorded,
      y: points.map((value) => value?.mean ?? null),
      error_y: {
        type: "data",
        array: points.map((value) => 2 * (value?.standard_error ?? 0)),
        color: colour,
        thickness: 1.5,
      },
      type: "scatter",
      mode: "markers",
      name,
      legendgroup: name,
      showlegend: found.length === 0,
      marker: { color: colour, symbol, size: 9 },
      hovertemplate: "runs %{y:.4g} ± %{error_y.array:.2g}",
    });
  }
  return found;
}

// A cosine from which on a direction is learned.
const LEARNED = 0.1;

/**
 * The cosine of a step with a subspace. A draft leaves out what is of order 1/√d, which is 0 in the
 * plot, as is what lies within the numerical error. Once a direction is learned nothing is put at 0.
 */
function cosineOf({ draft, steps }, index) {
  const told = (value) => value.mean > (value.numerical_error ?? 0);
  const learned = ({ median_cosines: { [index]: value } }) => told(value) && value.mean >= LEARNED;
  const first = steps?.find(learned)?.step ?? Infinity;
  return ({ step, median_cosines: { [index]: value } }) =>
    draft && step < first && !told(value) ? { ...value, mean: 0 } : value;
}

/** The last step of all settings that share an axis. */
const lastStep = (predicted, common) =>
  Math.max(predicted.recorded.at(-1), ...common.map(([found]) => found.recorded.at(-1)));

/** Median cosines with each subspace; ``common`` are pairs [predicted, measured] on the same axes. */
export function alignment(node, predicted, measured, common = []) {
  return plot(node, "Median cosine of the neurons with each subspace, without its sign, step by step", (colour) => {
    const data = predicted.subspaces.flatMap((title, index) =>
      curves(predicted, measured, {
        name: readable(title),
        pick: cosineOf(predicted, index),
        colour: colour.series[index % colour.series.length],
        symbol: MARKS[index % MARKS.length],
      }),
    );
    const layout = axes(predicted, "median |cosine| of the neurons", { range: [0, 1.05] }, common);
    // Plotly names a line that is alone only where it is told to.
    const shown = { showlegend: true, annotations: hint(data, predicted, colour) };
    return { data, layout: { ...layout, ...shown } };
  });
}

const ERRORS = [
  // The last is drawn on top.
  ["network_error", "network itself", "triangle-up", "dash"],
  ["train_error", "readout, train", "square", "dot"],
  ["test_error", "readout, test", "circle", "solid"],
];

/** The lines of one kind of floor, a short one at each step that has it. */
function floorLines(predicted, levels, name, line) {
  const x = [];
  const y = [];
  predicted.recorded.forEach((step, index) => {
    if (levels[index] === null) return;
    x.push(step - 0.4, step + 0.4, null);
    y.push(levels[index], levels[index], null);
  });
  return { x, y, type: "scatter", mode: "lines", name, line, hovertemplate: `${name} %{y:.4g}` };
}

/** Errors step by step over the floors of this activation and of any: lower bounds. */
export function errors(node, predicted, measured, common = []) {
  return plot(node, "Mean squared errors step by step, and floors", (colour) => {
    const data = ERRORS.flatMap(([key, name, symbol, dash], index) =>
      curves(predicted, measured, {
        name,
        pick: (step) => step[key],
        colour: colour.series[ERRORS.length - 1 - index],
        symbol,
        dash,
      }),
    );
    const line = { color: colour.floor, width: 3 };
    data.push(floorLines(predicted, predicted.floors, "floor", line));
    const lower = predicted.floors_any.map((level, k) =>
      level === predicted.floors[k] ? null : level,
    );
    if (lower.some((level) => level !== null)) {
      data.push(
        floorLines(predicted, lower, "floor of any activation", { ...line, dash: "dot" }),
      );
    }
    const shared = common.length ? commonFrame(common) : frame(predicted, measured);
    return { data, layout: axes(predicted, "mean squared error, linear axis", shared, common) };
  });
}

/** Errors of the readout and floors fill the frame; the network itself may be far beyond it. */
function frame(predicted, measured) {
  const steps = [...(predicted.steps ?? []), ...(measured?.steps ?? [])];
  const means = (key) => steps.map((step) => step[key]?.mean ?? 0);
  const top = Math.max(
    ...predicted.floors.map((floor) => floor ?? 0),
    ...means("test_error"),
    ...means("train_error"),
  );
  return Math.max(0, ...means("network_error")) > 3 * top && top > 0
    ? { range: [-0.02 * top, 1.3 * top] }
    : { rangemode: "tozero" };
}

/** One frame for all settings on common axes, from 0 to the largest error of a readout or floor. */
function commonFrame(common) {
  const tops = common.flatMap(([predicted, measured]) =>
    [...(predicted.steps ?? []), ...(measured?.steps ?? [])]
      .flatMap((step) => [step.test_error?.mean ?? 0, step.train_error?.mean ?? 0])
      .concat(predicted.floors.map((floor) => floor ?? 0)),
  );
  const top = Math.max(...tops, 1e-9);
  return { range: [-0.02 * top, 1.1 * top] };
}

function axes(predicted, title, y, common = []) {
  const { recorded } = predicted;
  const last = lastStep(predicted, common);
  const ticks = recorded.length < 12 ? { tickvals: recorded } : {};
  return {
    xaxis: { title: { text: "giant steps t" }, range: [-0.5, last + 0.5], ...ticks },
    yaxis: { title: { text: title }, ...y },
  };
}
