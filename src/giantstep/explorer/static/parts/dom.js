// Elements from data: no markup is ever read from a text.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** An HTML element: el("p", {class: "note"}, "text", other). */
export const el = (tag, attributes, ...children) =>
  filled(document.createElement(tag), attributes, children);

/** An element of a drawing. */
export const svg = (tag, attributes, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

/** Put these children in the place of those that are there. */
export function replace(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

/** Call a function once nothing has happened for some milliseconds. */
export function debounced(wait, run) {
  let timer = 0;
  return (...given) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => run(...given), wait);
  };
}

/** Run once before the next picture of the window, however often it is asked for until then. */
export function onceAFrame(run) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    window.requestAnimationFrame(() => {
      asked = false;
      run();
    });
  };
}

/** A table with a line of titles above its rows. */
export function table(titles, rows) {
  const head = titles.map((title) => el("th", { scope: "col" }, title));
  return el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
}

/** A number as a person writes it: 1,000,000 or 3.2e9; digits after the point as asked. */
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-3)) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    return `${Number(mantissa)}·10${superscript(Number(exponent))}`;
  }
  return Number(
    value.toPrecision(Math.max(digits, String(Math.trunc(Math.abs(value))).length)),
  ).toLocaleString("en");
}

/** So many of something: 1 run, 2 runs. */
export const many = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** Seconds as a person says them. */
export function duration(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return `about ${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `about ${Math.ceil(seconds / 60)} min`;
  const hours = seconds / 3600;
  return hours < 48 ? `about ${Math.ceil(hours)} hours` : `about ${number(hours / 24, 2)} days`;
}

/** A symbol as one says it, for those who hear the page: the names of its signs. */
export const spoken = (symbol) =>
  symbol.replace(/\\(?:mathrm|mathbb)|[${}\\]/g, "").replace(/[_,]/g, " ").replace("^", " to the ");

const lowered = (digits) => digits.replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);
const superscript = (digits) =>
  String(digits)
    .replace("-", "⁻")
    .replace(".", "·")
    .replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);

/** A text of the library for reading: x1 as x₁, b_3 as b₃, d^2 as d², p*d^-0.5 as p·d⁻⁰·⁵. */
export const readable = (text) =>
  text
    .replace(/\b([xbc])_?(\d+)\b/g, (_, letter, digits) => letter + lowered(digits))
    .replace(/\^\(?(-?\d+(?:\.\d+)?)\)?/g, (_, digits) => superscript(digits))
    .replace(/(?<=\w)\*(?=\w)/g, "·");
