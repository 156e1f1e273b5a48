import { element } from './element.js';
import { layout } from './json.js';
import { paint } from './paint.js';

// Result shows an answer: a line about it, its errors, and the whole of it.
export class Result {
  #summary = document.getElementById('summary');
  #problems = document.getElementById('problems');
  #answer = document.getElementById('answer');
  #copy = document.getElementById('copy');
  #goTo;
  #shown = '';

  // goTo is called with the line and column of an error that somebody follows into the query.
  constructor(goTo) {
    this.#goTo = goTo;
    this.#copy.addEventListener('click', () => this.#copyAnswer());
  }

  // wait says that a request is under way.
  wait() {
    this.#summary.replaceChildren('Running…');
  }

  // refuse shows why a request was not sent.
  refuse(text) {
    this.#fill([badge('Not sent', false)], [element('p', { className: 'problem' }, text)], '', '');
  }

  // show shows what send gave.
  show({ status, statusText, milliseconds, bytes, text, answer, problem, retryAfter, events }) {
    const errors = Array.isArray(answer?.errors) ? answer.errors : [];
    const fine = status >= 200 && status < 300 && errors.length === 0 && !problem;
    const counted = errors.length === 1 ? '1 error' : `${errors.length} errors`;
    const facts = [
      badge(status ? `${status} ${statusText}`.trim() : statusText, fine),
      errors.length ? element('span', { className: 'bad' }, counted) : null,
      events ? element('span', {}, events === 1 ? '1 event' : `${events} events`) : null,
      element('span', {}, duration(milliseconds)),
      element('span', {}, size(bytes)),
      retryAfter ? element('span', {}, `Try again in ${retryAfter} s`) : null,
    ];
    const problems = errors.map((error) => this.#error(error));
    if (problem) problems.unshift(element('p', { className: 'problem' }, problem));
    this.#fill(facts.filter(Boolean), problems, answer === undefined ? text : layout(text), answer === undefined ? '' : 'json');
  }

  #fill(facts, problems, text, language) {
    this.#shown = text;
    this.#summary.replaceChildren(...facts);
    this.#problems.replaceChildren(...problems);
    this.#answer.replaceChildren(...(language ? paint(text, language) : [text]));
    this.#answer.scrollTop = 0;
    this.#copy.hidden = text === '';
    this.#copy.textContent = 'Copy';
  }

  #error(error) {
    const { code, description, details, action, requestId } = error?.extensions ?? {};
    const places = (error?.locations ?? []).map(({ line, column }) =>
      element('button', { type: 'button', className: 'link', onclick: () => this.#goTo(line, column) }, `line ${line}, column ${column}`));
    return element(
      'article',
      { className: 'problem' },
      element('p', { className: 'message' }, String(error?.message ?? 'An error without a message.')),
      description ? element('p', {}, description) : null,
      (details ?? []).flatMap(({ items }) => items ?? []).map((item) => element('p', { className: 'item' }, item)),
      action?.label ? element('p', {}, `${action.label}: ${action.url}`) : null,
      element(
        'p',
        { className: 'facts' },
        code ? element('code', {}, code) : null,
        error?.path ? element('span', {}, `at ${error.path.join('.')}`) : null,
        places,
        requestId ? element('span', {}, `request ${requestId}`) : null,
      ),
    );
  }

  async #copyAnswer() {
    try {
      await navigator.clipboard.writeText(this.#shown);
      this.#copy.textContent = 'Copied';
    } catch {
      this.#copy.textContent = 'Not allowed here';
    }
  }
}

function badge(text, fine) {
  return element('span', { className: fine ? 'badge good' : 'badge bad' }, text);
}

function duration(milliseconds) {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
