// The phase diagram and a cut through it, from cells that the server sent.

import { plot } from "../plots.js";
import { number } from "../parts/dom.js";

const CURVES = 6;
const MARKS = ["circle", "square", "diamond", "triangle-up", "cross", "star"];
const SCALE = "Viridis";

const axisTitle = (axis) => (axis ? axis.title : "");

/** What a cell says, line by line. */
function words(cell) {
  const at = Object.entries(cell.at).map(([field, value]) => `${field} = ${value}`);
  const sizes = cell.sizes
    ? [
        Object.entries(cell.sizes)
          .map(([name, value]) => `${name} = ${number(value)}`)
          .join(", "),
      ]
    : [];
  const theory =
    cell.predicted === null
      ? (cell.no_prediction ?? "no prediction")
      : `theory (${cell.theory}) ${number(cell.predicted, 3)}`;
  const spread = cell.standard_error === null ? "" : ` ± ${number(cell.standard_error, 2)}`;
  const runs =
    cell.mean === null
      ? [cell.failure].filter(Boolean)
      : [
          `runs ${number(cell.mean, 3)}${spread} (${cell.runs})`,
          cell.p_value == null ? "not compared" : `p-value ${number(cell.p_value, 2)}`,
        ];
  return [at.join(", "), ...sizes, theory, ...runs].map((line) =>
    line.length > 70 ? `${line.slice(0, 68)} …` : line,
  );
}

/** The value of the nearest cell that is known already: a coarse map before the fine one. */
function nearest(cells, i, j) {
  let best = null;
  let least = Infinity;
  for (const [row, line] of cells.entries()) {
    for (const [column, cell] of line.entries()) {
      const far = Math.abs(row - j) + Math.abs(column - i);
      if (cell?.told && far < least) [best, least] = [cell.predicted, far];
    }
  }
  return best;
}

/** Ends of the scale of colours: those of the quantity, or the largest value that is there. */
function range(map, cells) {
  const [low, high] = map.ends;
  if (high !== null) return map.ends;
  const all = cells
    .flat()
    .flatMap((cell) => [cell?.predicted, cell?.mean])
    .filter((value) => typeof value === "number");
  return [low, all.length ? Math.max(...all) : 1];
}

// Shades of the strip that explains the colours.
const SHADES = 64;

/** The scale of colours as a map of its own: Plotly's colour bar styles its pieces inline, which the page forbids. */
function scaleStrip(low, high) {
  const steps = Array.from({ length: SHADES }, (_, k) => low + ((high - low) * (k + 0.5)) / SHADES);
  return {
    type: "heatmap",
    x: [0],
    y: steps,
    z: steps.map((value) => [value]),
    xaxis: "x2",
    yaxis: "y2",
    zmin: low,
    zmax: high,
    colorscale: SCALE,
    showscale: false,
    xgap: 0.01,
    hoverinfo: "skip",
  };
}

/** A trace of line segments [[x0, y0], [x1, y1]] in the legend; none without segments. */
function overlay(name, segments, line) {
  if (segments.length === 0) return [];
  const along = (axis) => segments.flatMap((ends) => [...ends.map((end) => end[axis]), null]);
  const look = { type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: true };
  return [{ ...look, name, x: along(0), y: along(1), line }];
}

const places = (cells) => cells.flatMap((line, j) => line.map((cell, i) => ({ cell, i, j })));

/** Diagonal strokes over the cells that theory has not reached: their colour is a neighbour's. */
function hatching(cells) {
  const strokes = [-0.5, 0, 0.5];
  return places(cells)
    .filter(({ cell }) => !cell?.told)
    .flatMap(({ i, j }) =>
      strokes.map((shift) => {
        const [low, high] = [Math.max(-0.45, -0.45 - shift), Math.min(0.45, 0.45 - shift)];
        return [
          [i + low, j + low + shift],
          [i + high, j + high + shift],
        ];
      }),
    );
}

