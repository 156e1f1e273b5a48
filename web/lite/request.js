import { isStream, listen } from './stream.js';

// Everything here answers in plain words: a problem is a sentence for people.

// tokenFault says why a token cannot be sent, or gives ''.
export function tokenFault(token) {
  const at = token.search(/[^\x21-\x7e]/);
  if (at < 0) return '';
  return `The token cannot be sent: character ${at + 1} is not a visible ASCII character.`;
}

// body writes a request. variables is checked JSON text and goes in as it is, digit by digit.
export function body(query, variables, operation) {
  const members = [`"query":${JSON.stringify(query)}`];
  if (operation) members.push(`"operationName":${JSON.stringify(operation)}`);
  if (variables.trim()) members.push(`"variables":${variables}`);
  return `{${members.join(',')}}`;
}

// send posts a request and gives {status, statusText, milliseconds, bytes, text, answer, problem,
// retryAfter, events}. answer is the parsed JSON, where there is any; problem says what went wrong when
// no GraphQL answer came. A subscription has many answers: each is told as it comes, and the last is
// given when it has ended; events counts them. It never rejects.
export async function send(endpoint, token, requestBody, signal, tell) {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/graphql-response+json, application/json;q=0.9, text/event-stream;q=0.1',
  };
  if (token) headers.Authorization = `Bearer ${token}`;
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  try {
    const response = await fetch(endpoint, { method: 'POST', headers, body: requestBody, signal, credentials: 'omit' });
    if (isStream(response)) return await listen(response, elapsed, signal, tell);
    const bytes = await response.arrayBuffer();
    const milliseconds = elapsed();
    return { milliseconds, bytes: bytes.byteLength, ...read(response, new TextDecoder().decode(bytes)) };
  } catch (error) {
    const [statusText, problem] = signal?.aborted
      ? ['Cancelled', 'The request was cancelled. The server may have carried it out all the same.']
      : ['No answer', `No answer came from ${endpoint} (${error.message}). Is the server running, and the network up?`];
    return { status: 0, statusText, milliseconds: elapsed(), bytes: 0, text: '', problem };
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
