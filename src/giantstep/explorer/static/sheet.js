// On a phone the settings of a pane are a sheet, opened by a bar at the lower edge: plots come first.

import { el } from "./parts/dom.js";

const root = document.documentElement;
const button = el(
  "button",
  { type: "button", "aria-expanded": "false", onclick: () => toggle() },
  "Settings",
);

function toggle(open = !root.classList.contains("sheet-open")) {
  root.classList.toggle("sheet-open", open);
  button.setAttribute("aria-expanded", open);
  button.textContent = open ? "Close settings" : "Settings";
}

document.body.append(el("div", { class: "sheet-bar" }, button));
window.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !root.classList.contains("sheet-open")) return;
  toggle(false);
  button.focus();
});
