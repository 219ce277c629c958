// Plots: Plotly, loaded when it is needed, in the colours of the page.

import { el } from "./parts/dom.js";

const drawn = new Map();
let loading = null;
let last = Promise.resolve();

/** Plotly itself, from the installed package. */
function plotly() {
  loading ??= new Promise((ready, fail) => {
    const script = el("script", { src: "/plotly.js" });
    script.onload = () => ready(window.Plotly);
    script.onerror = () => fail(new Error("Plotly's JavaScript could not be loaded"));
    document.head.append(script);
  });
  return loading;
}

/** Begin to load Plotly, which takes longer than most of what it draws. */
export function prepare() {
  plotly().catch(() => {}); // told by the first plot
}

/** A turn of its own for every plot: each is seen as soon as it is drawn. */
function turn() {
  last = last.then(() => new Promise((ready) => window.setTimeout(ready)));
  return last;
}

/** Colours of the page by name, as style.css has them: ink, faint, paper, theory, measured, ... */
export function colours() {
  const style = window.getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["ink", "faint", "line", "paper", "card", "theory", "measured", "floor", "accent"];
  return {
    ...Object.fromEntries(names.map((name) => [name, named(name)])),
    series: [1, 2, 3, 4, 5, 6].map((k) => named(`series-${k}`)),
  };
}

const axis = (colour) => ({
  gridcolor: colour.line,
  zerolinecolor: colour.line,
  linecolor: colour.faint,
  automargin: true,
  fixedrange: true,
  // 20000 and 1e+12, not a raised exponent: Plotly would style it inline, which the policy forbids. For
  // the same reason no text of a plot holds markup.
  tickformat: "~g",
});

// Pixels of a plot below which the titles of axes are small, and digits of a decade have no ticks.
const PHONE = 350;

const compact = ({ dtick, title, ...rest }) => ({
  ...rest,
  ...(dtick === "D2" ? { nticks: 4 } : { dtick }),
  title: { ...title, font: { size: 11 } },
});

/**
 * Draw into a node. ``make`` takes the colours and returns {data, layout}; it is called again when
 * the theme changes. ``words`` say what the plot shows to those who cannot see it.
 */
export async function plot(node, words, make) {
  drawn.set(node, { words, make });
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", words);
  const library = await plotly();
  await turn();
  if (drawn.get(node)?.make !== make) return;
  const colour = colours();
  const { data, layout } = make(colour);
  const own = {
    paper_bgcolor: colour.card,
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour.ink, family: "system-ui, sans-serif", size: 13 },
    margin: { l: 8, r: 12, t: 12, b: 8 },
    hoverlabel: { bgcolor: colour.card, bordercolor: colour.faint, font: { color: colour.ink } },
    legend: { orientation: "h", yref: "container", y: 1, yanchor: "top", x: 0 },
    ...layout,
  };
  for (const name of Object.keys(own).filter((key) => /^[xy]axis/.test(key))) {
    own[name] = { ...axis(colour), ...own[name] };
    if (node.clientWidth < PHONE) own[name] = compact(own[name]);
  }
  await library.react(node, data, own, { displayModeBar: false, responsive: true });
  // A drawing outside the window in which Plotly measures texts: a picture for nobody.
  document.getElementById("js-plotly-tester")?.setAttribute("aria-hidden", "true");
}

/** On paper a plot is as wide as its card: with a view box its drawing can be made smaller. */
function fitPaper() {
  for (const svg of document.querySelectorAll(".plot .main-svg"))
    svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
}

window.addEventListener("beforeprint", fitPaper);
window.addEventListener("afterprint", () => {
  for (const svg of document.querySelectorAll(".plot .main-svg")) svg.removeAttribute("viewBox");
});

/** Draw everything anew in the colours of the theme. */
export function themed() {
  for (const [node, { words, make }] of drawn) if (node.isConnected) plot(node, words, make);
}

/** The plot of a node as an address of its picture: format svg or png. */
export async function picture(node, format) {
  const library = await plotly();
  const { width, height } = node.getBoundingClientRect();
  const scale = format === "png" ? 2 : 1;
  return library.toImage(node, { format, width, height, scale });
}
