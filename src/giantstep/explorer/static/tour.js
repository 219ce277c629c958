// The guided tour: six scenes on the live page. Each sets the controls, asks, then shows the plots.
//
// The scene and the answer are keys of the state, ``tour`` (from 1) and ``tour.answer`` (from 0), so
// that the address holds them and the back button returns to the scene before.

import * as state from "./state.js";
import { latexOf } from "./parts/ascii.js";
import { el, replace } from "./parts/dom.js";
import { adopted } from "./panes/narrow_controls.js";

let scenes = [];
let root = null;

/** The button that begins the tour, for the head of the page. */
export const button = el(
  "button",
  { type: "button", class: "main", disabled: true, onclick: () => go(1) },
  "Take the tour",
);

/** The number of the scene that is shown, 0 for none. */
function current() {
  const number = Number(state.get("tour"));
  return Number.isInteger(number) && number >= 1 && number <= scenes.length ? number : 0;
}

/** The number of the chosen answer, null before there is one. */
function chosen(scene) {
  const text = state.get("tour.answer");
  return /^\d$/.test(text) && Number(text) < scene.options.length ? Number(text) : null;
}

/** The keys of a second setting beside the first. */
const sided = (beside) => ({ "side.field": beside?.[0] ?? "", "side.value": beside?.[1] ?? "" });

function go(number) {
  state.set({
    pane: "narrow",
    tour: number,
    "tour.answer": "",
    ...sided(scenes[number - 1].beside),
    ...adopted(scenes[number - 1].setting),
  });
}

function leave() {
  state.set({ tour: "", "tour.answer": "" });
  button.focus();
}

/** Take the scenes of the server and the place on the page where they are told. */
export function prepare(node, given) {
  root = node;
  scenes = given;
  button.disabled = false;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && current()) leave();
  });
  // An address that names a scene and no setting means the setting of the scene.
  const scene = scenes[current() - 1];
  if (scene && !state.given(/^(narrow\.|side\.|target$|activation$)/))
    state.replace({ pane: "narrow", ...sided(scene.beside), ...adopted(scene.setting) });
  show(new Set(["tour"]));
}

/** Show the scene and the answer of the state. */
export function show(changed) {
  const number = current();
  const scene = scenes[number - 1];
  const here = scene && state.get("pane") === "narrow";
  const answer = scene ? chosen(scene) : null;
  document.body.classList.toggle("asking", Boolean(here) && answer === null);
  document.body.classList.toggle("touring", Boolean(here));
  for (const lit of document.querySelectorAll(".control.lit")) lit.classList.remove("lit");
  root.hidden = !here;
  button.hidden = Boolean(here);
  if (!here) return;
  const control = document
    .querySelector(`.narrow [data-field="${CSS.escape(scene.control)}"]:not([hidden])`)
    ?.closest(".control");
  control?.classList.add("lit");
  if (!changed.has("tour") && !changed.has("tour.answer") && !changed.has("pane")) return;
  replace(root, told(number, scene, answer));
  const focus = answer === null ? root.querySelector("h2") : root.querySelector(".happened");
  if (changed.has("tour") || changed.has("tour.answer")) focus.focus({ preventScroll: true });
  look();
}

/**
 * Bring into view what a scene speaks of: the plots once it is answered, and the control, which the
 * words of the scene must not cover. In a small window the words themselves, and
 * after an answer what happened, with the first plot below it.
 */
export function look() {
  const control = document.querySelector(".control.lit");
  if (root.hidden || !control) return;
  const answered = chosen(scenes[current() - 1]) !== null;
  const beside = window.matchMedia("(min-width: 60.01rem)").matches;
  if (!beside) {
    (root.querySelector(".happened") ?? root).scrollIntoView({ block: "start" });
    return;
  }
  document.documentElement.style.setProperty("--scene-height", `${root.offsetHeight}px`);
  if (answered) document.querySelector(".narrow .plots").scrollIntoView({ block: "start" });
  const { top, bottom } = control.getBoundingClientRect();
  const unseen = top < root.getBoundingClientRect().bottom || bottom > window.innerHeight;
  if (!answered || unseen) control.scrollIntoView({ block: "nearest" });
}

/** The words of a scene: its question with buttons, or what happened and the way on. */
function told(number, scene, answer) {
  const plain = (words, run) =>
    el("button", { type: "button", class: "export", onclick: run }, words);
  const head = el(
    "div",
    { class: "row tour-head" },
    el("h2", { tabindex: -1 }, `${number} of ${scenes.length}: ${scene.title}`),
    number > 1 ? plain("Previous scene", () => go(number - 1)) : null,
    plain("Leave the tour", leave),
  );
  const text = el("p", {}, scene.text);
  const target = el("p", {}, `Target: $f(x) = ${latexOf(scene.setting.target)}$`);
  return [head, text, target, ...(answer === null ? asked(scene) : happened(number, scene, answer))];
}

function asked(scene) {
  const options = scene.options.map((words, at) =>
    el(
      "button",
      { type: "button", class: "option", onclick: () => state.set({ "tour.answer": at }) },
      words,
    ),
  );
  return [
    el("p", { class: "asked-now" }, scene.question),
    el("div", { class: "row", role: "group", "aria-label": "Answers" }, options),
    el("small", {}, "The plots appear when you have answered."),
    el("small", { class: "on-phone" }, "The control of this scene is marked in Settings, below."),
  ];
}

function happened(number, scene, answer) {
  const last = number === scenes.length;
  const [words, run] = last ? ["End the tour", leave] : ["Next scene", () => go(number + 1)];
  return [
    el(
      "p",
      { class: "happened", tabindex: -1 },
      `You said: “${scene.options[answer]}”. `,
      el("strong", {}, answer === scene.right ? "Right. " : "Not so. "),
      el("span", { class: "with-plots" }, scene.happened),
      el("span", { class: "without-plots" }, "The plots are being computed."),
    ),
    el("button", { type: "button", class: "main", onclick: run }, words),
    el("small", {}, "The lines in the plots are theory. The button Run adds simulations."),
  ];
}
