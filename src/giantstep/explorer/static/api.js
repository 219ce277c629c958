// The server, as functions: calls that answer at once, jobs that stream.

const PAGE = crypto.getRandomValues(new Uint32Array(3)).join("-");
const headers = { "content-type": "application/json", "x-giantstep-page": PAGE };
const pending = new Map();
// What cancels the jobs that have not ended: nobody waits for those of a page that is gone.
const running = new Set();
window.addEventListener("pagehide", () => running.forEach((cancel) => cancel()));

/**
 * What the server refuses: a sentence, the field it is about, the position in it (from 1). What is
 * ``slow`` may be asked for again with ``patient``.
 */
export class Problem extends Error {
  constructor({ message, field = null, position = null }, slow = false) {
    super(message);
    this.field = field;
    this.position = position;
    this.slow = slow;
  }
}

async function answer(response) {
  const found = await response.json().catch(() => ({ message: "the server gave no answer" }));
  if (!response.ok) throw new Problem(found, response.status === 504);
  return found;
}

const unreachable = () =>
  new Problem({ message: "the server does not answer: is giantstep explore still running?" });

/**
 * Ask for /api/PATH. A newer call with the same ``slot`` takes the place of an older one, whose
 * promise then never settles: nobody waits for it any more.
 */
export async function call(path, body, slot = path) {
  pending.get(slot)?.abort();
  const control = new AbortController();
  pending.set(slot, control);
  const request =
    body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(`/api/${path}`, { ...request, signal: control.signal });
  } catch (error) {
    if (error.name === "AbortError") return new Promise(() => {});
    throw unreachable();
  }
  if (response.status === 409) return new Promise(() => {});
  const found = await answer(response);
  return control.signal.aborted ? new Promise(() => {}) : found;
}

/** Give up a call that is under way: its promise never settles, the server stops its work. */
export function drop(path) {
  const control = pending.get(path);
  if (!control) return;
  control.abort();
  fetch(`/api/${path}`, { method: "DELETE", headers }).catch(() => {});
}

/**
 * Start a job. ``on`` holds a function for each event: started, progress, those of the job's kind,
 * and one of result, problem, cancelled at its end. Returns {id, cancel}.
 */
export async function submit(kind, request, on) {
  const body = JSON.stringify({ kind, ...request });
  const response = await fetch("/api/jobs", { method: "POST", headers, body }).catch(() => {
    throw unreachable();
  });
  const { id } = await answer(response);
  const events = new EventSource(`/api/jobs/${id}/events`);
  const cancel = () => fetch(`/api/jobs/${id}`, { method: "DELETE", headers, keepalive: true });
  running.add(cancel);
  const ends = {
    result: "result",
    problem: "problem",
    bug: "problem",
    died: "problem",
    cancelled: "cancelled",
  };
  for (const name of new Set([...Object.keys(on), ...Object.keys(ends)])) {
    events.addEventListener(name, ({ data }) => {
      const value = JSON.parse(data);
      if (name in ends) {
        events.close();
        running.delete(cancel);
      }
      const told = ends[name] ?? name;
      on[told]?.(told === "problem" ? new Problem(value) : value);
    });
  }
  events.onerror = async () => {
    // A stream that breaks is asked for again by the browser, unless nobody answers any more.
    const answers = () => fetch("/api/jobs", { headers }).then(() => true, () => false);
    if (events.readyState !== EventSource.CLOSED && (await answers())) return;
    if (!running.delete(cancel)) return; // it ended meanwhile, or this was told before
    events.close();
    on.problem?.(unreachable());
  };
  return {
    id,
    file: (name) => `/api/jobs/${id}/files/${name}`,
    cancel,
  };
}
