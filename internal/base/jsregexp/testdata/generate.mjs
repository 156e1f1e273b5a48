// Writes patterns.jsonl: a pattern and texts to try it on in each line. Run: node generate.mjs
// The same seed makes the same file.
import { writeFileSync } from "node:fs";
import { realistic } from "./realistic.mjs";

let state = 20250601;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const chance = (p) => random() < p;
const times = (n, make) => Array.from({ length: n }, make);

// A node of the grammar is its source and a maker of texts that may well match it.
const node = (src, text) => ({ src, text });
const fixed = (src, ...texts) => node(src, () => pick(texts));

const letters = [..."abcxyzABZ019_ -.,:/@#é√ßKſ😀\u00a0\u2028"];
const literal = () => {
  const c = pick(letters);
  return fixed(c.replace(/[.$^*+?()[\]{}|\\/]/g, "\\$&"), c);
};

const escapes = [
  () => fixed("\\d", "0", "9", "٣"), () => fixed("\\D", "a", "-"), () => fixed("\\w", "a", "_", "é"),
  () => fixed("\\W", "-", "é"), () => fixed("\\s", " ", "\t", "\u00a0", "\ufeff"), () => fixed("\\S", "x", "\u200b"),
  () => fixed("\\t", "\t"), () => fixed("\\n", "\n"), () => fixed("\\r", "\r"), () => fixed("\\v", "\v"),
  () => fixed("\\f", "\f"), () => fixed("\\0", "\0"), () => fixed("\\cJ", "\n"), () => fixed("\\ca", "\x01"),
  () => fixed("\\x41", "A"), () => fixed("\\u0041", "A"), () => fixed("\\ud83d\\ude00", "😀"),
  () => fixed("\\.", "."), () => fixed("\\/", "/"), () => fixed("\\-", "-"), () => fixed("\\$", "$"),
];
const legacy = [
  () => fixed("\\07", "\x07"), () => fixed("\\101", "A"), () => fixed("\\377", "ÿ"), () => fixed("\\400", " 0"),
  () => fixed("\\08", "\x008"), () => fixed("\\8", "8"), () => fixed("\\9", "9"), () => fixed("\\a", "a"),
  () => fixed("\\e", "e"), () => fixed("\\c", "\\c"), () => fixed("\\c1", "\\c1", "\x11"), () => fixed("\\c_", "\\c_"),
  () => fixed("\\x4", "x4"), () => fixed("\\xg", "xg"), () => fixed("\\u004", "u004"), () => fixed("\\u{3}", "uuu"),
  () => fixed("\\p{L}", "p{L}", "a"), () => fixed("\\P{Lu}", "P{Lu}"), () => fixed("\\k", "k"), () => fixed("\\k<a>", "k<a>"),
  () => fixed("\\_", "_"), () => fixed("\\@", "@"), () => fixed("\\é", "é"), () => fixed("]", "]"), () => fixed("}", "}"),
  () => fixed("{", "{"), () => fixed("{a}", "{a}"), () => fixed("{,3}", "{,3}"), () => fixed("a{", "a{"),
  () => fixed("a{1", "a{1"), () => fixed("a{1,", "a{1,"), () => fixed("a{2,1x", "a{2,1x"), () => fixed("a{ 1}", "a{ 1}"),
  () => fixed("a{1, 2}", "a{1, 2}", "aa"), () => fixed("a{-1}", "a{-1}"), () => fixed("a{{2}", "a{{", "a{2}"),
  () => fixed("a{b}{2}", "a{b}}"), () => fixed("\\1", "\x01", ""), () => fixed("\\12", "\n"), () => fixed("[\\c]", "\\", "c"),
];

const classAtoms = [
  ..."abcxyz059_", "-", "^", ".", "$", "(", ")", "{", "}", "|", "*", "+", "?", "[", "/", ",", "é", "😀",
  "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "\\-", "\\]", "\\[", "\\\\", "\\^", "\\n", "\\t", "\\0", "\\07", "\\8",
  "\\x41", "\\x4", "\\u0041", "\\u00", "\\u{61}", "\\cA", "\\c1", "\\c_", "\\c", "\\c-", "\\k", "\\p{L}", "\\ud83d",
];
const range = () => pick(["a-z", "A-Z", "0-9", "a-f", "!-/", " -~", "\\x00-\\x1f", "\\u0100-\\u017f", "\\d-x", "a-\\d",
  "\\w-_", "--\\d", "\\d--_", "\\s-\\S", "+--", "---", "_-", "-a", "\\cA-\\cZ", "\\0-\\x20", "é-ÿ", "\\W-é", "a-a", "%--"]);
