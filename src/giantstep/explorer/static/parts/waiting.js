// A sign that something is being computed, shown only when it takes longer than a glance.

import { el } from "./dom.js";

// Milliseconds: what answers within them needs no sign.
const GLANCE = 400;

/**
 * {node, begin(late), say(words), share(done, total), end()}: ``late`` is called when the sign appears,
 * ``stop`` by its button. It says how long it has taken, and how much of it is done where that is told.
 */
export function waiting(words, stop) {
  let timer = 0;
  let clock = 0;
  let begun = 0;
  let now = words;
  const bar = el("progress", { max: 1, "aria-label": words });
  const told = el("span", {}, words);
  const button = el("button", { type: "button", class: "export" }, "Stop");
  const node = el("div", { class: "row waiting", hidden: true }, bar, told, button);

  function tick() {
    const seconds = Math.floor((performance.now() - begun) / 1000);
    told.textContent = seconds > 1 ? `${now}, ${seconds} s` : now;
  }

  function end() {
    window.clearTimeout(timer);
    window.clearInterval(clock);
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
      begun = performance.now();
      bar.removeAttribute("value");
      timer = window.setTimeout(() => {
        node.hidden = false;
        clock = window.setInterval(tick, 1000);
        tick();
        late();
      }, GLANCE);
    },
    say(text) {
      now = text;
      tick();
    },
    share(done, total) {
      bar.value = total ? done / total : 0;
    },
  };
}
