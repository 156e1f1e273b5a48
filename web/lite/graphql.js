// A token is of the kind whose group it matches.
const kinds = ['space', 'comment', 'string', 'number', 'variable', 'directive', 'name', 'mark'];
const pattern = new RegExp(
  [
    String.raw`([\s,\uFEFF]+)`,
    String.raw`(#[^\n\r]*)`,
    String.raw`("{3}(?:\\"{3}|[^"]|"(?!""))*(?:"{3}|$)|"(?:[^"\\\n\r]|\\.)*"?)`,
    String.raw`(-?\d[\w.+-]*)`,
    String.raw`(\$\w*)`,
    String.raw`(@\w*)`,
    String.raw`([_A-Za-z]\w*)`,
    String.raw`(\.\.\.|.)`,
  ].join('|'),
  'gsu',
);

const definitions = new Set(['query', 'mutation', 'subscription', 'fragment']);
const words = new Set(['on', 'true', 'false', 'null']);

// tokens splits a GraphQL document into {kind, text, depth}; together they are the whole text. depth
// counts the brackets that are open before the token. Broken text gives tokens too: people type.
export function* tokens(text) {
  let depth = 0;
  for (const match of text.matchAll(pattern)) {
    const [part] = match;
    const kind = kinds[match.indexOf(part, 1) - 1];
    if ('})]'.includes(part)) depth = Math.max(0, depth - 1);
    yield { kind: kind === 'name' ? nameKind(part, depth) : kind, text: part, depth };
    if ('{(['.includes(part)) depth++;
  }
}

function nameKind(name, depth) {
  if (words.has(name) || (depth === 0 && definitions.has(name))) return 'keyword';
  return /^[A-Z]/.test(name) ? 'type' : 'name';
}

// operations lists the operations of a document as {kind, name}; the name of an anonymous one is ''.
export function operations(text) {
  const found = [];
  let definition = null;
  for (const token of tokens(text)) {
    if (token.depth > 0 || token.kind === 'space' || token.kind === 'comment') continue;
    if (token.text === '{') {
      if (!definition) found.push({ kind: 'query', name: '' });
    } else if (token.text === '}') {
      definition = null;
    } else if (!definition && token.kind === 'keyword') {
      definition = { kind: token.text, name: '' };
      if (token.text !== 'fragment') found.push(definition);
    } else if (definition?.name === '' && /^\w/.test(token.text)) {
      definition.name = token.text;
    }
  }
  return found;
}
