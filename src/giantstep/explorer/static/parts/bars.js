// Hermite coefficients of an activation as bars, those that a gradient step cannot use left pale.

import { number, svg } from "./dom.js";

const HEIGHT = 150;
const BASE = 22;

/** Draw degrees {degree, coefficient, picks_up} into a drawing of so many pixels. */
export function bars(degrees, name, width) {
  const largest = Math.max(...degrees.map((entry) => Math.abs(entry.coefficient)), 1e-12);
  const lowest = Math.min(...degrees.map((entry) => entry.coefficient), 0);
  const room = HEIGHT - BASE - 30;
  const span = Math.max(...degrees.map((entry) => entry.coefficient), 0) - lowest || largest;
  const scale = room / span;
  const zero = 16 + room + lowest * scale;
  const step = width / degrees.length;
  const parts = degrees.flatMap(({ degree, coefficient, picks_up: used }, index) => {
    const height = Math.abs(coefficient) * scale;
    const x = index * step + step * 0.18;
    const y = coefficient > 0 ? zero - height : zero;
    const middle = index * step + step / 2;
    const small = Math.abs(coefficient) < 5e-4 ? "≈ 0" : coefficient.toFixed(3);
    const value = coefficient === 0 ? "0" : small;
    return [
      svg(
        "g",
        { class: used || degree === 0 ? "bar" : "bar unused" },
        svg("title", {}, `degree ${degree}: ${coefficient}`),
        svg("rect", { x, y, width: step * 0.64, height: Math.max(height, 1) }),
      ),
      step > 34
        ? svg(
            "text",
            {
              x: middle,
              y: coefficient < 0 ? zero + height + 12 : y - 4,
              class: "value",
              "text-anchor": "middle",
            },
            value,
          )
        : null,
      svg("text", { x: middle, y: HEIGHT - 4, class: "tick", "text-anchor": "middle" }, degree),
    ];
  });
  const told = degrees
    .map((entry) => `c${entry.degree} = ${number(entry.coefficient, 3)}`)
    .join(", ");
  return svg(
    "svg",
    {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      class: "bars",
      "aria-label": `Hermite coefficients of ${name}: ${told}`,
    },
    svg("line", { x1: 0, y1: zero, x2: width, y2: zero, class: "ground" }),
    parts.filter(Boolean),
  );
}
