// Result shows an answer: a line about it, its errors, and the whole of it.
export class Result {
  #summary = document.getElementById('summary');
  #problems = document.getElementById('problems');
  #answer = document.getElementById('answer');
  #goTo;

  // goTo is called with the line and column of an error that somebody follows into the query.
  constructor(goTo) {
    this.#goTo = goTo;
  }

  // wait says that a request is under way.
  wait() {
    this.#summary.replaceChildren('Running…');
  }

  // refuse shows why a request was not sent.
  refuse(text) {
    this.#fill([element('span', 'badge', 'Not sent')], [element('p', 'problem', text)], '');
  }

  // show shows what send gave.
  show({ status, statusText, milliseconds, text, answer, problem, retryAfter, events }) {
    const errors = Array.isArray(answer?.errors) ? answer.errors : [];
    const fine = status >= 200 && status < 300 && errors.length === 0 && !problem;
    const facts = [
      element('span', fine ? 'badge good' : 'badge', status ? `${status} ${statusText}`.trim() : statusText),
      errors.length && element('span', '', errors.length === 1 ? '1 error' : `${errors.length} errors`),
      events && element('span', '', events === 1 ? '1 event' : `${events} events`),
      element('span', '', `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`),
      retryAfter && element('span', '', `Try again in ${retryAfter} s`),
    ];
    const problems = errors.map((error) => this.#error(error));
    if (problem) problems.unshift(element('p', 'problem', problem));
    this.#fill(facts, problems, answer === undefined ? text : layout(text));
  }

  #fill(facts, problems, text) {
    this.#summary.replaceChildren(...facts.filter(Boolean));
    this.#problems.replaceChildren(...problems);
    this.#answer.textContent = text;
    this.#answer.scrollTop = 0;
  }

  #error(error) {
    const { code, description, details, action, requestId } = error?.extensions ?? {};
    return element(
      'article',
      'problem',
      element('p', 'message', String(error?.message ?? 'An error without a message.')),
      description && element('p', '', description),
      ...(details ?? []).flatMap(({ items }) => items ?? []).map((item) => element('p', 'item', item)),
      action?.label && element('p', '', `${action.label}: ${action.url}`),
      element(
        'p',
        'facts',
        code && element('code', '', code),
        error?.path && element('span', '', `at ${error.path.join('.')}`),
        ...(error?.locations ?? []).map((place) => this.#place(place)),
        requestId && element('span', '', `request ${requestId}`),
      ),
    );
  }

  #place({ line, column }) {
    const button = element('button', '', `line ${line}, column ${column}`);
    button.type = 'button';
    button.addEventListener('click', () => this.#goTo(line, column));
    return button;
  }
}

// element makes a DOM element; children are nodes or text, never HTML, and what is nothing is left out.
function element(tag, className, ...children) {
  const node = document.createElement(tag);
  node.className = className;
  node.append(...children.filter(Boolean));
  return node;
}

// layout indents JSON text by two spaces and changes nothing else: digits and escapes stay.
export function layout(text) {
  let out = '';
  let depth = 0;
  let opened = false;
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g)) {
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
