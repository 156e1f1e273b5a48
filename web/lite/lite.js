import { Browser } from './browser.js';
import { configuration } from './config.js';
import { Editor } from './editor.js';
import { operations } from './graphql.js';
import { card, History } from './history.js';
import { fault } from './json.js';
import { read, write } from './keep.js';
import { body, send, tokenFault } from './request.js';
import { Result } from './result.js';
import { load } from './schema.js';
import { snippet } from './snippet.js';
import { tabs } from './tabs.js';

const at = (id) => document.getElementById(id);
const config = await configuration();

const query = new Editor(at('query'), 'graphql', 'a GraphQL document', queryChanged);
const variables = new Editor(at('variables'), 'json', 'none, or a JSON object', variablesChanged);
const result = new Result((line, column) => query.goTo(line, column));
const past = new History(at('history'), open);
const browser = new Browser(at('schema-view'), at('search'), (type, field) => {
  const piece = snippet(schema, type, field, query.text, query.caret);
  query.insertAt(piece.at, piece.text);
});

let schema = null;
let running = null;
let linkTimer = 0;

start();

function start() {
  at('endpoint').textContent = config.endpoint;
  at('token').value = read('sessionStorage', 'slipway.token') ?? config.token;
  if (/Mac|iPhone|iPad/.test(navigator.platform)) at('run-keys').textContent = '⌘ ↵';

  const [first] = config.examples;
  const linked = linkedQuery();
  query.set(linked ?? first?.query ?? '{\n  __typename\n}\n');
  variables.set(linked === null ? first?.variables ?? '' : read('sessionStorage', 'slipway.variables') ?? '');
  showOperations(query.text);
  showFault(variables.text);

  at('examples').append(examples());
  at('examples-tab').hidden = config.examples.length === 0;
  tabs(document.querySelector('[role=tablist]'));
  listen();
  showSchema();
}

function listen() {
  at('run').addEventListener('click', () => (running ? running.abort() : run()));
  at('token').addEventListener('input', tokenChanged);
  at('token').addEventListener('change', () => schema || showSchema());
  at('reveal').addEventListener('click', reveal);
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!running) run();
  });
  window.addEventListener('hashchange', () => {
    const linked = linkedQuery();
    if (linked !== null && linked !== query.text) query.load(linked);
  });
}

function examples() {
  const list = document.createElement('ul');
  list.className = 'cards';
  list.append(...config.examples.map((example) => card(example.name, '', example.query, () => open(example))));
  return list;
}

function open(request) {
  variables.load(request.variables ?? '');
  query.load(request.query);
}

// token gives the token as it is typed or pasted, without the scheme that a copied header brings.
function token() {
  return at('token').value.trim().replace(/^Bearer\s+/i, '');
}

function tokenChanged() {
  write('sessionStorage', 'slipway.token', token());
  at('token-note').textContent = tokenFault(token());
}

function reveal() {
  const shown = at('token').type === 'text';
  at('token').type = shown ? 'password' : 'text';
  at('reveal').textContent = shown ? 'Show' : 'Hide';
  at('reveal').setAttribute('aria-pressed', String(!shown));
}

function queryChanged(text) {
  showOperations(text);
  clearTimeout(linkTimer);
  linkTimer = setTimeout(() => window.history.replaceState(null, '', `#query=${encodeURIComponent(text)}`), 300);
}

// linkedQuery is the query that the address carries, or null.
function linkedQuery() {
  return new URLSearchParams(window.location.hash.slice(1)).get('query');
}

// showOperations lets one of several operations be picked; the pick stays while its name does.
function showOperations(text) {
  const names = operations(text).map(({ name }) => name).filter(Boolean);
  const picked = at('operation').value;
  at('operation').replaceChildren(...names.map((name) => new Option(name, name, false, name === picked)));
  at('operation-label').hidden = names.length < 2;
}

function variablesChanged(text) {
  write('sessionStorage', 'slipway.variables', text);
  showFault(text);
}

// showFault says what is wrong with the variables, and gives it.
function showFault(text) {
  const wrong = text.trim() ? fault(text) : null;
  const message = wrong ? `Line ${wrong.line}, column ${wrong.column}: ${wrong.message}.` : '';
  at('variables-note').textContent = message;
  return message;
}

async function showSchema() {
  at('schema-note').textContent = 'Loading the schema…';
  const loaded = await load(config.endpoint, tokenFault(token()) ? '' : token());
  if (loaded.problem) {
    const again = document.createElement('button');
    again.type = 'button';
    again.textContent = 'Try again';
    again.addEventListener('click', showSchema);
    at('schema-note').replaceChildren(`The schema could not be loaded. ${loaded.problem} `, again);
    return;
  }
  schema = loaded.schema;
  browser.show(schema);
  at('schema-note').textContent = `Schema loaded: ${schema.named.length} types.`;
}

async function run() {
  const wrong = refusal();
  if (wrong) {
    result.refuse(wrong);
    return;
  }
  const operation = operations(query.text).length > 1 ? at('operation').value : '';
  past.add(query.text, variables.text);
  setRunning(new AbortController());
  result.wait();
  const request = body(query.text, variables.text, operation);
  result.show(await send(config.endpoint, token(), request, running.signal, (answer) => {
    document.body.classList.remove('waiting');
    result.show(answer);
  }));
  setRunning(null);
}

// refusal says why the request in the editors cannot be sent, or gives ''.
function refusal() {
  if (!query.text.trim()) return 'There is no query. Write one on the left, or take one of the examples.';
  const wrong = showFault(variables.text);
  return wrong ? `The variables are not one JSON object. ${wrong}` : tokenFault(token());
}

function setRunning(controller) {
  running = controller;
  at('run-label').textContent = controller ? 'Cancel' : 'Run';
  at('run-keys').hidden = controller !== null;
  document.body.classList.toggle('running', controller !== null);
  document.body.classList.toggle('waiting', controller !== null);
}
