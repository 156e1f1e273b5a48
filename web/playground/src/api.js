import { createClient } from 'graphql-ws';
import { tokenFault } from '../../lite/settings.js';

const endpoint = new URL('graphql', location.href).href;
const socketEndpoint = endpoint.replace(/^http/, 'ws');

// Problem is an error for people, who have no use for the place in the page's files where it was made.
class Problem extends Error {
  stack = undefined;
}

// Api sends requests with the page's token and organization. What a request has as headers of its own goes
// before those.
export class Api {
  #credentials = { token: '', organization: '' };
  #client = null;
  #report;

  // report is called with what is wrong with the token or the server, '' where nothing is.
  constructor(report) {
    this.#report = report;
  }

  set credentials(credentials) {
    this.#credentials = credentials;
    this.#report(tokenFault(credentials.token));
  }

  // ask posts a query or a mutation and gives its answer. The introspection goes out as nobody's: whoever
  // may ask for the schema needs no token, and a wrong one is to hide nothing of it.
  async ask(request, headers = {}) {
    if (request.operationName === 'IntrospectionQuery') return this.#post(request, headers);
    return this.#post(request, this.#headers(headers));
  }

  // subscribe tells a subscription's answers to a sink {next, error, complete}, by WebSocket, until what it
  // gives is called. error is told the errors of a refusal as a list, and what broke off the stream as a Problem.
  subscribe(request, headers, sink) {
    const all = this.#headers(headers);
    return this.#clientFor(all).subscribe(request, {
      next: (answer) => {
        this.#report('');
        sink.next(answer);
      },
      error: async (problem) => sink.error(await this.#explained(problem, all)),
      complete: () => sink.complete(),
    });
  }

  #headers(own) {
    const { token, organization } = this.#credentials;
    const fault = tokenFault(token);
    if (fault) throw new Problem(fault);
    const headers = { ...own };
    const has = (name) => Object.keys(headers).some((key) => key.toLowerCase() === name.toLowerCase());
    if (token && !has('Authorization')) headers.Authorization = `Bearer ${token}`;
    if (organization && !has('Slipway-Organization')) headers['Slipway-Organization'] = organization;
    if (!has('Slipway-Cost')) headers['Slipway-Cost'] = 'true';
    return headers;
  }

  async #post(request, headers) {
    const response = await this.#send(request, headers);
    const text = await response.text();
    let answer;
    try {
      answer = JSON.parse(text);
    } catch {
      const type = response.headers.get('Content-Type') ?? 'not given';
      throw new Problem(`The answer is not JSON: status ${response.status}, type ${type}, ${text.slice(0, 200)}`);
    }
    this.#report(response.status === 401 ? `The server does not accept the token: ${answer.errors?.[0]?.message}` : '');
    return answer;
  }

  async #send(request, headers) {
    try {
      return await fetch(endpoint, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json, application/json;q=0.9', ...headers },
        body: JSON.stringify(request),
        credentials: 'omit',
      });
    } catch (error) {
      throw this.#reported(`No answer came from ${endpoint} (${error.message}). Is the server running, and the network up?`);
    }
  }

  // clientFor gives the client whose socket is opened with the headers; the one of other headers closes when
  // its last subscription has ended.
  #clientFor(headers) {
    const key = JSON.stringify(headers);
    if (this.#client?.key !== key) {
      const header = (name) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
      const connectionParams = { Authorization: header('authorization'), organization: header('slipway-organization') };
      this.#client = { key, socket: createClient({ url: socketEndpoint, connectionParams, retryAttempts: 0 }) };
    }
    return this.#client.socket;
  }

  // explained gives the errors that refused a subscription, or a Problem, of what graphql-ws ends it with.
  async #explained(problem, headers) {
    if (Array.isArray(problem)) return problem;
    const { code, reason } = problem;
    if (code === 4401 || code === 4403) return this.#refusal(headers, `The server does not accept the token or the organization for subscriptions: ${code} ${reason}`);
    if (code > 1001 && reason) return new Problem(`The server closed the WebSocket: ${code} ${reason}`);
    return this.#reported(`The WebSocket to ${socketEndpoint} is closed. Is the server running, and the network up?`);
  }

  // refusal gives why the server refuses whoever sends the headers: what a query is answered that takes what every
  // subscription does, for a WebSocket closes without the error's code. Where it is not refused, closed is all that is
  // known.
  async #refusal(headers, closed) {
    const answer = await this.#post({ query: '{ deployments(first: 1) { nodes { id } } }' }, headers).catch(() => ({}));
    this.#report(closed);
    return answer.errors ?? [{ message: closed }];
  }

  #reported(text) {
    this.#report(text);
    return new Problem(text);
  }
}
