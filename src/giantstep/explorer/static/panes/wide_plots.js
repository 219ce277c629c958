// The spectra of the linear-width pane, from what the server sent.

import { plot } from "../plots.js";

const NAMES = { weights: "W", features: "σ(XWᵀ)/√n" };

/** One matrix after one step: bars of the runs, density and spikes of theory over them. */
export function spectrum(node, matrix, found, step) {
  const words = `Singular values of the ${matrix} after step ${step}: bulk and spikes`;
  return plot(node, words, (colour) => {
    const data = [];
    if (found?.bars) {
      const { bins, heights } = found.bars;
      data.push({
        type: "bar",
        x: heights.map((_, k) => Math.sqrt(bins[k] * bins[k + 1])),
        y: heights,
        width: heights.map((_, k) => bins[k + 1] - bins[k]),
        name: "runs: bulk",
        marker: { color: colour.measured, opacity: 0.35 },
        hovertemplate: "runs: density %{y:.3g} at %{x:.3g}<extra></extra>",
      });
    }
    if (found?.density) {
      data.push({
        x: found.density.grid,
        y: found.density.heights,
        type: "scatter",
        mode: "lines",
        name: "theory: bulk",
        line: { color: colour.theory, width: 2 },
        hovertemplate: "theory: density %{y:.3g} at %{x:.3g}<extra></extra>",
      });
    }
    const top = found?.top ?? 1;
    const spikes = (x, name, y, marker) =>
      data.push({
        x,
        y: x.map(() => y),
        type: "scatter",
        mode: "markers",
        name,
        marker,
        cliponaxis: false,
        hovertemplate: `${name} at %{x:.4g}<extra></extra>`,
      });
    if (found?.predicted.length) {
      spikes(found.predicted, "theory: spike", 0.1 * top, {
        color: colour.theory,
        symbol: "triangle-down",
        size: 13,
      });
    }
    const measured = (found?.spikes ?? []).flat();
    if (measured.length) {
      spikes(measured, "runs: spike", 0.035 * top, {
        color: colour.measured,
        symbol: "triangle-up-open",
        size: 11,
        line: { width: 2 },
      });
    }
    const shapes = (found?.predicted ?? []).map((x) => ({
      type: "line",
      x0: x,
      x1: x,
      y0: 0,
      y1: 0.1 * top,
      line: { color: colour.theory, width: 1 },
    }));
    if (found && found.edge !== null) {
      data.push({
        x: [found.edge, found.edge],
        y: [0, top],
        type: "scatter",
        mode: "lines",
        name: "theory: edge of the bulk",
        line: { color: colour.theory, width: 1, dash: "dot" },
        hovertemplate: "edge of the bulk at %{x:.4g}<extra></extra>",
      });
    }
    return {
      data,
      layout: {
        shapes,
        bargap: 0,
        xaxis: {
          title: { text: `singular value of ${NAMES[matrix]}, logarithmic axis` },
          type: "log",
          dtick: "D2",
        },
        yaxis: { title: { text: "density per log unit" }, range: [0, top] },
      },
    };
  });
}
