// The page: tabs, theme, and the panes in turn.

import * as state from "./state.js";
import * as api from "./api.js";
import { el, replace } from "./parts/dom.js";
import { define } from "./parts/terms.js";
import { typeset } from "./parts/typeset.js";
import { prepare, themed } from "./plots.js";
import * as tour from "./tour.js";
import target from "./panes/target.js";
import narrow from "./panes/narrow.js";
import { declare } from "./panes/narrow_controls.js";
import { declareSide } from "./panes/narrow_side.js";
import wide from "./panes/wide.js";
import phase from "./panes/phase.js";
import claims from "./panes/claims.js";

// A pane is {id, title, plots, mount(root, page), update(changed)}: mount builds it once, when it is
// first shown; update is called with the set of changed keys whenever it is shown. Where it ``plots``
// Plotly is loaded before there is anything to draw. One that is ``live`` is updated while a slider is
// dragged as well, then with true as its second argument.
const PANES = [narrow, target, wide, phase, claims];

const THEMES = { auto: "As the system", light: "Light", dark: "Dark" };
const mounted = new Set();
const sections = new Map();
const tabs = new Map();
const stale = new Map();

state.declare({
  pane: PANES[0].id,
  theme: "auto",
  tour: "",
  "tour.answer": "",
});

const status = document.getElementById("status");
const page = {
  vocabulary: null,
  say(text) {
    status.textContent = text;
    performance.mark("said", { detail: text }); // for the benchmark, which asks when it was
  },
  /** Plots that were hidden are there: a scene of the tour brings them into view. */
  revealed: () => tour.look(),
};

function build() {
  const list = document.getElementById("tabs");
  for (const pane of PANES) {
    const tab = el(
      "button",
      {
        role: "tab",
        id: `tab-${pane.id}`,
        "aria-controls": `pane-${pane.id}`,
        onclick: () => state.set({ pane: pane.id }),
        onpointerenter: () => pane.plots && prepare(),
        onkeydown: (event) => step(event, pane),
      },
      pane.title,
    );
    const section = el("section", {
      role: "tabpanel",
      id: `pane-${pane.id}`,
      "aria-labelledby": tab.id,
      class: `pane ${pane.id}`,
      hidden: true,
    });
    tabs.set(pane.id, tab);
    sections.set(pane.id, section);
    list.append(tab);
    document.getElementById("panes").append(section);
  }
  const menu = el(
    "select",
    { id: "theme", onchange: () => state.set({ theme: menu.value }) },
    Object.entries(THEMES).map(([value, words]) => el("option", { value }, words)),
  );
  menu.value = state.get("theme");
  const copy = el("button", { type: "button", onclick: () => share(copy) }, "Copy link");
  const tools = document.getElementById("tools");
  replace(tools, tour.button, copy, el("label", {}, "Colours ", menu));
}

async function share(button) {
  try {
    await navigator.clipboard.writeText(state.address());
    page.say("The address of this state is in the clipboard.");
  } catch {
    page.say(`This address restores the state: ${state.address()}`);
  }
  button.focus();
}

function step(event, pane) {
  const moves = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  if (!(event.key in moves)) return;
  event.preventDefault();
  const at = PANES.indexOf(pane) + moves[event.key];
  const next =
    PANES[Number.isFinite(at) ? (at + PANES.length) % PANES.length : at < 0 ? 0 : PANES.length - 1];
  state.set({ pane: next.id });
  tabs.get(next.id).focus();
}

function paint() {
  const theme = state.get("theme");
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.getElementById("theme").value = theme;
  themed();
}

const shown = () => PANES.find((pane) => pane.id === state.get("pane")) ?? PANES[0];

function show(changed, dragging) {
  const chosen = shown();
  if (dragging) {
    if (chosen.live && mounted.has(chosen)) chosen.update(changed, true);
    return;
  }
  if (changed.has("theme")) paint();
  for (const pane of PANES) {
    const here = pane === chosen;
    sections.get(pane.id).hidden = !here;
    tabs.get(pane.id).setAttribute("aria-selected", here);
    tabs.get(pane.id).tabIndex = here ? 0 : -1;
    // What changes while a pane is hidden is told when it is shown.
    if (mounted.has(pane) && !here) {
      stale.set(pane, new Set([...(stale.get(pane) ?? []), ...changed]));
    }
  }
  document.title = `${chosen.title} – giantstep explorer`;
  if (!mounted.has(chosen)) {
    mounted.add(chosen);
    chosen.mount(sections.get(chosen.id), page);
  } else {
    chosen.update(new Set([...(stale.get(chosen) ?? []), ...changed]));
    stale.delete(chosen);
  }
  tour.show(changed);
}

async function start() {
  if (shown().plots) prepare();
  build();
  paint();
  typeset();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
  try {
    page.vocabulary = await api.call("vocabulary");
  } catch (error) {
    replace(
      document.getElementById("panes"),
      el("p", { class: "problem", role: "alert" }, error.message),
    );
    return;
  }
  const { demo, definitions, marked, tour: scenes } = page.vocabulary;
  state.declare({ target: demo.target, activation: demo.activation });
  declare(page.vocabulary);
  declareSide();
  define(definitions, marked);
  tour.prepare(document.getElementById("tour"), scenes);
  state.listen(show);
  show(new Set());
}

start();
