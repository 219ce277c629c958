// The figure of a claim: theory as lines, runs as points with bars of two standard errors.

import { plot } from "../plots.js";

const MARKS = [
  "circle",
  "square",
  "diamond",
  "triangle-up",
  "cross",
  "star",
  "hexagon",
  "pentagon",
  "x",
  "triangle-down",
];
const DASHES = ["solid", "dash", "dot", "dashdot"];

/** The name of a line: the slope that is claimed, or what theory predicts. */
function lineName({ guide, label }) {
  if (guide) return `claimed ${label}, through the first point`;
  return label.startsWith("theory") ? label : `theory: ${label}`;
}

/** Curves, levels and marks as the record has them. */
export function claimPlot(node, shown, words) {
  return plot(node, words, (colour) => {
    const named = new Set();
    let lines = 0;
    let points = 0;
    const data = shown.curves.map((curve) => {
      if (curve.theory) {
        const name = lineName(curve);
        const first = !named.has(name);
        named.add(name);
        const dash = DASHES[lines++ % DASHES.length];
        return {
          x: curve.x,
          y: curve.y,
          type: "scatter",
          mode: "lines",
          name,
          showlegend: first,
          line: { color: colour.theory, width: 2, dash },
          hovertemplate: `${curve.guide ? "claimed slope" : "theory"} %{y:.4g}<extra></extra>`,
        };
      }
      const k = points++;
      const ink = colour.series[k % colour.series.length];
      return {
        x: curve.x,
        y: curve.y,
        error_y: curve.error
          ? {
              type: "data",
              array: curve.error.map((error) => 2 * error),
              color: ink,
              thickness: 1.5,
            }
          : undefined,
        type: "scatter",
        mode: "markers",
        name: curve.label,
        marker: { color: ink, symbol: MARKS[k % MARKS.length], size: 9 },
        hovertemplate: "runs %{y:.4g}<extra></extra>",
      };
    });
    const line = { color: colour.floor, width: 2, dash: "dot" };
    const font = { color: colour.floor, size: 12 };
    const shapes = [
      ...shown.levels.map(({ at }) => ({
        type: "line",
        xref: "paper",
        x0: 0,
        x1: 1,
        y0: at,
        y1: at,
        line,
      })),
      ...shown.marks.map(({ at }) => ({
        type: "line",
        yref: "paper",
        y0: 0,
        y1: 1,
        x0: at,
        x1: at,
        line,
      })),
    ];
    const place = (at, scale) => (scale === "log" ? Math.log10(at) : at);
    const annotations = [
      ...shown.levels.map(({ label, at }) => ({
        text: label,
        xref: "paper",
        x: 1,
        xanchor: "right",
        y: place(at, shown.y_scale),
        yanchor: "bottom",
        showarrow: false,
        font,
      })),
      ...shown.marks.map(({ label, at }) => ({
        text: label,
        yref: "paper",
        y: 0.02,
        yanchor: "bottom",
        x: place(at, shown.x_scale),
        xanchor: "left",
        showarrow: false,
        font,
      })),
    ];
    const measured = [
      ...new Set(shown.curves.filter((curve) => !curve.theory).flatMap((curve) => curve.x)),
    ].sort((a, b) => a - b);
    const ticks =
      measured.length && measured.length < 9
        ? { tickvals: measured, ticktext: measured.map((value) => value.toLocaleString("en")) }
        : {};
    const axis = (label, scale, range, more) => ({
      title: { text: label },
      type: scale,
      ...(range ? { range: range.map((end) => place(end, scale)) } : {}),
      ...(scale === "log" ? { dtick: "D2", tickformat: "~g" } : {}),
      ...more,
    });
    return {
      data,
      layout: {
        shapes,
        annotations,
        xaxis: axis(shown.x_label, shown.x_scale, shown.x_range, ticks),
        yaxis: axis(shown.y_label, shown.y_scale, shown.y_range, {}),
      },
    };
  });
}
