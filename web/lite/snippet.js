import { tokens } from './graphql.js';
import { base } from './schema.js';

const placeholders = { Int: '0', Float: '0', Boolean: 'false' };

// snippet writes a field the way a query selects it, with its required arguments and a few fields of
// what it gives, as {text, at}: at is the offset in the document where it goes. That is the caret,
// but an entry point that does not belong to the caret's operation gets one of its own at the end.
export function snippet(schema, owner, field, document, caret) {
  const text = `${field.name}${required(schema, field)}${selection(schema, base(field.type).name, 3)}`;
  const root = schema.roots.find(({ name }) => name === owner.name);
  const around = definitionAt(document, caret);
  if (!root || around === root.kind || around === 'fragment') return { text: fit(text, document, caret), at: caret };
  const name = field.name[0].toUpperCase() + field.name.slice(1);
  const operation = `${root.kind} ${name} {\n${shift(text, '  ')}\n}\n`;
  const end = document.trimEnd().length;
  return { text: `${end ? '\n\n' : ''}${operation}`, at: end };
}

// definitionAt gives the kind of the definition whose braces the caret is in, or ''.
function definitionAt(document, caret) {
  let at = 0;
  let kind = '';
  let inside = false;
  for (const token of tokens(document)) {
    if (at >= caret) break;
    at += token.text.length;
    if (token.depth > 0) continue;
    if (token.kind === 'keyword' && !kind) kind = token.text;
    if (token.text === '{') inside = true;
    if (token.text === '}') [kind, inside] = ['', false];
  }
  return inside ? kind || 'query' : '';
}

// fit gives the text a line of its own, indented as the line of the caret asks.
function fit(text, document, caret) {
  const line = document.slice(document.lastIndexOf('\n', caret - 1) + 1, caret);
  const rest = document.slice(caret).split('\n', 1)[0];
  const indentation = line.match(/^ */)[0] + (line.trim().endsWith('{') ? '  ' : '');
  const before = line.trim() ? `\n${indentation}` : '';
  const after = rest.trim() ? `\n${line.match(/^ */)[0]}` : '';
  return before + shift(text, indentation).slice(indentation.length) + after;
}

function shift(text, indentation) {
  return text.replace(/^(?=.)/gm, indentation);
}

function required(schema, { args }) {
  const needed = args.filter(must);
  return needed.length ? `(${filled(schema, needed)})` : '';
}

function must({ type, defaultValue }) {
  return type.kind === 'NON_NULL' && defaultValue === null;
}

function filled(schema, inputs) {
  return inputs.map(({ name, type }) => `${name}: ${placeholder(schema, type.kind === 'NON_NULL' ? type.ofType : type)}`).join(', ');
}

function placeholder(schema, { kind, name }) {
  if (kind === 'LIST') return '[]';
  const type = schema.types.get(name);
  if (kind === 'ENUM') return type.enumValues[0].name;
  if (kind !== 'INPUT_OBJECT') return placeholders[name] ?? '""';
  return `{${filled(schema, type.isOneOf ? type.inputFields.slice(0, 1) : type.inputFields.filter(must))}}`;
}

// selection picks the nodes of a connection, else up to three plain fields, else the first object.
function selection(schema, name, levels) {
  const type = schema.types.get(name);
  if (type.kind === 'SCALAR' || type.kind === 'ENUM') return '';
  const free = (type.fields ?? []).filter((field) => !field.isDeprecated && required(schema, field) === '');
  const leaves = free.filter((field) => ['SCALAR', 'ENUM'].includes(base(field.type).kind)).slice(0, 3);
  const nodes = free.find((field) => field.name === 'nodes');
  const deeper = nodes ?? (leaves.length ? null : free[0]);
  let lines = leaves.map((field) => field.name);
  if (deeper && levels > 1) lines = [`${deeper.name}${selection(schema, base(deeper.type).name, levels - 1)}`];
  return ` {\n${shift((lines.length ? lines : ['__typename']).join('\n'), '  ')}\n}`;
}
