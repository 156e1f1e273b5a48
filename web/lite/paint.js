import * as graphql from './graphql.js';
import * as json from './json.js';

// Beyond this many characters a text is shown in one colour: a span for each token would make the
// page slow, and nobody reads that far for the colours.
const limit = 300_000;

const plain = new Set(['space', 'mark']);

// paint gives nodes that show a text in colours; language is 'graphql' or 'json'.
export function paint(text, language) {
  if (text.length > limit) return [text];
  const nodes = [];
  for (const { kind, text: part } of (language === 'json' ? json : graphql).tokens(text)) {
    if (plain.has(kind)) {
      nodes.push(part);
      continue;
    }
    const span = document.createElement('span');
    span.className = `ink-${kind}`;
    span.textContent = part;
    nodes.push(span);
  }
  return nodes;
}
