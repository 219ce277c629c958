// Downloads of what is shown: pictures, data, and the lines that reproduce it.

import * as api from "../api.js";
import { picture } from "../plots.js";
import { el } from "./dom.js";

function save(name, address) {
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Save a text as a file. */
export function saveText(name, text, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  save(name, address);
  window.setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const WORDS = { toml: "TOML file", python: "Python lines" };
const LABELS = {
  toml: "Save the TOML file that reproduces this",
  python: "Save the Python lines that reproduce this",
};

const STYLED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-dashoffset",
  "paint-order",
  "font-family",
  "font-size",
  "font-weight",
];

/** A drawing of the page as one that stands by itself: its styles become attributes. */
function standalone(drawing) {
  const copy = drawing.cloneNode(true);
  const pairs = [[drawing, copy]];
  const [theirs, ours] = [drawing, copy].map((root) => [...root.querySelectorAll("*")]);
  theirs.forEach((node, index) => pairs.push([node, ours[index]]));
  for (const [node, own] of pairs) {
    const style = window.getComputedStyle(node);
    for (const name of STYLED) own.setAttribute(name, style.getPropertyValue(name));
    own.removeAttribute("class");
  }
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

/** The picture of a drawing in points of the screen, twice as fine. */
async function painted(text, width, height) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = el("canvas", { width: 2 * width, height: 2 * height });
  const context = canvas.getContext("2d");
  context.fillStyle = window.getComputedStyle(document.body).getPropertyValue("--card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

/** The address of the picture of a plot, or of a drawing. */
async function address(node, format) {
  const drawing = node.querySelector(":scope > svg");
  if (drawing === null) return picture(node, format);
  const text = standalone(drawing);
  if (format === "svg") return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  return painted(text, drawing.clientWidth, drawing.clientHeight);
}

/**
 * Buttons: SVG and PNG of the plot or drawing in a ``node``; or TOML and Python of ``setting()`` (with the ``command``
 * that runs it), JSON of ``data()``, CSV of ``job()``. Panes with ``lines`` of their own name the exports of the server
 * by their kind, with what these are asked in ``request()``.
 */
export function exports({
  node,
  name = "giantstep",
  setting,
  command = "learn",
  lines,
  request,
  data,
  job,
}) {
  const problem = el("span", { class: "problem", role: "alert", hidden: true });
  const button = (words, label, run) =>
    el(
      "button",
      {
        type: "button",
        class: "export",
        "aria-label": label,
        onclick: async () => {
          problem.hidden = true;
          try {
            await run();
          } catch (error) {
            problem.textContent = error.message;
            problem.hidden = false;
          }
        },
      },
      words,
    );
  const found = [];
  if (node) {
    for (const format of ["svg", "png"]) {
      found.push(
        button(format.toUpperCase(), `Save ${name} as ${format.toUpperCase()}`, async () =>
          save(`${name}.${format}`, await address(node, format)),
        ),
      );
    }
  }
  if (setting || lines) {
    const own = command === "analyze" ? { python: "python" } : { toml: "toml", python: "python" };
    for (const [format, task] of Object.entries(lines ?? own)) {
      found.push(
        button(WORDS[format], LABELS[format], async () => {
          const made = await api.call(
            `export/${task}`,
            request ? request() : { command, setting: setting() },
          );
          saveText(made.name, made.text);
        }),
      );
    }
  }
  if (data) {
    found.push(
      button("JSON data", "Save the data as JSON", () => {
        const dated = { version: document.documentElement.dataset.version, ...data() };
        saveText(`${name}.json`, JSON.stringify(dated, null, 1), "application/json");
      }),
    );
  }
  if (job) {
    found.push(
      button("CSV table", "Save the runs as a table", () => {
        if (!job()) throw new Error("There are no runs yet. Press Run first.");
        save(`${name}.csv`, job().file("table.csv"));
      }),
    );
  }
  return el("div", { class: "row exports", role: "group", "aria-label": "Download" }, found, problem);
}
