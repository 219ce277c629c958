// The three plots of the narrow pane, from what the server sent.

import { plot } from "../plots.js";
import { readable } from "../parts/dom.js";

const MARKS = ["circle", "square", "diamond", "triangle-up", "cross", "star"];

/** Neurons in the plane up to a step, with the way they came; crosses are the prediction. */
export function neurons(node, predicted, measured, at) {
  const names = predicted.plane.map(readable);
  const single = names.length === 1;
  const recorded = predicted.recorded;
  const points = (run, step) =>
    run[step].map((place) => (single ? [recorded[step], place[0]] : place));
  const words = `Neurons after step ${recorded[at]}: cosines with ${names.join(" and ")}`;
  return plot(node, words, (colour) => {
    const data = [];
    const cloud = (runs, steps, style) => {
      const places = runs.flatMap((run) => steps.flatMap((step) => points(run, step)));
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
      for (const run of all) {
        run[0].forEach((_, neuron) => {
          for (let step = 0; step <= at; step += 1) {
            const [a, b] = points(run, step)[neuron];
            x.push(a);
            y.push(b);
          }
          x.push(null);
          y.push(null);
        });
      }
      return { x, y };
    };
    if (runs.length) {
      data.push({
        ...ways(runs.slice(0, 8)),
        type: "scatter",
        mode: "lines",
        line: { color: colour.measured, width: 1 },
        opacity: 0.35,
        hoverinfo: "skip",
        showlegend: false,
      });
      cloud(runs, [at], {
        mode: "markers",
        name: runs.length === 1 ? "neurons of one run" : `neurons of ${runs.length} runs`,
        marker: {
          color: colour.measured,
          size: 8,
          opacity: 0.7,
          line: { color: colour.card, width: 1 },
        },
      });
    }
    if (predicted.neurons) {
      if (!runs.length) {
        data.push({
          ...ways(predicted.neurons.slice(0, 1)),
          type: "scatter",
          mode: "lines",
          line: { color: colour.theory, width: 1 },
          opacity: 0.4,
          hoverinfo: "skip",
          showlegend: false,
        });
      }
      cloud(predicted.neurons, [at], {
        mode: "markers",
        name: "theory",
        marker: {
          color: colour.theory,
          symbol: "cross-thin",
          size: 12,
          line: { color: colour.theory, width: 2 },
        },
      });
    }
    const range = [-1.08, 1.08];
    const layout = single
      ? {
          xaxis: {
            title: { text: "giant steps t" },
            range: [-0.3, recorded.at(-1) + 0.3],
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

/** A draft leaves out what is of order 1/√d, which is 0 in the plot. */
const cosine = (value, draft) => (draft && value?.mean === null ? { ...value, mean: 0 } : value);

/** Median cosines with each subspace. */
export function alignment(node, predicted, measured) {
  return plot(node, "Median cosine of the neurons with each subspace, step by step", (colour) => {
    const data = predicted.subspaces.flatMap((title, index) =>
      curves(predicted, measured, {
        name: readable(title),
        pick: (step) => cosine(step.median_cosines[index], predicted.draft),
        colour: colour.series[index % colour.series.length],
        symbol: MARKS[index % MARKS.length],
      }),
    );
    const layout = axes(predicted, "median cosine of the neurons", { range: [0, 1.05] });
    return { data, layout: { ...layout, annotations: hint(data, predicted, colour) } };
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
export function errors(node, predicted, measured) {
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
    return { data, layout: axes(predicted, "mean squared error", frame(predicted, measured)) };
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

function axes(predicted, title, y) {
  const { recorded } = predicted;
  const ticks = recorded.length < 12 ? { tickvals: recorded } : {};
  return {
    xaxis: { title: { text: "giant steps t" }, range: [-0.5, recorded.at(-1) + 0.5], ...ticks },
    yaxis: { title: { text: title }, ...y },
  };
}
