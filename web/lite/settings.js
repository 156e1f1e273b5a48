// What both explorers read alike: the small page and GraphiQL.

// loadSettings gives what the server says of itself at an address: {token, examples, edition}. The edition changes with
// the rest. Without an answer the page still works.
export async function loadSettings(address) {
  const empty = { token: '', examples: [], edition: '' };
  try {
    const response = await fetch(address, { credentials: 'omit' });
    return response.ok ? { ...await response.json(), edition: response.headers.get('ETag') } : empty;
  } catch {
    return empty;
  }
}

// tokenOf reads a token as it is typed or pasted, without the scheme that a copied header brings.
export function tokenOf(text) {
  return text.trim().replace(/^Bearer\s+/i, '');
}

// tokenFault says why a token cannot be sent, or gives ''.
export function tokenFault(token) {
  const at = token.search(/[^\x21-\x7e]/);
  return at < 0 ? '' : `The token cannot be sent: character ${at + 1} is not a visible ASCII character.`;
}