const charClass = () => {
  const items = times(below(5), () => (chance(0.4) ? range() : pick(classAtoms)));
  const src = `[${chance(0.25) ? "^" : ""}${items.join("")}]`;
  return node(src, () => pick([...letters, "d", "-", "\\", "c", "^", "]", "\x01", "\n", "f", "%", "5"]));
};

const quantifiers = ["*", "+", "?", "{2}", "{0}", "{1,}", "{0,2}", "{2,3}", "{1,1}", "{02}", "{0,00}"];
const counts = { "*": [0, 1, 3], "+": [1, 2], "?": [0, 1], "{2}": [2, 1], "{0}": [0], "{1,}": [1, 3], "{0,2}": [0, 2], "{2,3}": [2, 3],
  "{1,1}": [1], "{02}": [2], "{0,00}": [0] };

// A scope counts the groups of one pattern and keeps unbounded repetition out of itself.
const atom = (depth, scope) => {
  const r = random();
  if (r < 0.34 || depth <= 0) return literal();
  if (r < 0.48) return pick(escapes)();
  if (r < 0.58) return pick(legacy)();
  if (r < 0.74) return charClass();
  if (r < 0.78) return fixed(".", "a", "\n", "é", "\u2028");
  if (r < 0.82 && scope.groups > 0) return node(`\\${1 + below(scope.groups + 1)}`, () => "");
  if (r < 0.85 && scope.names.length > 0) return node(`\\k<${pick(scope.names)}>`, () => "");
  return group(depth, scope);
};
const group = (depth, scope) => {
  const kind = pick(["(", "(", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<"]);
  let open = kind;
  if (kind === "(" || kind === "(?<") scope.groups++;
  if (kind === "(?<") {
    const name = pick(["n", "year", "$x", "_y", "é", "\\u0061", "\\u{62}", "\\ud835\\udc9c"]) + scope.groups;
    scope.names.push(name);
    open = `(?<${name}>`;
  }
  const inner = disjunction(depth - 1, scope);
  const consumes = !["(?=", "(?!", "(?<=", "(?<!"].includes(kind);
  return { ...node(`${open}${inner.src})`, consumes ? inner.text : () => (chance(0.5) ? inner.text() : "")), assertion: kind };
};
const term = (depth, scope) => {
  if (chance(0.07)) return fixed(pick(["^", "$", "\\b", "\\B"]), "");
  const before = scope.repeated;
  const quantified = chance(0.32);
  const q = pick(before ? ["?", "{0,2}", "{1,1}", "{2}"] : quantifiers);
  scope.repeated ||= quantified;
  const a = atom(depth, scope);
  scope.repeated = before;
  if (!quantified || (a.assertion?.startsWith("(?<") && chance(0.9))) return a;
  return node(a.src + q + (chance(0.25) ? "?" : ""), () => times(pick(counts[q]), a.text).join(""));
};
const alternative = (depth, scope) => {
  const terms = times(1 + below(4), () => term(depth, scope));
  return node(terms.map((t) => t.src).join(""), () => terms.map((t) => t.text()).join(""));
};
const disjunction = (depth, scope) => {
  const options = times(chance(0.22) ? 2 + below(2) : 1, () => alternative(depth, scope));
  if (chance(0.03)) options.push(node("", () => ""));
  return node(options.map((o) => o.src).join("|"), () => pick(options).text());
};
const grammatical = () => {
  const d = disjunction(3, { groups: 0, names: [], repeated: false });
  return chance(0.4) ? node(`^${d.src}$`, d.text) : d;
};

const syntax = [..."()[]{}?*+|\\^$.-,:<>=!/019abckupxdwsB", "(?:", "(?=", "(?!", "(?<", "(?<=", "(?<!", "(?<n>", "\\k<n>", "{2}", "{2,1}",
  "{1,", "[^", "\\d", "\\c", "\\u{", "\\x", "\\p{", "[a-", "z-a", "*?", "+*", "??", "(?", "(?<1>", "(?<a", "(?P<n>", "(?#", "(?>", "\\u"];
const mutant = () => {
  const base = grammatical();
  const chars = [...base.src];
  for (let edits = 1 + below(3); edits > 0; edits--) {
    const at = below(chars.length + 1);
    const r = random();
    if (r < 0.45) chars.splice(at, 0, pick(syntax));
    else if (r < 0.75) chars.splice(at, 1);
    else chars.splice(at, 1, pick(syntax));
  }
  return node(chars.join(""), base.text);
};
const soup = () => {
  const parts = times(1 + below(7), () => pick(syntax));
  return node(parts.join(""), () => times(below(5), () => pick(letters)).join(""));
};

const disturbed = (text) => {
  const chars = [...text];
  const at = below(chars.length + 1);
  if (chance(0.5)) chars.splice(at, 1);
  else chars.splice(at, 0, pick(letters));
  return chars.join("");
};
const texts = (n) => {
  const some = [n.text(), n.text(), n.text(), disturbed(n.text()), disturbed(n.text()), times(below(8), () => pick(letters)).join(""), ""];
  return [...new Set(some.map((t) => [...t].slice(0, 40).join(""))), "a", "0-9 A_z", "\\", "]"].slice(0, 7);
};

// Characters of two code units, which a pattern without the u flag has in halves, beside dashes and escapes.
const wide = ["😀", "😂", "𝒜", "𐀀", "\u{10ffff}"];
const halves = ["\\ud83d", "\\ude00", "\\udbff", "\\udfff", "\\ud800-\\udfff", "\\u{1f600}", "\\😀", "\\ud83d-", "-\\ude02"];
const wideAtoms = [
  ...wide, ...wide, ...wide, ...halves, "-", "\\w", "\\d", "\\s", "\\W", "\\D", "\\S", "\\b", "\\B", "\\-", "a-z", "a", "é",
  "^", "\\]", "\\c", "\\cA", "\\c1", "\\x41", "\\0", "\\k", "\\p{L}", "\uffff", "\ue000",
];
const wideTexts = [...wide, "a", "-", "\uffff", "é", "A"];
const wideClass = () => {
  const atoms = times(1 + below(5), () => pick(wideAtoms));
  return `[${chance(0.25) ? "^" : ""}${atoms.map((a) => a + pick(["", "-", "-"])).join("").replace(/-$/, () => pick(["", "-"]))}]`;
};
const wideSource = () => pick([wideClass, wideClass, wideClass, () => pick(wide), () => pick(halves), () => "\\" + pick(wide), () => ".", () => "(?<𝒜>.)\\k<𝒜>"])();
const astral = () => {
  const src = times(1 + below(3), () => wideSource() + pick(["", "", "", "+", "?", "*", "{2}", "{2,1x", "$"])).join("");
  return node(chance(0.2) ? `^${src}$` : src, () => times(below(4), () => pick(wideTexts)).join(""));
};

// Forms younger than the node that answers are not for it to judge, and a few could take it for ever.
const judged = (src) => {
  const names = [...src.matchAll(/\(\?<([^>=!]+)>/g)].map((m) => m[1]);
  return !/\(\?[ims-]+:/.test(src) && new Set(names).size === names.length && src.length <= 120;
};

const seen = new Set();
const lines = [];
const keep = (pattern, samples) => {
  if (seen.has(pattern) || !pattern.isWellFormed() || samples.some((s) => !s.isWellFormed())) return;
  seen.add(pattern);
  lines.push(JSON.stringify({ pattern, samples }));
};
for (const [pattern, ...samples] of realistic) keep(pattern, [...new Set([...samples, "", "a", "-", "1", " x\n"])]);
const fill = (until, make) => {
  while (lines.length < until) {
    const n = make();
    if (judged(n.src)) keep(n.src, texts(n));
  }
};
for (const l of legacy) for (const wrap of ["$", "^$$", "($)+", "$?", "x$*y"]) {
  const n = l();
  keep(wrap.replace("$", () => n.src), texts(n));
}
fill(2000, grammatical);
fill(3800, mutant);
fill(4500, soup);
for (const p of ["[\\w-😀-😂]", "[\\w-😀]", "[😀-\\w]", "[a-😀-😂]", "[😀-😂]", "[\\w--😀]"]) keep(p, [...wideTexts]);
fill(7500, astral);
writeFileSync(new URL("patterns.jsonl", import.meta.url), lines.join("\n") + "\n");
