// A sign that something is being computed, shown only when it takes longer than a glance.

import { el } from "./dom.js";

// Milliseconds: what answers within them needs no sign.
const GLANCE = 400;

/** {node, begin(late), end()}: ``late`` is called when the sign appears, ``stop`` by its button. */
export function waiting(words, stop) {
  let timer = 0;
  const button = el("button", { type: "button", class: "export" }, "Stop");
  const node = el(
    "div",
    { class: "row waiting", hidden: true },
    el("progress", { "aria-label": words }),
    el("span", {}, words),
    button,
  );

  function end() {
    window.clearTimeout(timer);
    node.hidden = true;
  }

  button.addEventListener("click", () => {
    end();
    stop();
  });

  return {
    node,
    end,
    begin(late = () => {}) {
      end();
      timer = window.setTimeout(() => {
        node.hidden = false;
        late();
      }, GLANCE);
    },
  };
}
