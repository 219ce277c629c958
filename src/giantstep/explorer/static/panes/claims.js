// Statements of the papers and findings beyond them: what each says, its verdict, its figure; and one of them measured anew.

import * as api from "../api.js";
import * as state from "../state.js";
import { choice, text } from "../parts/controls.js";
import { el, number, replace, table } from "../parts/dom.js";
import { exports } from "../parts/exports.js";
import { complaint } from "../parts/notes.js";
import { runner } from "../parts/runner.js";
import { claimPlot } from "./claims_plots.js";

const KEY = "claims.";
const VERDICTS = ["holds", "fails", "seen", "not seen", "undecided"];
const MANY = { holds: "hold", fails: "fail" };
const MARKS = { holds: "✓", fails: "✗", seen: "✓", "not seen": "–", undecided: "?" };
const FILTERS = ["claims.find", "claims.paper", "claims.sort", "claims.verdict"];
const SORTS = [
  ["", "statements and findings"],
  ["statements", "statements of the papers"],
  ["findings", "findings beyond the papers"],
];
const parts = {};
let listed = [];
let claim = null;
let fresh = null;
let page = null;

const paperOf = (entry) => entry.paper.match(/arXiv [\d.]+/)?.[0] ?? entry.paper;

function badge(verdict) {
  const known = verdict ?? "not measured";
  const look = (verdict ?? "").replace(" ", "-");
  return el("span", { class: `badge ${look}` }, `${MARKS[verdict] ?? "–"} ${known}`);
}

/** Claims that the menus and the search leave. */
function chosen() {
  const words = state.get("claims.find").toLowerCase().split(/\s+/).filter(Boolean);
  const [paper, sort, verdict] = ["claims.paper", "claims.sort", "claims.verdict"].map(state.get);
  return listed.filter((entry) => {
    const whole = `${entry.id} ${entry.statement} ${entry.paper}`.toLowerCase();
    return (
      words.every((word) => whole.includes(word)) &&
      (!paper || paperOf(entry) === paper) &&
      (!sort || entry.finding === (sort === "findings")) &&
      (!verdict || entry.verdict === verdict)
    );
  });
}

/** Open the first claim of the list where the open one is not in it; none of an empty list. */
function follow() {
  const shown = chosen();
  parts.answer.hidden = shown.length === 0;
  if (shown.length && !shown.some((entry) => entry.id === state.get("claims.id")))
    state.set({ "claims.id": shown[0].id });
  parts.list.scrollTop = 0;
}

/** How many statements or findings there are of each verdict, in a sentence. */
function counted(entries, finding, one, many) {
  const members = entries.filter((entry) => entry.finding === finding);
  const counts = VERDICTS.map((verdict) => [
    verdict,
    members.filter((entry) => entry.verdict === verdict).length,
  ]).filter(([, length]) => length > 0);
  const words = counts.map(
    ([verdict, length]) => `${length} ${length === 1 ? verdict : (MANY[verdict] ?? verdict)}`,
  );
  const told = words.length ? `: ${words.join(", ")}` : "";
  return `${members.length} ${members.length === 1 ? one : many}${told}.`;
}

function drawList() {
  const shown = chosen();
  parts.count.textContent = [
    counted(shown, false, "statement of the papers", "statements of the papers"),
    counted(shown, true, "finding", "findings"),
  ].join(" ");
  const focused = parts.list.contains(document.activeElement);
  replace(
    parts.list,
    shown.map((entry) => el("li", {}, line(entry, entry.id === state.get("claims.id")))),
  );
  // One stop of the tab key for the whole list: arrows move within it.
  const stop = parts.list.querySelector("[aria-current]") ?? parts.list.querySelector("button");
  stop?.setAttribute("tabindex", 0);
  if (focused) stop?.focus();
}

function line(entry, current) {
  return el(
    "button",
    {
      type: "button",
      class: "claim",
      tabindex: -1,
      "aria-current": current ? "true" : null,
      onclick: () => state.set({ "claims.id": entry.id }),
      onkeydown: step,
    },
    badge(entry.verdict),
    el("span", { class: "name" }, entry.id),
    el("small", {}, entry.statement),
  );
}

/** Arrow keys go from claim to claim. */
function step(event) {
  const all = [...parts.list.querySelectorAll("button")];
  const at = all.indexOf(event.currentTarget);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  all[next]?.focus();
}

function quantities(record) {
  const row = (entry) => {
    const [low, high] = entry.interval;
    const interval = low === high ? "" : ` [${number(low)}, ${number(high)}]`;
    const off = entry.deviation_in_standard_errors;
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, entry.name),
      el("td", {}, entry.predicted.replaceAll("+-", "±")),
      el("td", {}, `${number(entry.value)}${interval}`),
      el("td", {}, off === null ? "–" : number(off, 2)),
      el("td", {}, badge(entry.verdict)),
    );
  };
  const titles = ["Quantity", "claimed", "measured [99 %]", "off by (s.e.)", "verdict"];
  return table(titles, record.quantities.map(row));
}

function about() {
  const line = (words, value) => (value ? [el("dt", {}, words), el("dd", {}, value)] : []);
  const other = claim.corrected
    ? [
        el("dt", {}, "Holds instead"),
        el(
          "dd",
          {},
          el(
            "button",
            {
              type: "button",
              class: "link",
              onclick: () => state.set({ "claims.id": claim.corrected }),
            },
            claim.corrected,
          ),
        ),
      ]
    : [];
  return el(
    "dl",
    { class: "about" },
    line("Source", claim.paper),
    line("What it is", claim.kind),
    line(claim.finding ? "Beyond the paper" : "Assumptions", claim.assumptions),
    line("Tested at", claim.regime),
    line("Decided by", claim.rule),
    line("Measured instead", claim.measured_instead),
    other,
  );
}

