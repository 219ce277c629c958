// The staircase as a picture: a stair for each step, as high as the directions learned by then.

import { readable, svg } from "./dom.js";

const HEIGHT = 230;
const GROUND = 34;
const HEAD = 30;

/** Lines of at most so many characters, broken between names. */
function lines(names, most) {
  const found = [""];
  for (const [index, name] of names.entries()) {
    const word = index < names.length - 1 ? `${name},` : name;
    const last = found[found.length - 1];
    if (last && last.length + word.length >= most) found.push(word);
    else found[found.length - 1] = last ? `${last} ${word}` : word;
  }
  return found.map(readable);
}

function label(x, y, texts, kind) {
  return svg(
    "text",
    { x, y: y - 15 * (texts.length - 1), class: kind, "text-anchor": "middle" },
    texts.map((text, index) => svg("tspan", { x, dy: index ? 15 : 0 }, text)),
  );
}

/**
 * Draw stairs {steps, dimension, directions, missing}, as the analysis tells them, into a drawing of
 * so many pixels.
 */
export function stairs(found, title, width) {
  const ghost = found.missing.length > 0;
  const count = found.steps.length + (ghost ? 1 : 0) + 1;
  const tread = width / count;
  const most = Math.max(4, Math.floor(tread / 7.5));
  const rise = (HEIGHT - GROUND - HEAD - 30) / Math.max(found.directions, 1);
  const floor = HEIGHT - GROUND;
  const parts = [svg("text", { x: 2, y: 14, class: "quiet" }, title)];
  const ground = (index, text) =>
    svg(
      "text",
      { x: (index + 0.5) * tread, y: floor + 20, class: "tick", "text-anchor": "middle" },
      text,
    );
  parts.push(
    svg("line", { x1: 0, y1: floor, x2: width, y2: floor, class: "ground" }),
    label(tread / 2, floor - 8, ["nothing"], "quiet"),
    ground(0, "start"),
  );
  found.steps.forEach((step, index) => {
    const height = rise * step.dimension;
    const x = (index + 1) * tread;
    const blind = step.blocked.length > 0;
    const words = step.adds.length ? lines(step.adds, most) : ["nothing new"];
    parts.push(
      svg(
        "g",
        { class: blind ? "stair blind" : "stair" },
        svg("title", {}, `step ${step.step} adds ${step.adds.join(", ") || "nothing"}`),
        svg("rect", { x, y: floor - height, width: width - x, height }),
        svg("line", {
          x1: x,
          y1: floor - height,
          x2: x + tread,
          y2: floor - height,
          class: "tread",
        }),
      ),
      label(x + tread / 2, floor - height - 8, words, step.adds.length ? "adds" : "quiet"),
      ground(index + 1, tread > 55 ? `step ${step.step}` : step.step),
    );
  });
  if (ghost) {
    const x = (count - 1) * tread;
    const height = rise * found.directions;
    parts.push(
      svg("rect", { x: x + 1, y: floor - height, width: tread - 2, height, class: "ghost" }),
      label(x + tread / 2, floor - height - 8, lines(found.missing, most), "quiet"),
      ground(count - 1, tread > 55 ? "not at n ~ d" : "never"),
    );
  }
  const told = found.steps.map(
    (step) => `step ${step.step} adds ${step.adds.join(" and ") || "nothing"}`,
  );
  if (ghost) told.push(`${found.missing.join(" and ")} not learned with n of order d`);
  return svg(
    "svg",
    {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      class: "stairs",
      "aria-label": `${title}: ${told.join("; ") || "nothing is learned"}`,
    },
    parts,
  );
}
