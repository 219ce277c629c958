// The guided tour: six scenes on the live page. Each sets the controls, asks, then shows the plots.
//
// The scene and the answer are keys of the state, ``tour`` (from 1) and ``tour.answer`` (from 0), so
// that the address holds them and the back button returns to the scene before.

import * as state from "./state.js";
import { el, readable, replace } from "./parts/dom.js";
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

function go(number) {
  state.set({
    pane: "narrow",
    tour: number,
    "tour.answer": "",
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
  show(new Set(["tour"]));
}

/** Show the scene and the answer of the state. */
export function show(changed) {
  const number = current();
  const scene = scenes[number - 1];
  const here = scene && state.get("pane") === "narrow";
  const answer = scene ? chosen(scene) : null;
  document.body.classList.toggle("asking", Boolean(here) && answer === null);
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
  look(answer === null ? control : document.querySelector(".narrow .plots"), answer === null);
}

/** Bring into view what a scene speaks of; in a small window the words of the scene themselves. */
function look(node, control) {
  const beside = window.matchMedia("(min-width: 60.01rem)").matches;
  if (!beside) root.scrollIntoView({ block: "start" });
  else node?.scrollIntoView({ block: control ? "nearest" : "start" });
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
  const text = el("p", {}, readable(scene.text));
  return [head, text, ...(answer === null ? asked(scene) : happened(number, scene, answer))];
}

function asked(scene) {
  const options = scene.options.map((words, at) =>
    el(
      "button",
      { type: "button", class: "option", onclick: () => state.set({ "tour.answer": at }) },
      readable(words),
    ),
  );
  return [
    el("p", { class: "asked-now" }, readable(scene.question)),
    el("div", { class: "row", role: "group", "aria-label": "Answers" }, options),
    el("small", {}, "The plots appear when you have answered."),
  ];
}

function happened(number, scene, answer) {
  const last = number === scenes.length;
  const [words, run] = last ? ["End the tour", leave] : ["Next scene", () => go(number + 1)];
  return [
    el(
      "p",
      { class: "happened", tabindex: -1 },
      `You said: “${readable(scene.options[answer])}”. `,
      el("strong", {}, answer === scene.right ? "Right. " : "Not so. "),
      readable(scene.happened),
    ),
    el("button", { type: "button", class: "main", onclick: run }, words),
  ];
}
