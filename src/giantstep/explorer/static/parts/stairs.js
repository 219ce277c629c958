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

/** Lines of at most so many characters, broken between words. */
function wrapped(text, most) {
  const found = [""];
  for (const word of text.split(" ")) {
    const last = found[found.length - 1];
    if (last && last.length + word.length >= most) found.push(word);
    else found[found.length - 1] = last ? `${last} ${word}` : word;
  }
  return found;
}

/** What is not learned: directions that are blocked, then those that n ~ d samples do not show. */
function unlearned(found) {
  const blocked = found.blocked.map(({ step, directions, reason }) => ({
    names: directions,
    tick: `step ${step}`,
    short: `${step}`,
    inside: `blocked: ${reason}`,
    told: `step ${step} offers ${directions.join(" and ")}, which is blocked: ${reason}`,
  }));
  if (!found.missing.length) return blocked;
  const told = `${found.missing.join(" and ")} not learned with n of order d`;
  return [
    ...blocked,
    { names: found.missing, tick: "not at n ~ d", short: "never", inside: "", told },
  ];
}

/** A sentence for each direction that is blocked. */
export const blockedSentences = (found) =>
  found.blocked.map(
    ({ step, directions, reason }) =>
      `Step ${step} offers ${directions.join(" and ")}, but it stays blocked: ${reason}.`,
  );

/**
 * Draw stairs {steps, dimension, directions, blocked, missing}, as the analysis tells them, into a
 * drawing of so many pixels. What is not learned has a dashed outline.
 */
export function stairs(found, title, width) {
  const ghosts = unlearned(found);
  const count = found.steps.length + ghosts.length + 1;
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
  const learnedUntil = (found.steps.length + 1) * tread;
  found.steps.forEach((step, index) => {
    const height = rise * step.dimension;
    const x = (index + 1) * tread;
    const words = step.adds.length ? lines(step.adds, most) : ["nothing new"];
    parts.push(
      svg(
        "g",
        { class: "stair" },
        svg("title", {}, `step ${step.step} adds ${step.adds.join(", ") || "nothing"}`),
        svg("rect", { x, y: floor - height, width: learnedUntil - x, height }),
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
  let dimension = found.dimension;
  ghosts.forEach((ghost, index) => {
    const x = learnedUntil + index * tread;
    dimension += ghost.names.length;
    const height = rise * dimension;
    const words = ghost.inside ? wrapped(ghost.inside, most) : [];
    parts.push(
      svg(
        "g",
        { class: ghost.inside ? "blocked" : "" },
        svg("title", {}, ghost.told),
        svg("rect", { x: x + 1, y: floor - height, width: tread - 2, height, class: "ghost" }),
      ),
      label(x + tread / 2, floor - height - 8, lines(ghost.names, most), "quiet"),
      label(x + tread / 2, floor - height + 18 + 15 * (words.length - 1), words, "quiet why"),
      ground(found.steps.length + 1 + index, tread > 55 ? ghost.tick : ghost.short),
    );
  });
  const told = found.steps.map(
    (step) => `step ${step.step} adds ${step.adds.join(" and ") || "nothing"}`,
  );
  told.push(...ghosts.map((ghost) => ghost.told));
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
