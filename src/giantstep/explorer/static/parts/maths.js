// Formulas: LaTeX between dollar signs as MathML, which browsers draw by themselves.
//
// Elements are built one by one from the names below; no markup is ever read from a text.

const MATHML = "http://www.w3.org/1998/Math/MathML";

const GREEK = {
  ..."alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Sigma Σ Phi Φ Psi Ψ Omega Ω"
    .split(" ")
    .reduce((found, word, at, all) => (at % 2 ? { ...found, [all[at - 1]]: word } : found), {}),
  ell: "ℓ",
  infty: "∞",
  nabla: "∇",
  partial: "∂",
};

const OPERATORS = {
  le: "≤",
  leq: "≤",
  ge: "≥",
  geq: "≥",
  ne: "≠",
  neq: "≠",
  sim: "∼",
  approx: "≈",
  to: "→",
  mapsto: "↦",
  in: "∈",
  mid: "∣",
  propto: "∝",
  gg: "≫",
  ll: "≪",
  times: "×",
  oplus: "⊕",
  otimes: "⊗",
  cdot: "⋅",
  cdots: "⋯",
  ldots: "…",
  dots: "…",
  pm: "±",
  circ: "∘",
  sum: "∑",
  prod: "∏",
  int: "∫",
  langle: "⟨",
  rangle: "⟩",
  lfloor: "⌊",
  rfloor: "⌋",
  lVert: "‖",
  rVert: "‖",
  "|": "‖",
  ast: "*",
  "{": "{",
  "}": "}",
  "%": "%",
};

const LETTERS = { mathbb: "𝔸", mathcal: "𝒜" };
// Letters of these alphabets that Unicode has elsewhere.
const ELSEWHERE = { "mathbb P": "ℙ", "mathbb R": "ℝ", "mathbb N": "ℕ", "mathcal E": "ℰ" };
const UPRIGHT = new Set(["mathrm", "text", "operatorname", "mathbf"]);
const NAMES = new Set(["cos", "sin", "tanh", "exp", "log", "max", "min", "erf", "sign", "Var"]);
const SPACES = { ",": "0.17em", ":": "0.22em", ";": "0.28em", " ": "0.3em", quad: "1em", qquad: "2em" };
const ACCENTS = { hat: "^", tilde: "~", bar: "¯" };
// What sets the size of what follows.
const SIZES = new Set(["left", "right", "bigl", "bigr", "Bigl", "Bigr", "big", "Big", "displaystyle", "!"]);

function node(tag, children, attributes = {}) {
  const made = document.createElementNS(MATHML, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...[children].flat());
  return made;
}

/** Several nodes as one. */
const row = (nodes) => (nodes.length === 1 ? nodes[0] : node("mrow", nodes));

/** A square root, its bar drawn by the style sheet: msqrt is ill drawn in fonts without mathematics. */
const root = (content) =>
  node("mrow", [node("mo", "√", { stretchy: "false" }), node("mrow", [content], { class: "root" })]);

/** A letter of another alphabet: E as 𝔼. */
function lettered(alphabet, text) {
  const from = LETTERS[alphabet].codePointAt(0) - "A".charCodeAt(0);
  return [...text]
    .map((sign) => ELSEWHERE[`${alphabet} ${sign}`] ?? (/[A-Z]/.test(sign) ? String.fromCodePoint(from + sign.charCodeAt(0)) : sign))
    .join("");
}

class Reader {
  constructor(latex) {
    this.tokens = latex.match(/\\(?:[A-Za-z]+|.)|\d+(?:\.\d+)?|\s+|[^]/gu)?.filter((token) => token.trim() || token === "\\ ") ?? [];
    this.at = 0;
  }

  /** Nodes up to the end or a closing brace. */
  list() {
    const found = [];
    while (this.at < this.tokens.length && this.tokens[this.at] !== "}") {
      const token = this.tokens[this.at];
      if (token === "^" || token === "_") found.push(this.scripted(found.pop() ?? node("mrow", [])));
      else if (token === "'") found.push(node("msup", [found.pop() ?? node("mrow", []), this.prime()]));
      else {
        const made = this.one();
        if (made) found.push(made);
      }
    }
    return found;
  }

  prime() {
    this.at += 1;
    return node("mo", "′");
  }

  /** A base with what is lowered and raised after it. */
  scripted(base) {
    const scripts = {};
    while (["^", "_"].includes(this.tokens[this.at]) && !(this.tokens[this.at] in scripts)) {
      const kind = this.tokens[this.at];
      this.at += 1;
      scripts[kind] = this.one() ?? node("mrow", []);
    }
    if (scripts._ && scripts["^"]) return node("msubsup", [base, scripts._, scripts["^"]]);
    return scripts._ ? node("msub", [base, scripts._]) : node("msup", [base, scripts["^"]]);
  }

  /** The next node: a group, a command or a sign; null where a token sets nothing. */
  one() {
    const token = this.tokens[this.at] ?? "";
    this.at += 1;
    if (token === "{") {
      const inside = row(this.list());
      this.at += 1;
      return inside;
    }
    if (token.startsWith("\\")) return this.command(token.slice(1));
    if (/^\d/.test(token)) return node("mn", token);
    if (/^\p{L}$/u.test(token)) return node("mi", token);
    // Brackets are as high as a letter: formulas stand in lines of text.
    const flat = { stretchy: "false", ...(/[[\](){}|/]/.test(token) ? { lspace: "0", rspace: "0" } : {}) };
    return node("mo", { "-": "−", "*": "∗" }[token] ?? token, flat);
  }

  /** The text of the group that follows, as it stands. */
  words() {
    if (this.tokens[this.at] !== "{") return this.tokens[this.at++] ?? "";
    const end = this.tokens.indexOf("}", this.at);
    const text = this.tokens.slice(this.at + 1, end < 0 ? undefined : end).join("");
    this.at = end < 0 ? this.tokens.length : end + 1;
    return text.replaceAll("\\ ", "\u00a0");
  }

  command(name) {
    if (name in GREEK) return node("mi", GREEK[name]);
    if (name === "top") return node("mi", "⊤");
    if (name === "perp") return node("mi", "⊥");
    if (name in OPERATORS) return node("mo", OPERATORS[name], { stretchy: "false" });
    if (name in SPACES) return node("mspace", [], { width: SPACES[name] });
    if (SIZES.has(name)) return null;
    if (name === "frac") return node("mfrac", [this.one(), this.one()]);
    if (name === "sqrt") return root(this.one());
    if (name in ACCENTS) return node("mover", [this.one(), node("mo", ACCENTS[name])], { accent: "true" });
    if (name in LETTERS) return node("mi", lettered(name, this.words()), { mathvariant: "normal" });
    if (UPRIGHT.has(name)) return node(name === "text" ? "mtext" : "mi", this.words(), { mathvariant: "normal" });
    return node("mi", name, NAMES.has(name) ? { mathvariant: "normal" } : {});
  }
}

/** A formula of LaTeX as an element of MathML. */
export function formula(latex) {
  const made = node("math", row(new Reader(latex).list()), { display: "inline" });
  made.dataset.latex = latex;
  return made;
}
