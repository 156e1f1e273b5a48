// Writes answers.jsonl: the version of node, then what it answers to each line of patterns.jsonl: whether it
// takes the pattern, whether it does with the u flag, and for each sample 1 for a match. Run: node record.mjs
import { readFileSync, writeFileSync } from "node:fs";

const takes = (pattern, flags) => {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch (e) {
    if (e instanceof SyntaxError) return false;
    throw e;
  }
};

const patterns = readFileSync(new URL("patterns.jsonl", import.meta.url), "utf8").trimEnd().split("\n").map((l) => JSON.parse(l));
const answers = patterns.map(({ pattern, samples }) => {
  if (!takes(pattern, "")) return { accepted: false };
  const start = performance.now();
  const matches = samples.map((s) => (new RegExp(pattern).test(s) ? "1" : "0")).join("");
  if (performance.now() - start > 500) throw new Error(`${pattern} takes too long to be of use here`);
  return { accepted: true, unicode: takes(pattern, "u"), matches };
});
const lines = [{ node: process.version }, ...answers].map((a) => JSON.stringify(a));
writeFileSync(new URL("answers.jsonl", import.meta.url), lines.join("\n") + "\n");
