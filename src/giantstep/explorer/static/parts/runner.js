// A run button with progress and cancel, for any kind of job.

import * as api from "../api.js";
import { el } from "./dom.js";

/**
 * {node, job()}. ``request`` gives what is sent with the job, ``on`` the functions for its events
 * (those of its kind, and result).
 */
export function runner({ kind, request, on, page, words = "Run" }) {
  let job = null;
  let running = false;
  const bar = el("progress", { max: 1, "aria-label": "Progress", hidden: true });
  const told = el("span", { role: "status" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const run = el("button", { type: "button", class: "main", onclick: start }, words);
  const cancel = el("button", { type: "button", disabled: true, onclick: () => job?.cancel() }, "Cancel");

  function state(active, text) {
    running = active;
    run.disabled = active;
    cancel.disabled = !active;
    bar.hidden = !active;
    told.textContent = text;
    if (active) bar.removeAttribute("value");
  }

  function failed(error) {
    state(false, "");
    problem.textContent = error.message;
    problem.hidden = false;
  }

  async function start() {
    if (running) return;
    problem.hidden = true;
    state(true, "waiting");
    try {
      job = await api.submit(kind, request(), {
        ...on,
        started: () => state(true, "running"),
        progress: ({ share }) => {
          bar.value = share;
          told.textContent = `${Math.round(100 * share)} %`;
        },
        result: (found) => {
          state(false, "finished");
          on.result?.(found);
        },
        problem: failed,
        cancelled: () => {
          state(false, "cancelled");
          page.say("The run was cancelled; what had come in stays.");
        },
      });
    } catch (error) {
      failed(error);
    }
  }

  return { node: el("div", {}, el("div", { class: "row" }, run, cancel, bar, told), problem), job: () => job };
}
