// The three plots of the narrow pane, from what the server sent.

import { plot } from "../plots.js";
import { subscripts } from "../parts/dom.js";

const MARKS = ["circle", "square", "diamond", "triangle-up", "cross", "star"];

const measuredSteps = (measured) => measured?.steps ?? null;

/** Neurons in the plane up to a step, with the way they came; crosses are the prediction. */
export function neurons(node, predicted, measured, at) {
  const names = predicted.plane.map(subscripts);
  const single = names.length === 1;
  const recorded = predicted.recorded;
  const points = (run, step) => run[step].map((place) => (single ? [recorded[step], place[0]] : place));
  const words = `Neurons after step ${recorded[at]}: cosines with ${names.join(" and ")}`;
  return plot(node, words, (colour) => {
    const data = [];
    const cloud = (runs, steps, style) => {
      const places = runs.flatMap((run) => steps.flatMap((step) => points(run, step)));
      data.push({ x: places.map((p) => p[0]), y: places.map((p) => p[1]), type: "scatter", hovertemplate: "(%{x:.3f}, %{y:.3f})", ...style });
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
      data.push({ ...ways(runs.slice(0, 8)), type: "scatter", mode: "lines", line: { color: colour.measured, width: 1 }, opacity: 0.35, hoverinfo: "skip", showlegend: false });
      cloud(runs, [at], { mode: "markers", name: runs.length === 1 ? "neurons of one run" : `neurons of ${runs.length} runs`, marker: { color: colour.measured, size: 8, opacity: 0.7, line: { color: colour.card, width: 1 } } });
    }
    if (predicted.neurons) {
      if (!runs.length) {
        data.push({ ...ways(predicted.neurons.slice(0, 1)), type: "scatter", mode: "lines", line: { color: colour.theory, width: 1 }, opacity: 0.4, hoverinfo: "skip", showlegend: false });
      }
      cloud(predicted.neurons, [at], { mode: "markers", name: "theory", marker: { color: colour.theory, symbol: "cross-thin", size: 12, line: { color: colour.theory, width: 2 } } });
    }
    const range = [-1.08, 1.08];
    const layout = single
      ? { xaxis: { title: { text: "giant steps t" }, range: [-0.3, recorded.at(-1) + 0.3], tickvals: recorded.length < 12 ? recorded : undefined }, yaxis: { title: { text: `cosine with ${names[0]}` }, range } }
      : {
          xaxis: { title: { text: `cosine with ${names[0]}` }, range, constrain: "domain" },
          yaxis: { title: { text: `cosine with ${names[1]}` }, range, scaleanchor: "x" },
          shapes: [{ type: "circle", x0: -1, x1: 1, y0: -1, y1: 1, line: { color: colour.line } }],
        };
    return { data, layout };
  });
}

/** Median cosines with each subspace: theory as lines, runs as points with two standard errors. */
export function alignment(node, predicted, measured) {
  const steps = measuredSteps(measured);
  return plot(node, "Median cosine of the neurons with each subspace, step by step", (colour) => {
    const data = predicted.subspaces.flatMap((title, index) => {
      const shade = colour.series[index % colour.series.length];
      const name = subscripts(title);
      const found = [];
      if (predicted.steps) {
        found.push({ x: predicted.recorded, y: predicted.steps.map((step) => step.median_cosines[index].mean), type: "scatter", mode: "lines", name: `theory: ${name}`, line: { color: shade, width: 2 } });
      }
      if (steps) {
        const values = steps.map((step) => step.median_cosines[index]);
        found.push({
          x: measured.recorded,
          y: values.map((value) => value.mean),
          error_y: { type: "data", array: values.map((value) => 2 * (value.standard_error ?? 0)), color: shade, thickness: 1.5 },
          type: "scatter",
          mode: "markers",
          name: `runs: ${name}`,
          marker: { color: shade, symbol: MARKS[index % MARKS.length], size: 9 },
        });
      }
      return found;
    });
    return { data, layout: axes(predicted, "median cosine of the neurons", { range: [0, 1.05] }) };
  });
}

const ERRORS = [
  ["test_error", "readout, test", "circle", "solid", "measured"],
  ["train_error", "readout, train", "square", "dot", "faint"],
  ["network_error", "network itself", "triangle-up", "dash", "floor"],
];

/** Errors step by step over the floors that no readout beats. */
export function errors(node, predicted, measured) {
  const steps = measuredSteps(measured);
  return plot(node, "Mean squared errors step by step, and floors", (colour) => {
    const data = [];
    for (const [key, words, symbol, dash, shade] of ERRORS) {
      if (predicted.steps?.some((step) => key in step)) {
        data.push({ x: predicted.recorded, y: predicted.steps.map((step) => step[key]?.mean ?? null), type: "scatter", mode: "lines", name: `theory: ${words}`, line: { color: colour.theory, dash, width: 1.8 } });
      }
      if (steps?.some((step) => key in step)) {
        const values = steps.map((step) => step[key]);
        data.push({
          x: measured.recorded,
          y: values.map((value) => value?.mean ?? null),
          error_y: { type: "data", array: values.map((value) => 2 * (value?.standard_error ?? 0)), color: colour[shade], thickness: 1.5 },
          type: "scatter",
          mode: "markers",
          name: `runs: ${words}`,
          marker: { color: colour[shade], symbol, size: 9 },
        });
      }
    }
    const x = [];
    const y = [];
    predicted.recorded.forEach((step, index) => {
      if (predicted.floors[index] === null) return;
      x.push(step - 0.4, step + 0.4, null);
      y.push(predicted.floors[index], predicted.floors[index], null);
    });
    data.push({ x, y, type: "scatter", mode: "lines", name: "floor: what no readout beats", line: { color: colour.floor, width: 3 }, hovertemplate: "floor %{y:.4g}" });
    return { data, layout: axes(predicted, "mean squared error", { rangemode: "tozero" }) };
  });
}

function axes(predicted, title, y) {
  const { recorded } = predicted;
  const ticks = recorded.length < 12 ? { tickvals: recorded } : {};
  return {
    xaxis: { title: { text: "giant steps t" }, range: [-0.5, recorded.at(-1) + 0.5], ...ticks },
    yaxis: { title: { text: title }, ...y },
  };
}
