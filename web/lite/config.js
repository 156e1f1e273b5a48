const defaults = { token: '', endpoint: '/graphql', examples: [] };

// configuration is what the server says of itself as {token, endpoint, examples}. Without it the page
// still works, on defaults.
export async function configuration() {
  try {
    const response = await fetch(new URL('config.json', import.meta.url), { credentials: 'omit' });
    return response.ok ? { ...defaults, ...await response.json() } : defaults;
  } catch {
    return defaults;
  }
}
