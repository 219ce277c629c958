// Keep what is shown: pictures, data, and the lines that reproduce it.

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

/**
 * Buttons: SVG and PNG of a plot ``node``; or TOML and Python of ``setting()`` (with the ``command``
 * that runs it), JSON of ``data()``, CSV of ``job()``.
 */
export function exports({ node, name = "giantstep", setting, command = "learn", data, job }) {
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
          save(`${name}.${format}`, await picture(node, format)),
        ),
      );
    }
  }
  if (setting) {
    for (const [format, words] of [["toml", "TOML file"], ["python", "Python lines"]]) {
      found.push(
        button(words, `Save the ${words} that reproduce this`, async () => {
          const made = await api.call(`export/${format}`, { command, setting: setting() });
          saveText(made.name, made.text);
        }),
      );
    }
  }
  if (data) {
    found.push(
      button("JSON data", "Save the data as JSON", () => {
        saveText(`${name}.json`, JSON.stringify(data(), null, 1), "application/json");
      }),
    );
  }
  if (job) {
    found.push(
      button("CSV table", "Save the runs as a table", () => {
        if (!job()) throw new Error("there are no runs yet: press Run first");
        save(`${name}.csv`, job().file("table.csv"));
      }),
    );
  }
  return el("div", { class: "row exports", role: "group", "aria-label": "Keep" }, found, problem);
}
