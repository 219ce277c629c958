// Formulas that are typed with plain characters, found in a text and written as LaTeX.
//
// Sentences of the library may hold a few: x1 - x2, d^1.5, b_2, sqrt(p), n ~ d, >=.

const LETTERS =
  "alpha|beta|gamma|delta|epsilon|eta|theta|kappa|lambda|mu|sigma|tau|phi|omega|ell|nabla";
const NAME = `(?:${LETTERS}|He|[A-Za-z])`;
const INDEX = "(?:_(?:\\{[^}]*\\}|[A-Za-z]+|\\d+))";
const NESTED = "\\((?:[^()]|\\([^()]*\\))*\\)";
const EXPONENT = `(?:\\^(?:\\{[^}]*\\}|${NESTED}|-?[\\d.]*\\d(?:/\\d+)?|[A-Za-z]+\\d?|\\*))`;
const NUMBERED = "(?:[xwbc]\\d+|He\\d+)";
// One sign with what stands at its corners: x1^2, T_k, d^1.5, sqrt(p), He3(x1).
const ATOM = `(?:sqrt\\([^()]*\\)|${NUMBERED}${EXPONENT}?(?:\\([a-z]\\d*\\))?|${NAME}(?:${INDEX}${EXPONENT}?|${EXPONENT})|(?:${LETTERS})(?![a-z]))`;
const FACTOR = `(?:\\d+(?:\\.\\d+)?\\*?)?${ATOM}`;
// Products, sums and relations of such signs, and of single letters beside them.
const LONE = "(?:[ndprtkWXUVyz]|\\d+(?:\\.\\d+)?)";
const FORMULA = `(?:${LONE} ?(?:~|=|<=|>=|!=|->|/) ?)?(?:${FACTOR})(?: ?(?:[-+*/~=]|<=|>=|!=|->) ?(?:${FACTOR}|${LONE}(?![\\w^_])))*`;

/** Formulas in a text, and signs that stand alone. */
export const TYPED = new RegExp(
  `(?<![\\w$\\\\^_.])(?:-(?=x\\d))?(?:${FORMULA})(?![\\w^_])|(?<![\\w$^_.])[ndp] ~ ${LONE}(?![\\w^_])|<=|>=|!=|->|\\+-`,
  "g",
);

const SIGNS = [
  [/<=/g, "\\le "],
  [/>=/g, "\\ge "],
  [/!=/g, "\\ne "],
  [/->/g, "\\to "],
  [/\+-/g, "\\pm "],
  [/~/g, "\\sim "],
  [/\*(?![}])/g, "\\,"],
];

/** A formula of plain characters as LaTeX. */
export function latexOf(text) {
  let found = text.replace(/\^\*/g, "^{\\ast}");
  for (const [sign, latex] of SIGNS) found = found.replace(sign, latex);
  return found
    .replace(/sqrt\(([^()]*)\)/g, "\\sqrt{$1}")
    .replace(/\bHe(\d+)/g, "\\mathrm{He}_{$1}")
    .replace(/\bHe(?=_)/g, "\\mathrm{He}")
    .replace(/\b([xwbc])(\d+)/g, "$1_{$2}")
    .replace(/\^\(((?:[^()]|\([^()]*\))*)\)/g, "^{$1}")
    .replace(/\^(-?[\d.]*\d(?:\/\d+)?|[A-Za-z]{2,})/g, "^{$1}")
    .replace(/_([A-Za-z]{2,}|\d{2,})/g, "_{$1}")
    .replace(new RegExp(`(?<![\\\\A-Za-z])(${LETTERS})(?![a-z])`, "g"), "\\$1");
}
