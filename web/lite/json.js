// JSON is read token by token here rather than with JSON.parse alone: the explorer says exactly what
// is wrong and where, and shows and sends numbers digit by digit as they were written.

// A token is of the kind whose group it matches.
const kinds = ['space', 'string', 'number', 'keyword', 'mark', 'wrong'];
const pattern = new RegExp(
  [
    String.raw`([ \t\r\n]+)`,
    String.raw`("(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")`,
    String.raw`(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-]))`,
    String.raw`((?:true|false|null)(?!\w))`,
    String.raw`([{}[\]:,])`,
    String.raw`("[^\n]*|[\w.+-]+|.)`,
  ].join('|'),
  'gsu',
);

// tokens splits a text into {kind, text, at}; together they are the whole text. Names of members are
// of kind `name`; what cannot be JSON is of kind `wrong`.
export function* tokens(text) {
  let held = null;
  for (const match of text.matchAll(pattern)) {
    const [part] = match;
    const kind = kinds[match.indexOf(part, 1) - 1];
    const token = { kind, text: part, at: match.index };
    if (kind === 'space') {
      if (held) held.push(token);
      else yield token;
      continue;
    }
    if (held) {
      if (part === ':') held[0].kind = 'name';
      yield* held;
      held = null;
    }
    if (kind === 'string') held = [token];
    else yield token;
  }
  if (held) yield* held;
}

const name = 'a name in quotes';
const value = 'a value';
const values = new Set(['string', 'number', 'keyword']);

// fault says what is wrong with a text that should be one JSON object, as {line, column, message}, or
// gives null. Lines and columns count from 1.
export function fault(text) {
  const stack = [];
  let want = '{';
  for (const token of tokens(text)) {
    if (token.kind === 'space') continue;
    const next = step(stack, want, token);
    if (typeof next === 'object') return place(text, token.at, next.message);
    want = next;
  }
  return want === 'the end' ? null : place(text, text.length, `expected ${want}, found the end of the text`);
}

// step gives what must follow the token, or an object that says why the token is refused.
function step(stack, want, token) {
  const scope = stack.at(-1);
  const options = want.split(' or ');
  const refuse = { message: `expected ${want}, found ${shown(token)}` };
  if (token.text === '{' && (options.includes(value) || options.includes('{'))) {
    stack.push({ close: '}', names: new Set() });
    return `${name} or }`;
  }
  if (token.text === '[' && options.includes(value)) {
    stack.push({ close: ']' });
    return `${value} or ]`;
  }
  if (token.text === scope?.close && options.includes(token.text)) {
    stack.pop();
    return after(stack);
  }
  if (options.includes(name) && (token.kind === 'name' || token.kind === 'string')) {
    const given = JSON.parse(token.text);
    if (scope.names.has(given)) return { message: `the name ${token.text} is there twice` };
    scope.names.add(given);
    return ':';
  }
  if (options.includes(value) && (values.has(token.kind) || token.kind === 'name')) return after(stack);
  if (options.includes(token.text)) {
    if (token.text === ':') return value;
    return scope.close === '}' ? name : value;
  }
  return refuse;
}

function after(stack) {
  return stack.length ? `, or ${stack.at(-1).close}` : 'the end';
}

function shown(token) {
  const text = token.text.length > 24 ? `${token.text.slice(0, 24)}…` : token.text;
  if (token.kind !== 'wrong') return text;
  return text.startsWith('"') ? `the broken string ${text}` : `${text}, which is not JSON`;
}

function place(text, at, message) {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: lines.at(-1).length + 1, message };
}

// layout indents JSON text by two spaces and changes nothing else: digits and escapes stay.
export function layout(text) {
  let out = '';
  let depth = 0;
  let opened = false;
  for (const { kind, text: part } of tokens(text)) {
    if (kind === 'space') continue;
    const closes = part === '}' || part === ']';
    if (closes) depth--;
    if (opened !== closes) out += `\n${'  '.repeat(depth)}`;
    opened = part === '{' || part === '[';
    if (opened) depth++;
    out += part;
    if (part === ':') out += ' ';
    if (part === ',') out += `\n${'  '.repeat(depth)}`;
  }
  return out;
}
