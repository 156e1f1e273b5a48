// What the page keeps in the browser. Names have the edition of the server's settings in them, since the
// ids and the token of a demo mean nothing to the next one at the same address.
const prefix = 'slipway:';

// Records of GraphiQL's that have the headers of requests in them, where a token may be.
const withHeaders = ['graphiql:queries', 'graphiql:favorites'];
const withoutHeaders = (text) => JSON.stringify(JSON.parse(text), (key, value) => (key === 'headers' ? undefined : value));

// tabStorage keeps GraphiQL's tabs, history and theme in the local storage, never a header.
export function tabStorage(edition) {
  const store = storeOf('localStorage');
  const own = `${prefix}${edition}:`;
  const keys = () => Object.keys(store).filter((key) => key.startsWith(prefix));
  keys().filter((key) => !key.startsWith(own)).forEach((key) => store.removeItem(key));
  return {
    getItem: (key) => store.getItem(own + key),
    setItem: (key, text) => store.setItem(own + key, withHeaders.includes(key) ? withoutHeaders(text) : text),
    removeItem: (key) => store.removeItem(own + key),
    clear: () => keys().forEach((key) => store.removeItem(key)),
    get length() {
      return keys().length;
    },
  };
}

// fieldStorage keeps the page's own fields until its browser tab is closed.
export function fieldStorage(edition) {
  const store = storeOf('sessionStorage');
  const own = `${prefix}${edition}:`;
  return {
    read: (field) => store.getItem(own + field),
    write: (field, text) => store.setItem(own + field, text),
  };
}

// storeOf is the browser's storage of a name, or one that ends with the page where the browser refuses it.
function storeOf(name) {
  try {
    return window[name];
  } catch {
    const kept = {};
    const method = (value) => ({ value });
    return Object.defineProperties(kept, {
      getItem: method((key) => kept[key] ?? null),
      setItem: method((key, text) => { kept[key] = text; }),
      removeItem: method((key) => { delete kept[key]; }),
    });
  }
}
