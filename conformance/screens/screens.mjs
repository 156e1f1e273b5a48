// The screens of a dashboard, one query each.
import { readFileSync } from 'node:fs';
import { examples } from './examples.mjs';

const read = (file) => readFileSync(new URL(file, import.meta.url), 'utf8');

// fragments are the fragments that screens share, by name.
export const fragments = new Map(read('fragments.graphql').split(/\n\n/).slice(1)
  .map((text) => [text.match(/^fragment (\w+)/m)[1], text.trim()]));

// used returns the names of the fragments that a text uses, and of those that they use.
function used(text, names = new Set()) {
  for (const [, name] of text.matchAll(/\.\.\.(\w+)/g)) {
    if (!names.has(name)) used(fragments.get(name), names.add(name));
  }
  return names;
}

const rows = read('../../docs/frontend.md')
  .matchAll(/^\| \[(\w+)\]\(\.\.\/conformance\/screens\/\w+\.graphql\) \| .* \| ([\d,]+) \|$/gm);

// screens are the screens in the guide's table. Each has its name, the name of its operation, its document alone and
// with fragments, the cost that the guide names, and what examples.mjs has for it.
export const screens = [...rows].map(([, name, cost]) => {
  const document = read(`${name}.graphql`).trim();
  const text = [document, ...[...used(document)].map((each) => fragments.get(each))].join('\n\n');
  const operation = text.match(/^query (\w+)/m)[1];
  return { name, operation, document, text, cost: Number(cost.replace(',', '')), ...examples[name] };
});

// lacking returns the parts of a screen's data that should show something, but are null or empty.
export function lacking({ shows }, data) {
  return shows.filter((path) => {
    const value = path.split('.').reduce((at, key) => at?.[key], data);
    return value === null || value === undefined || value === 0 || value.length === 0;
  });
}