/** The edges between cells of different theories. */
function borders(cells) {
  const differ = (one, other) => one?.theory && other?.theory && one.theory !== other.theory;
  return places(cells).flatMap(({ cell, i, j }) => [
    ...(differ(cell, cells[j][i + 1])
      ? [[[i + 0.5, j - 0.5], [i + 0.5, j + 0.5]]]
      : []),
    ...(differ(cell, cells[j + 1]?.[i])
      ? [[[i - 0.5, j + 0.5], [i + 0.5, j + 0.5]]]
      : []),
  ]);
}

/** Where theory passes a level between the centres of four known cells (marching squares). */
function boundary(cells, level) {
  const value = (i, j) => (cells[j]?.[i]?.told ? cells[j][i].predicted : null);
  const segments = [];
  for (const { i, j } of places(cells)) {
    const corners = [
      [i, j],
      [i + 1, j],
      [i + 1, j + 1],
      [i, j + 1],
    ];
    const heights = corners.map(([x, y]) => value(x, y) ?? null);
    if (heights.includes(null)) continue;
    const crossings = corners.flatMap((start, k) => {
      const [from, to] = [heights[k], heights[(k + 1) % 4]];
      if (from < level === to < level) return [];
      const end = corners[(k + 1) % 4];
      const share = (level - from) / (to - from);
      return [start.map((place, axis) => place + share * (end[axis] - place))];
    });
    for (let k = 0; k + 1 < crossings.length; k += 2) segments.push(crossings.slice(k, k + 2));
  }
  return segments;
}

/** Theory as colours of the cells, simulation as discs on them: they vanish where both agree. */
export function diagram(node, map, cells) {
  const [x, y] = map.axes;
  const title = `${map.title} over ${axisTitle(x)} and ${axisTitle(y)}`;
  return plot(node, title, (colour) => {
    const [low, high] = range(map, cells);
    const columns = x.texts.map((_, i) => i);
    const rows = cells.map((_, j) => j);
    const ground = cells.map((line, j) =>
      line.map((cell, i) => (cell?.told ? cell.predicted : nearest(cells, i, j))),
    );
    const text = cells.map((line) =>
      line.map((cell) => (cell ? words(cell).join("<br>") : "not computed yet")),
    );
    const hover = { hovertemplate: "%{text}<extra></extra>" };
    const data = [
      {
        type: "heatmap",
        x: columns,
        y: rows,
        z: ground,
        text,
        ...hover,
        zmin: low,
        zmax: high,
        colorscale: SCALE,
        showscale: false,
        xgap: 1,
        ygap: 1,
      },
      scaleStrip(low, high),
    ];
    const found = cells
      .flatMap((line, j) => line.map((cell, i) => ({ cell, i, j })))
      .filter(({ cell }) => cell?.mean !== null && cell?.mean !== undefined);
    const room = Math.min(
      (node.clientWidth - 160) / columns.length,
      (node.clientHeight - 110) / rows.length,
    );
    if (found.length) {
      data.push({
        type: "scatter",
        mode: "markers",
        name: "runs",
        showlegend: true,
        x: found.map(({ i }) => i),
        y: found.map(({ j }) => j),
        text: found.map(({ cell }) => words(cell).join("<br>")),
        ...hover,
        marker: {
          symbol: "circle",
          size: Math.max(7, Math.min(26, 0.55 * room)),
          color: found.map(({ cell }) => cell.mean),
          cmin: low,
          cmax: high,
          colorscale: SCALE,
          line: { color: colour.card, width: 2 },
        },
      });
    }
    // Lines come last, over the discs.
    data.push(
      ...overlay("not computed yet", hatching(cells), { color: colour.faint, width: 1 }),
      ...overlay("another theory", borders(cells), { color: colour.ink, width: 2, dash: "dot" }),
    );
    const plateau = Math.max(...cells.flat().map((cell) => cell?.predicted ?? 0));
    if (map.level !== null) {
      const level = map.level * plateau;
      const line = { color: colour.theory, width: 3, dash: "dash" };
      const share = map.level === 0.5 ? "half" : number(map.level);
      data.push(
        ...overlay(`theory: ${share} of the plateau, ${number(level, 2)}`, boundary(cells, level), line),
      );
    }
    const shapes = [];
    const annotations = [];
    if (map.limit) {
      const across = map.limit.axis === 0;
      const [at, along] = across ? ["x", "y"] : ["y", "x"];
      const line = { color: colour.ink, width: 2, dash: "dot" };
      shapes.push({
        type: "line",
        [`${at}0`]: map.limit.place,
        [`${at}1`]: map.limit.place,
        [`${along}0`]: 0,
        [`${along}1`]: across ? 1 : 0.9,
        [`${along}ref`]: "paper",
        line,
      });
      annotations.push({
        text: `boundary as d grows: ${number(map.limit.value)}`,
        [at]: map.limit.place,
        [along]: across ? 1 : 0.9,
        [`${along}ref`]: "paper",
        [`${along}anchor`]: across ? "bottom" : "right",
        [`${at}anchor`]: across ? "center" : "bottom",
        showarrow: false,
        font: { size: 12 },
      });
    }
    const ticks = (axis, count) => ({
      title: { text: axisTitle(axis) },
      tickvals: Array.from({ length: count }, (_, k) => k),
      ticktext: axis?.texts ?? [""],
      range: [-0.5, count - 0.5],
      showgrid: false,
      zeroline: false,
    });
    return {
      data,
      layout: {
        shapes,
        annotations,
        margin: { l: 8, r: 12, t: 56, b: 8 },
        hovermode: "closest",
        xaxis: { ...ticks(x, columns.length), domain: [0, 0.9] },
        yaxis: ticks(y, rows.length),
        xaxis2: {
          domain: [0.935, 0.97],
          showticklabels: false,
          ticks: "",
          showgrid: false,
          zeroline: false,
          anchor: "y2",
        },
        yaxis2: {
          title: { text: map.title },
          anchor: "x2",
          side: "right",
          range: [low, high],
          showgrid: false,
          zeroline: false,
        },
      },
    };
  });
}

