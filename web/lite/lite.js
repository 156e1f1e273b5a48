import { body, objectFault, send } from './request.js';
import { Result } from './result.js';
import { loadSettings, tokenFault, tokenOf } from './settings.js';

const at = (id) => document.getElementById(id);
const [token, query, variables, headers] = ['token', 'query', 'variables', 'headers'].map(at);
const config = await loadSettings(new URL('config.json', import.meta.url));
const result = new Result(goTo);
let running = null;

start();

function start() {
  token.value = kept() ?? config.token;
  const [first] = config.examples;
  query.value = first?.query ?? '{\n  __typename\n}\n';
  variables.value = first?.variables ?? '';
  at('examples').append(...config.examples.map(({ name }, index) => new Option(name, index)));
  at('examples').hidden = config.examples.length === 0;
  at('examples').addEventListener('change', open);
  token.addEventListener('input', keep);
  at('reveal').addEventListener('click', reveal);
  at('request').addEventListener('submit', (event) => {
    event.preventDefault();
    if (running) running.abort();
    else run();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!running) run();
  });
  // Until now they would have lost what somebody writes.
  for (const each of [token, query, variables, headers, at('run')]) each.disabled = false;
}

function open({ target }) {
  const example = config.examples[target.value];
  if (!example) return;
  query.value = example.query;
  variables.value = example.variables;
}

// The token stays until the browser's tab is closed, for as long as the server is the same; where the browser
// refuses to keep it, until the page is closed.
function kept() {
  try {
    return sessionStorage.getItem(`slipway.token ${config.edition}`);
  } catch {
    return null;
  }
}

function keep() {
  try {
    sessionStorage.setItem(`slipway.token ${config.edition}`, bearer());
  } catch {
    // See above.
  }
}

function bearer() {
  return tokenOf(token.value);
}

function reveal({ target }) {
  const shown = token.type === 'text';
  token.type = shown ? 'password' : 'text';
  target.textContent = shown ? 'Show' : 'Hide';
  target.setAttribute('aria-pressed', String(!shown));
}

async function run() {
  const wrong = refusal();
  if (wrong) {
    result.refuse(wrong);
    return;
  }
  setRunning(new AbortController());
  result.wait();
  const own = headers.value.trim() ? JSON.parse(headers.value) : {};
  const request = { headers: own, token: bearer(), body: body(query.value, variables.value) };
  result.show(await send(request, running.signal, (answer) => result.show(answer)));
  setRunning(null);
}

// refusal says why the request in the fields cannot be sent, or gives ''.
function refusal() {
  if (!query.value.trim()) return 'There is no query. Write one on the left, or take one of the examples.';
  return objectFault('variables', variables.value) || objectFault('headers', headers.value) || tokenFault(bearer());
}

function setRunning(controller) {
  running = controller;
  at('run').textContent = controller ? 'Cancel' : 'Run';
  document.body.classList.toggle('running', controller !== null);
}

// goTo puts the caret at a line and column of the query, both counted from 1.
function goTo(line, column) {
  const before = query.value.split('\n').slice(0, line - 1);
  const place = before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  query.focus();
  query.setSelectionRange(place, place);
}
