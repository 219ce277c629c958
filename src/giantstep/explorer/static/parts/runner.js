// A run button with progress and cancel, for any kind of job.

import * as api from "../api.js";
import { duration, el } from "./dom.js";
import { complaint } from "./notes.js";

/**
 * {node, job(), stop(why), cost(found)}. ``cost`` is told what the runs would take: those that no page
 * waits for are not offered. ``request`` gives what is sent with the job, ``on`` the functions for its
 * events (those of its kind, and result). Events of a job that was stopped are not told any more.
 */
export function runner({ kind, request, on, page, words = "Run" }) {
  let job = null;
  let turn = 0;
  const bar = el("progress", { max: 1, "aria-label": "Progress", hidden: true });
  const told = el("span", { class: "told" });
  const problem = complaint();
  const long = el("p", { class: "problem slow", role: "status", hidden: true });
  const run = el("button", { type: "button", class: "main", onclick: start }, words);
  const cancel = el(
    "button",
    {
      type: "button",
      hidden: true,
      // It takes the place of Run, where the second of two fast clicks is not meant for it.
      onclick: ({ detail }) => detail < 2 && stop("Cancelled. The runs so far stay."),
    },
    "Cancel",
  );

  function show(active, text) {
    run.hidden = active;
    cancel.hidden = !active;
    bar.hidden = !active;
    told.textContent = text;
    if (active) bar.removeAttribute("value");
  }

  function end(text, error = null) {
    turn += 1;
    const focused = document.activeElement === cancel;
    show(false, text);
    if (focused) run.focus();
    problem.say(error?.message);
    if (text) page.say(text);
  }

  /** End a job that is waiting or running, saying why; words about one that has ended go. */
  function stop(why) {
    if (cancel.hidden) {
      told.textContent = "";
      return;
    }
    job?.cancel();
    end(why);
  }

  /** Say how long it has taken, until there is progress to tell. */
  function count(mine) {
    const begun = performance.now();
    const timer = window.setInterval(() => {
      if (mine !== turn || bar.hasAttribute("value")) window.clearInterval(timer);
      else told.textContent = `running, ${Math.round((performance.now() - begun) / 1000)} s`;
    }, 1000);
  }

  async function start() {
    const mine = (turn += 1);
    problem.say("");
    show(true, "waiting for its turn");
    cancel.focus();
    const current = (tell) => (value) => mine === turn && tell(value);
    const own = Object.entries(on).map(([name, tell]) => [name, current(tell)]);
    try {
      const begun = await api.submit(kind, request(), {
        ...Object.fromEntries(own),
        started: current(() => {
          show(true, "running");
          count(mine);
        }),
        progress: current(({ share }) => {
          bar.value = share;
          told.textContent = `${Math.round(100 * share)} %`;
        }),
        result: current((found) => {
          end("Finished.");
          on.result?.(found);
        }),
        problem: current((error) => end("", error)),
        cancelled: current(() => end("Cancelled. The runs so far stay.")),
      });
      if (mine === turn) job = begun;
      else begun.cancel(); // stopped before it had a number
    } catch (error) {
      if (mine === turn) end("", error);
    }
  }

  /** Offer the runs only where the server would take them: {seconds}, or {message} where it cannot. */
  function cost({ seconds }) {
    const most = page.vocabulary.longest_job;
    run.disabled = !(seconds <= most);
    long.hidden = !(seconds > most);
    long.textContent = long.hidden
      ? ""
      : `These runs would take ${duration(seconds)}; the page runs up to ${duration(most)}. Use fewer samples or runs, or save the TOML file for the command line.`;
  }

  return {
    node: el("div", {}, el("div", { class: "row runner" }, run, cancel, bar, told), long, problem.node),
    job: () => job,
    stop,
    cost,
  };
}