/** Curves over the first axis, one for each of a few places on the second. */
export function cut(node, map, cells) {
  const [x, y] = map.axes;
  return plot(node, `${map.title} over ${axisTitle(x)}`, (colour) => {
    const stride = Math.max(1, Math.ceil(cells.length / CURVES));
    const rows = cells.map((_, j) => j).filter((j) => j % stride === 0);
    const data = rows.flatMap((j, k) => {
      const name = y ? `${y.name} = ${y.texts[j]}` : map.title;
      const ink = colour.series[k % colour.series.length];
      const known = cells[j]
        .map((cell, i) => [i, cell])
        .filter(([, cell]) => cell?.told && cell.predicted !== null);
      const found = cells[j]
        .map((cell, i) => [i, cell])
        .filter(([, cell]) => typeof cell?.mean === "number");
      const shared = { type: "scatter", name, legendgroup: name };
      return [
        {
          ...shared,
          mode: "lines",
          x: known.map(([i]) => i),
          y: known.map(([, cell]) => cell.predicted),
          line: { color: ink, width: 2 },
          hovertemplate: "theory %{y:.3g}",
        },
        {
          ...shared,
          showlegend: false,
          mode: "markers",
          x: found.map(([i]) => i),
          y: found.map(([, cell]) => cell.mean),
          error_y: {
            type: "data",
            array: found.map(([, cell]) => 2 * (cell.standard_error ?? 0)),
            color: ink,
            thickness: 1.5,
          },
          marker: { color: ink, symbol: MARKS[k % MARKS.length], size: 9 },
          hovertemplate: "runs %{y:.3g}",
        },
      ];
    });
    return {
      data,
      layout: {
        xaxis: {
          title: { text: axisTitle(x) },
          tickvals: x.texts.map((_, i) => i),
          ticktext: x.texts,
          range: [-0.5, x.texts.length - 0.5],
        },
        yaxis: {
          title: { text: map.title },
          ...(map.ends[1] === null
            ? { rangemode: "tozero" }
            : { range: [map.ends[0], map.ends[1] + 0.03] }),
        },
      },
    };
  });
}
