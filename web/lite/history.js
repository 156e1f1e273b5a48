import { element } from './element.js';
import { operations } from './graphql.js';
import { read, write } from './keep.js';

const name = 'slipway.history';
const most = 20;

// History keeps the requests that were run last, and lists them. Tokens are never among them.
export class History {
  #host;
  #open;
  #items = [];

  // host is the element to fill; open is called with the {query, variables} that is chosen.
  constructor(host, open) {
    this.#host = host;
    this.#open = open;
    this.#items = kept();
    this.#draw();
  }

  // add puts a request first; one that was there already moves up.
  add(query, variables) {
    const others = this.#items.filter((item) => item.query !== query || item.variables !== variables);
    this.#keep([{ query, variables, at: Date.now() }, ...others].slice(0, most));
  }

  #keep(items) {
    this.#items = items;
    write('localStorage', name, JSON.stringify(items));
    this.#draw();
  }

  #draw() {
    if (this.#items.length === 0) {
      this.#host.replaceChildren(element('p', { className: 'empty' }, `The last ${most} requests you run are listed here, in this browser only.`));
      return;
    }
    const rows = this.#items.map((item) => card(title(item.query), new Date(item.at).toLocaleString(), item.query, () => this.#open(item)));
    const clear = element('button', { type: 'button', className: 'clear', onclick: () => this.#keep([]) }, 'Clear history');
    this.#host.replaceChildren(element('ul', { className: 'cards' }, rows), clear);
  }
}

// card is one row of a list of requests.
export function card(heading, aside, query, open) {
  const summary = query.replace(/\s+/g, ' ').trim();
  return element(
    'li',
    {},
    element(
      'button',
      { type: 'button', className: 'card', onclick: open },
      element('strong', {}, heading),
      aside ? element('span', { className: 'aside' }, aside) : null,
      element('code', {}, summary.length > 160 ? `${summary.slice(0, 160)}…` : summary),
    ),
  );
}

function title(query) {
  const [first, ...others] = operations(query);
  if (!first) return 'No operation';
  const more = others.length ? ` and ${others.length} more` : '';
  return (first.name ? `${first.kind} ${first.name}` : `${first.kind}`) + more;
}

// kept reads the list back; what somebody else wrote under the name is left out.
function kept() {
  try {
    const items = JSON.parse(read('localStorage', name) ?? '[]');
    return items.filter(({ query, variables, at }) => typeof query === 'string' && typeof variables === 'string' && typeof at === 'number').slice(0, most);
  } catch {
    return [];
  }
}
