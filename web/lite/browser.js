import { element } from './element.js';
import { base, members } from './schema.js';

const kinds = { OBJECT: 'type', INTERFACE: 'interface', UNION: 'union', ENUM: 'enum', INPUT_OBJECT: 'input', SCALAR: 'scalar' };
const groups = { OBJECT: 'Objects', INTERFACE: 'Interfaces', UNION: 'Unions', ENUM: 'Enums', INPUT_OBJECT: 'Inputs', SCALAR: 'Scalars' };
const shownHits = 100;

// Browser shows a schema: an overview, one page for each type, and what a search finds.
export class Browser {
  #schema = null;
  #trail = [];
  #view;
  #search;
  #insert;

  // view is the element to fill, search the field to read; insert is called with a type and its field.
  constructor(view, search, insert) {
    this.#view = view;
    this.#search = search;
    this.#insert = insert;
    search.addEventListener('input', () => this.#draw());
  }

  show(schema) {
    this.#schema = schema;
    this.#trail = [];
    this.#draw();
  }

  #open(name, member) {
    this.#search.value = '';
    this.#trail.push({ name, member });
    this.#draw();
    const target = this.#view.querySelector('.here') ?? this.#view.querySelector('h3');
    target.scrollIntoView({ block: 'nearest' });
    target.focus({ preventScroll: true });
  }

  #back() {
    this.#trail.pop();
    this.#draw();
    (this.#view.querySelector('h3') ?? this.#search).focus();
  }

  #draw() {
    if (!this.#schema) return;
    const words = this.#search.value.trim();
    const here = this.#trail.at(-1);
    let page = this.#overview();
    if (words) page = this.#hits(words);
    else if (here) page = this.#type(this.#schema.types.get(here.name), here.member);
    this.#view.replaceChildren(...page);
    if (!here?.member) this.#view.scrollTop = 0;
  }

  #overview() {
    const schema = this.#schema;
    const roots = schema.roots.map(({ kind, name }) => {
      const count = members(schema.types.get(name)).length;
      return element('li', {}, this.#link(name), element('span', { className: 'aside' }, `${kind}, ${count} ${count === 1 ? 'field' : 'fields'}`));
    });
    const byKind = Object.entries(groups).map(([kind, title]) => {
      const types = schema.named.filter((type) => type.kind === kind && !schema.roots.some(({ name }) => name === type.name));
      if (types.length === 0) return null;
      const rows = types.map(({ name }) => element('li', {}, this.#link(name)));
      return element('details', {}, element('summary', {}, title, element('span', { className: 'count' }, `${types.length}`)), element('ul', {}, rows));
    });
    return [...prose(schema.description), element('h3', { tabIndex: -1 }, 'Entry points'), element('ul', { className: 'roots' }, roots), ...byKind.filter(Boolean)];
  }

  #hits(words) {
    const hits = this.#schema.find(words);
    if (hits.length === 0) return [element('p', { className: 'empty' }, `Nothing in the schema has “${words}” in its name.`)];
    const rows = hits.slice(0, shownHits).map(({ type, member, argument }) => {
      const path = [type, member].filter(Boolean).join('.') + (argument ? `(${argument}:)` : '');
      return element('li', {}, element('button', { type: 'button', className: 'link', onclick: () => this.#open(type, member) }, path));
    });
    const count = hits.length > shownHits ? `The first ${shownHits} of ${hits.length} matches` : `${hits.length} ${hits.length === 1 ? 'match' : 'matches'}`;
    return [element('p', { className: 'aside', role: 'status' }, count), element('ul', { className: 'hits' }, rows)];
  }

  #type(type, member) {
    const back = this.#trail.at(-2)?.name ?? 'Overview';
    return [
      element('button', { type: 'button', className: 'back', onclick: () => this.#back() }, `← ${back}`),
      element('h3', { tabIndex: -1 }, element('span', { className: 'kind' }, kinds[type.kind]), ' ', type.name),
      type.isOneOf ? element('p', { className: 'aside' }, 'Exactly one of these fields is to be given.') : null,
      ...prose(type.description),
      type.specifiedByURL ? element('p', { className: 'aside' }, `Specified by ${type.specifiedByURL}`) : null,
      this.#names('Implements', type.interfaces),
      this.#names(type.kind === 'UNION' ? 'One of' : 'Implemented by', type.possibleTypes),
      element('ul', { className: 'members' }, members(type).map((each) => this.#member(type, each, each.name === member))),
    ].filter(Boolean);
  }

  #names(title, types) {
    if (!types?.length) return null;
    return element('p', { className: 'names' }, `${title} `, types.map(({ name }, i) => [i ? ', ' : '', this.#link(name)]));
  }

  #member(type, member, here) {
    const add = member.args && type.kind !== 'INPUT_OBJECT'
      ? element('button', { type: 'button', className: 'add', title: 'Insert at the caret', 'aria-label': `Insert ${member.name} into the query`, onclick: () => this.#insert(type, member) }, '+')
      : null;
    const args = member.args?.map((argument) => element('li', {}, this.#signature(argument), ...notes(argument)));
    return element(
      'li',
      { className: here ? 'member here' : 'member', tabIndex: -1 },
      element('div', { className: 'line' }, this.#signature(member), add),
      ...notes(member),
      args?.length ? element('ul', { className: 'args', 'aria-label': `Arguments of ${member.name}` }, args) : null,
    );
  }

  #signature({ name, type, defaultValue }) {
    const parts = [element('span', { className: 'ink-name' }, name)];
    if (type) parts.push(': ', ...this.#reference(type));
    if (defaultValue) parts.push(` = ${defaultValue}`);
    return element('code', {}, parts);
  }

  #reference(ref) {
    if (ref.kind === 'NON_NULL') return [...this.#reference(ref.ofType), '!'];
    if (ref.kind === 'LIST') return ['[', ...this.#reference(ref.ofType), ']'];
    return [this.#link(base(ref).name)];
  }

  #link(name) {
    return element('button', { type: 'button', className: 'link', onclick: () => this.#open(name) }, name);
  }
}

function notes({ description, isDeprecated, deprecationReason }) {
  const gone = isDeprecated ? element('p', { className: 'deprecated' }, element('strong', {}, 'Deprecated. '), marked(deprecationReason ?? '')) : null;
  return [...prose(description), gone].filter(Boolean);
}

// prose shows a description, a paragraph each.
function prose(text) {
  if (!text) return [];
  return text.trim().split(/\n\s*\n/).map((paragraph) => element('p', { className: 'prose' }, marked(paragraph)));
}

// marked sets what stands between backticks as code.
function marked(text) {
  return text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? element('code', {}, part) : part));
}
