// The whole state of the page, as texts by name; it lives in the address, after the #.
//
// A pane declares its keys with their defaults; only what differs from them is in the address.

const defaults = new Map();
const values = new Map();
const listeners = new Set();
// Keys that have changed since a control is dragged.
const dragged = new Set();

const fromAddress = () => new URLSearchParams(window.location.hash.slice(1));
// What the address says to panes that have not been shown yet.
let others = new Map(fromAddress());

/** Make keys known: {key: default}. A value in the address takes precedence. */
export function declare(entries) {
  for (const [key, value] of Object.entries(entries)) {
    if (defaults.has(key)) continue;
    defaults.set(key, String(value));
    values.set(key, others.get(key) ?? String(value));
    others.delete(key);
  }
}

/** The value of a key, a text. */
export const get = (key) => values.get(key);

/** The default of a key. */
export const initial = (key) => defaults.get(key);

/** The keys that begin with a prefix, without it: {field: value}. */
export function under(prefix) {
  const found = {};
  for (const [key, value] of values) {
    if (key.startsWith(prefix)) found[key.slice(prefix.length)] = value;
  }
  return found;
}

/** Whether some known key whose name has a form is not at its default. */
export const given = (form) =>
  [...values].some(([key, value]) => form.test(key) && value !== defaults.get(key));

/** Change some keys before anybody listens: the address is written anew in its place. */
export function replace(changes) {
  if (hold(changes).size > 0) window.history.replaceState(null, "", address());
}

// A change of one of these is a new place, to which the browser's back button returns.
const PLACES = new Set(["pane", "tour", "tour.answer", "side.field"]);

/** Change some keys, write the address anew and tell those who listen which have changed. */
export function set(changes) {
  const changed = new Set([...dragged, ...hold(changes)]);
  dragged.clear();
  if (changed.size === 0) return;
  const placed = [...changed].some((key) => PLACES.has(key));
  window.history[placed ? "pushState" : "replaceState"](null, "", address());
  for (const listener of listeners) listener(changed, false);
}

/**
 * Change some keys while a control is dragged: the address waits until ``set`` is called at its end,
 * which tells the listeners of these keys again.
 */
export function drag(changes) {
  const changed = hold(changes);
  if (changed.size === 0) return;
  changed.forEach((key) => dragged.add(key));
  for (const listener of listeners) listener(changed, true);
}

/** Keep some values; which of them have changed. */
function hold(changes) {
  const changed = new Set();
  for (const [key, value] of Object.entries(changes)) {
    if (!defaults.has(key)) throw new Error(`undeclared key ${key}`);
    if (values.get(key) !== String(value)) changed.add(key);
    values.set(key, String(value));
  }
  return changed;
}

/** Call a function with the set of changed keys, and whether one is dragged, whenever something changes. */
export function listen(listener) {
  listeners.add(listener);
}

/** The address that restores this state. */
export function address() {
  const query = new URLSearchParams([...others]);
  for (const [key, value] of values) {
    if (value !== defaults.get(key)) query.set(key, value);
  }
  const text = query.toString();
  return `${window.location.origin}${window.location.pathname}${text ? `#${text}` : ""}`;
}

// An address typed or pasted into the same window, or one that the back button returns to.
window.addEventListener("hashchange", () => {
  const given = fromAddress();
  others = new Map([...given].filter(([key]) => !defaults.has(key)));
  const changes = {};
  for (const [key, value] of defaults) changes[key] = given.get(key) ?? value;
  const changed = hold(changes);
  if (changed.size > 0) for (const listener of listeners) listener(changed, false);
});
