// Play, pause and scrub through the recorded steps.

import { el } from "./dom.js";

// Milliseconds a step is shown: long enough to see where the neurons went.
const PACE = 900;

/** {node, step(), steps(recorded)}; ``show`` is called whenever the step changes. */
export function player(show) {
  let recorded = [0];
  let timer = null;
  const scrub = el("input", {
    type: "range",
    min: 0,
    max: 0,
    step: 1,
    value: 0,
    "aria-label": "Step that is shown",
    oninput: () => {
      stop();
      moved();
    },
  });
  const told = el("output", {}, "");
  const button = el(
    "button",
    { type: "button", onclick: () => (timer === null ? play() : stop()) },
    "Play",
  );

  const at = () => Math.min(Number(scrub.value), recorded.length - 1);

  function moved() {
    told.textContent = at() === 0 ? "start" : `after step ${recorded[at()]}`;
    scrub.setAttribute("aria-valuetext", told.textContent);
    show();
  }

  function stop() {
    window.clearInterval(timer);
    timer = null;
    button.textContent = "Play";
  }

  function play() {
    if (at() === recorded.length - 1) scrub.value = 0;
    button.textContent = "Pause";
    moved();
    timer = window.setInterval(() => {
      scrub.value = at() + 1;
      moved();
      if (at() === recorded.length - 1) stop();
    }, PACE);
  }

  return {
    node: el("div", { class: "row player" }, button, scrub, told),
    step: at,
    steps(found) {
      const last = at() === recorded.length - 1;
      recorded = found;
      scrub.max = recorded.length - 1;
      if (last || Number(scrub.value) >= recorded.length) scrub.value = recorded.length - 1;
      told.textContent = at() === 0 ? "start" : `after step ${recorded[at()]}`;
    },
  };
}
