// A number that glides from one step to the next, so that what is drawn at it flies there.

// Milliseconds from step to step: the player shows each for a little longer.
const DURATION = 600;

const gentle = (share) => share * share * (3 - 2 * share);

/**
 * {at(), jump(step), to(step)}. ``draw`` is called with numbers between steps on the way, one drawing
 * after the other. Whoever asks for less motion sees the end at once.
 */
export function flight(draw) {
  const less = window.matchMedia("(prefers-reduced-motion: reduce)");
  let now = 0;
  let from = 0;
  let end = 0;
  let begun = 0;
  let timer = 0;

  function jump(step) {
    window.clearTimeout(timer);
    timer = 0;
    now = step;
    end = step;
  }

  /** The way is over, also in a window that is hidden and has no frames. */
  function land() {
    jump(end);
    draw(now);
  }

  async function frame(mine) {
    if (timer !== mine) return;
    const share = Math.min(1, (performance.now() - begun) / DURATION);
    now = from + (end - from) * gentle(share);
    await draw(now);
    window.requestAnimationFrame(() => frame(mine));
  }

  return {
    at: () => now,
    jump,
    to(step) {
      if (less.matches || step === now) {
        jump(step);
        draw(now);
        return;
      }
      window.clearTimeout(timer);
      [from, end, begun] = [now, step, performance.now()];
      timer = window.setTimeout(land, DURATION);
      frame(timer);
    },
  };
}

/** A value of a list, numbers or lists of numbers: ``at`` counts them and may lie between two. */
export function between(values, at) {
  const before = values[Math.floor(at)];
  const after = values[Math.ceil(at)];
  const share = at - Math.floor(at);
  const mixed = (one, other) =>
    Array.isArray(one)
      ? one.map((value, index) => mixed(value, other[index]))
      : one + share * (other - one);
  return mixed(before, after);
}