function draw() {
  if (claim === null) return;
  const record = fresh ?? claim.record;
  replace(parts.title, claim.id);
  replace(parts.statement, claim.statement);
  replace(parts.about, about());
  parts.verdict.hidden = false;
  parts.record.hidden = record === null;
  if (record === null) {
    replace(parts.verdict, "Not measured yet: press the button.");
    return;
  }
  const where = fresh ? "Measured here" : "Measured in advance";
  const before =
    fresh && claim.record ? ` Stored: ${claim.record.verdict} (seed ${claim.record.seed}).` : "";
  replace(
    parts.verdict,
    badge(record.verdict),
    ` ${where} at ${record.size} size with seed ${record.seed}, in ${number(record.seconds, 2)} s.${before}`,
  );
  parts.verdict.className = `verdict ${{ holds: "agrees", seen: "agrees", fails: "differs" }[record.verdict] ?? ""}`;
  replace(parts.table, quantities(record));
  parts.figure.hidden = record.plot === null;
  if (record.plot)
    claimPlot(
      parts.plot,
      record.plot,
      `Figure of the claim ${claim.id}: ${record.plot.y_label} over ${record.plot.x_label}`,
    );
}

async function open() {
  fresh = null;
  parts.answer.setAttribute("aria-busy", "true");
  try {
    claim = await api.call("claim", { id: state.get("claims.id") });
    parts.problem.say("");
    parts.answer.classList.remove("stale");
    draw();
  } catch (problem) {
    parts.problem.say(problem.message);
    if (claim === null) replace(parts.title, "No claim");
    parts.answer.classList.add("stale");
  }
  parts.answer.setAttribute("aria-busy", "false");
}

async function load() {
  try {
    listed = (await api.call("claims")).claims;
  } catch (problem) {
    parts.problem.say(problem.message);
    return;
  }
  const menu = parts.papers.querySelector("select");
  menu.append(
    ...[...new Set(listed.map(paperOf))].map((paper) => el("option", { value: paper }, paper)),
  );
  menu.value = state.get("claims.paper");
  drawList();
  parts.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

const request = () => ({ id: state.get("claims.id"), seed: state.get("claims.seed") });

const handlers = {
  result(found) {
    fresh = found;
    draw();
    page.say(`${claim.id}: ${found.verdict}.`);
  },
};

export default {
  id: "claims",
  title: "Claims",

  mount(root, given) {
    page = given;
    state.declare({
      "claims.id": "staircase-example-1",
      "claims.find": "",
      "claims.paper": "",
      "claims.sort": "",
      "claims.verdict": "",
      "claims.seed": 0,
    });
    parts.runner = runner({
      kind: "measure",
      request,
      on: handlers,
      page,
      words: "Measure this claim",
    });
    parts.problem = complaint();
    parts.papers = choice("claims.paper", { words: "Paper", options: [["", "all papers"]] });
    parts.count = el("small", { role: "status" }, "The claims are being read.");
    parts.list = el("ul", { class: "claims-list", "aria-label": "Claims" });
    parts.title = el("h2", {}, "The claim is being read");
    parts.statement = el("p", { class: "statement" });
    parts.verdict = el("p", { class: "verdict", hidden: true });
    parts.about = el("div");
    parts.table = el("div", {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "Quantities of the claim",
    });
    parts.plot = el("div", { class: "plot" });
    parts.figure = el(
      "figure",
      { class: "card" },
      el("figcaption", {}, "Figure"),
      parts.plot,
      el("small", {}, "Lines are theory or a claimed slope, points are runs with bars of two standard errors."),
      exports({ node: parts.plot, name: "claim" }),
    );
    parts.record = el(
      "div",
      { class: "answer", hidden: true },
      el("div", { class: "card" }, el("h2", {}, "Quantities"), parts.table),
      parts.figure,
    );
    parts.answer = el(
      "div",
      { class: "answer" },
      el(
        "div",
        { class: "card" },
        parts.title,
        parts.statement,
        parts.verdict,
        parts.problem.node,
        el("div", { class: "row measure" }, parts.runner.node),
        parts.about,
        exports({
          name: "claim",
          lines: { python: "claim-python" },
          request,
          job: () => parts.runner.job(),
          data: () => ({ ...claim, measured: fresh }),
        }),
      ),
      parts.record,
    );
    const asked = el(
      "div",
      { class: "card asked" },
      el("h2", {}, "Claims"),
      text("claims.find", {
        words: "Search",
        live: true,
        help: "words of the statement, the paper or the name",
      }),
      parts.papers,
      choice("claims.sort", { words: "Sort", options: SORTS }),
      choice("claims.verdict", { words: "Verdict", options: [["", "all verdicts"], ...VERDICTS] }),
      parts.count,
      parts.list,
      text("claims.seed", { words: "Seed", mode: "numeric", help: "of a measurement here" }),
    );
    replace(root, asked, parts.answer);
    load();
    open();
  },

  update(changed) {
    if (![...changed].some((key) => key.startsWith(KEY))) return;
    if (FILTERS.some((key) => changed.has(key)) && !changed.has("claims.id")) follow();
    drawList();
    if (changed.has("claims.id")) {
      parts.runner.stop("Cancelled: another claim was chosen.");
      open();
    }
  },
};
