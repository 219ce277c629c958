// Something that takes a while: how long it has taken, and a way to stop it.

import { el } from "./dom.js";

/** {node, begin(words), share(done, total), end()}; ``stop`` is called when somebody will not wait. */
export function waiting(stop) {
  let timer = null;
  let begun = 0;
  let words = "";
  const bar = el("progress", { max: 1, "aria-label": "Progress" });
  const told = el("span", { class: "told" });
  const button = el("button", { type: "button", class: "export", onclick: () => stop() }, "Stop");
  const node = el("div", { class: "row waiting", hidden: true }, bar, told, button);

  function say() {
    const seconds = Math.round((performance.now() - begun) / 1000);
    told.textContent = seconds > 0 ? `${words}, ${seconds} s` : words;
  }

  return {
    node,
    begin(text) {
      words = text;
      if (timer === null) {
        begun = performance.now();
        timer = window.setInterval(say, 500);
      }
      bar.removeAttribute("value");
      node.hidden = false;
      say();
    },
    share(done, total) {
      bar.value = total ? done / total : 0;
    },
    end() {
      window.clearInterval(timer);
      timer = null;
      node.hidden = true;
    },
  };
}
