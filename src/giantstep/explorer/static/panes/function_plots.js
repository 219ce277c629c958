// What target and network compute over the first directions of the staircase, side by side.

import { plot } from "../plots.js";
import { readable } from "../parts/dom.js";

const SCALE = "Viridis";
const CONTOURS = 9;
const SHADES = 48;

/** The last step whose function is known, up to the one that is shown: its number in the lists. */
export const known = (found, at) => found.places.findLastIndex((place) => place <= at);

/** Rows of a map run along its second axis: the first coordinate of a surface is the horizontal one. */
const turned = (surface) => surface[0].map((_, j) => surface.map((row) => row[j]));

const ends = (numbers) => [Math.min(...numbers), Math.max(...numbers)];

const after = (predicted, at) => {
  const step = predicted.recorded[at];
  return step === 0 ? "at the start" : `after step ${step}`;
};

/** A sentence in the middle of the plot, where there is nothing to draw. */
function nothing(predicted, colour) {
  const text = predicted.pending ? "Theory is being computed." : "No prediction to draw.";
  const hidden = { visible: false };
  const place = { xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false };
  const annotations = [{ ...place, text, font: { color: colour.faint } }];
  return { data: [], layout: { xaxis: hidden, yaxis: hidden, annotations } };
}

/** Two maps in the same colours, and a strip that explains these. */
function maps(predicted, found, at, colour) {
  const [low, high] = ends(found.target.flat());
  const names = predicted.plane.map(readable);
  const map = (surface, axis) => ({
    type: "contour",
    x: found.grid,
    y: found.grid,
    z: turned(surface),
    xaxis: `x${axis}`,
    yaxis: `y${axis}`,
    zmin: low,
    zmax: high,
    colorscale: SCALE,
    showscale: false,
    autocontour: false,
    contours: { coloring: "heatmap", start: low, end: high, size: (high - low) / CONTOURS },
    line: { width: 0.6, color: colour.card },
    hovertemplate: "(%{x:.2f}, %{y:.2f}): %{z:.3g}",
    name: "",
  });
  const shades = Array.from({ length: SHADES }, (_, k) => low + ((high - low) * (k + 0.5)) / SHADES);
  const strip = {
    type: "heatmap",
    x: [0],
    y: shades,
    z: shades.map((value) => [value]),
    xaxis: "x3",
    yaxis: "y3",
    zmin: low,
    zmax: high,
    colorscale: SCALE,
    showscale: false,
    xgap: 0.01,
    hoverinfo: "skip",
  };
  const range = ends(found.grid);
  const axis = { range, nticks: 5, zeroline: false };
  const title = (text, x) => ({
    text,
    x,
    y: 1,
    xref: "paper",
    yref: "paper",
    xanchor: "center",
    yanchor: "bottom",
    showarrow: false,
  });
  return {
    data: [map(found.target, ""), map(found.network[known(found, at)], "2"), strip],
    layout: {
      margin: { l: 8, r: 12, t: 28, b: 8 },
      xaxis: { ...axis, domain: [0, 0.4], title: { text: names[0] } },
      yaxis: { ...axis, title: { text: names[1] } },
      xaxis2: { ...axis, domain: [0.48, 0.88], title: { text: names[0] } },
      yaxis2: { ...axis, anchor: "x2", showticklabels: false },
      xaxis3: { domain: [0.92, 0.96], visible: false },
      yaxis3: { anchor: "x3", side: "right", range: [low, high], nticks: 5, showgrid: false },
      annotations: [title("target", 0.2), title(`network ${after(predicted, at)}`, 0.68)],
    },
  };
}

/** Two curves over one direction. */
function curves(predicted, found, at, colour) {
  const [low, high] = ends([...found.target, ...found.network.flat()]);
  const margin = 0.05 * (high - low || 1);
  const curve = (y, name, line) => ({
    x: found.grid,
    y,
    name,
    type: "scatter",
    mode: "lines",
    line,
    hovertemplate: "%{y:.3g}",
  });
  return {
    data: [
      curve(found.target, "target", { color: colour.ink, width: 2, dash: "dot" }),
      curve(found.network[known(found, at)], `network ${after(predicted, at)}`, {
        color: colour.theory,
        width: 3,
      }),
    ],
    layout: {
      xaxis: { title: { text: readable(predicted.plane[0]) }, range: ends(found.grid) },
      yaxis: { title: { text: "value" }, range: [low - margin, high + margin] },
    },
  };
}

/** Target and network at a recorded step, as maps over two directions or curves over one. */
export function functions(node, predicted, at) {
  const found = predicted.function;
  const names = predicted.plane.map(readable).join(" and ");
  const words = `Target and network ${after(predicted, at)} over ${names}`;
  return plot(node, words, (colour) => {
    if (!found || found.complaint) return nothing(predicted, colour);
    const draw = predicted.plane.length === 1 ? curves : maps;
    return draw(predicted, found, at, colour);
  });
}
