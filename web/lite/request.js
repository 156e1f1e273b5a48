import { isStream, listen } from './stream.js';

// Everything here answers in plain words: a problem is a sentence for people.

const endpoint = new URL('../graphql', import.meta.url).pathname;

// objectFault says why a text that is there is not one JSON object, or gives ''.
export function objectFault(name, text) {
  if (!text.trim()) return '';
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? '' : `The ${name} are JSON, but no object.`;
  } catch (error) {
    return `The ${name} are not JSON: ${error.message}.`;
  }
}

// body writes a request. variables is checked JSON text and goes in as it is, digit by digit.
export function body(query, variables) {
  return `{"query":${JSON.stringify(query)}${variables.trim() ? `,"variables":${variables}` : ''}}`;
}

// send posts {headers, token, body} and gives {status, statusText, milliseconds, text, answer, problem,
// retryAfter, events}. answer is the parsed JSON, where there is any; problem says what went wrong when
// no GraphQL answer came. A subscription has many answers: each is told as it comes, and the last is
// given when it has ended; events counts them. It never rejects.
export async function send({ headers, token, body }, signal, tell) {
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  try {
    const all = new Headers({
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json, application/json;q=0.9, text/event-stream;q=0.1',
    });
    if (token) all.set('Authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    const response = await fetch(endpoint, { method: 'POST', headers: all, body, signal, credentials: 'omit' });
    if (isStream(response)) return await listen(response, elapsed, signal, tell);
    const text = await response.text();
    return { milliseconds: elapsed(), ...read(response, text) };
  } catch (error) {
    const [statusText, problem] = signal.aborted
      ? ['Cancelled', 'The request was cancelled. The server may have carried it out all the same.']
      : ['No answer', `No answer came from ${endpoint} (${error.message}). Is the server running, and the network up?`];
    return { status: 0, statusText, milliseconds: elapsed(), text: '', problem };
  }
}

function read(response, text) {
  const { status, statusText, headers } = response;
  const result = { status, statusText, text, problem: '', retryAfter: headers.get('Retry-After') };
  const type = headers.get('Content-Type') ?? '';
  if (text === '') return { ...result, problem: 'The answer is empty, not JSON.' };
  try {
    result.answer = JSON.parse(text);
  } catch {
    return { ...result, problem: `The answer is not JSON (its type is ${type || 'not given'}). It is shown as it came.` };
  }
  if (result.answer === null || typeof result.answer !== 'object' || !('data' in result.answer || 'errors' in result.answer)) {
    result.problem = 'The answer is JSON, but no GraphQL answer: it has neither data nor errors.';
  }
  return result;
}
