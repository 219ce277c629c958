// The network as a drawing: directions of the target on the left, neurons, output on the right.

import { number, readable, svg } from "./dom.js";
import { between } from "./flight.js";

const MOST = 16;
const RADIUS = 8;
// Widths in pixels of a line for a cosine of 1 and for the largest readout weight.
const WIDEST = { input: 7, other: 1.5, output: 6 };

/** Places of the neurons that are drawn, evenly spread over all of them. */
function chosen(count) {
  const shown = Math.min(count, MOST);
  if (shown === 1) return [0];
  return Array.from({ length: shown }, (_, k) => Math.round((k * (count - 1)) / (shown - 1)));
}

/** Height of the k-th of so many things that share a column. */
const spread = (height, count, k) => (height * (k + 1)) / (count + 1);

const line = (from, to, width, kind) =>
  svg("line", {
    x1: from[0],
    y1: from[1],
    x2: to[0],
    y2: to[1],
    class: kind,
    "stroke-width": width.toFixed(2),
  });

/** The nodes on the left: the directions of the plane, then all others as one. */
function inputs(predicted, x, height) {
  const names = predicted.plane.map(readable);
  const rest = predicted.setting.d - names.length;
  const all = [...names, `${number(rest)} others`];
  const kinds = [...names.map((_, k) => `towards-${k + 1}`), "towards-none"];
  return all.map((name, k) => ({ name, kind: kinds[k], place: [x, spread(height, all.length, k)] }));
}

/** A node with its name above it. */
const named = ({ name, kind, place: [x, y] }) =>
  svg(
    "g",
    {},
    svg("circle", { cx: x, cy: y, r: 9, class: kind }),
    svg("text", { x: Math.max(x - 9, 2), y: y - 14 }, name),
  );

/** Slices of a disc: rings as wide as its radius, each begun where the one before ends. */
function slices([x, y], shares) {
  let before = 0;
  const ground = svg("circle", { cx: x, cy: y, r: RADIUS, class: "towards-none" });
  const drawn = shares.map((share, k) => {
    const slice = svg("circle", {
      cx: x,
      cy: y,
      r: RADIUS / 2,
      pathLength: 1,
      class: `slice towards-${k + 1}`,
      "stroke-width": RADIUS,
      "stroke-dasharray": `${share.toFixed(4)} 1`,
      "stroke-dashoffset": (-before).toFixed(4),
    });
    before += share;
    return slice;
  });
  return [ground, ...drawn];
}

/** Lines and disc of one neuron, given its cosines and its share of the largest readout weight. */
function neuron(sources, place, output, { cosines, weight }) {
  const shares = cosines.map((cosine) => cosine * cosine);
  const outside = Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0));
  const sizes = [
    ...cosines.map((cosine) => WIDEST.input * Math.abs(cosine)),
    WIDEST.other * Math.sqrt(outside),
  ];
  const lines = sources.map((source, k) => line(source.place, place, sizes[k], source.kind));
  if (weight !== null) {
    const sign = weight < 0 ? "weight minus" : "weight";
    lines.push(line(place, output, WIDEST.output * Math.abs(weight), sign));
  }
  return { lines, disc: slices(place, shares) };
}

/**
 * Draw the first predicted network at a step, which may lie between two: a line from a direction is as
 * wide as the neuron's cosine with it, a line to the output as the fitted readout weight.
 */
export function network(predicted, at, { width, height }) {
  const [run] = predicted.neurons;
  const fitted = predicted.function?.readout ?? null;
  const places = predicted.function?.places ?? [];
  const step = Math.round(at);
  // After many steps the readout is known for some of them only.
  const known = places.findLastIndex((place) => place <= step);
  const same = fitted !== null && fitted.length === run.length;
  const weights = fitted === null ? null : same ? between(fitted, at) : fitted[known];
  const largest = weights === null ? 1 : Math.max(...weights.map(Math.abs)) || 1;
  const sources = inputs(predicted, 14, height);
  const output = [width - 22, height / 2];
  const shown = chosen(run[0].length);
  const cosines = between(run, at);
  const drawn = shown.map((index, k) =>
    neuron(sources, [width * 0.58, spread(height, shown.length, k)], output, {
      cosines: cosines[index],
      weight: weights === null ? null : weights[index] / largest,
    }),
  );
  const count = run[0].length;
  const told = shown.length < count ? `${shown.length} of ${number(count)} neurons` : "neurons";
  return svg(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      class: "network",
      "aria-label": `The network after step ${predicted.recorded[step]}: directions, neurons, output`,
    },
    drawn.flatMap(({ lines }) => lines),
    drawn.flatMap(({ disc }) => disc),
    sources.map(named),
    svg("circle", { cx: output[0], cy: output[1], r: 12, class: "output" }),
    svg("text", { x: width - 4, y: height / 2 - 18, "text-anchor": "end" }, "output"),
    svg("text", { x: width * 0.58, y: height - 3, "text-anchor": "middle", class: "quiet" }, told),
  );
}
