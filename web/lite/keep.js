// A browser may refuse storage (private windows, blocked site data): then nothing outlives the page,
// and the explorer works all the same.

// read gives the text kept under a name, or null.
export function read(storage, name) {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
}

// write keeps a text under a name.
export function write(storage, name, text) {
  try {
    window[storage].setItem(name, text);
  } catch {
    // Full or refused: see above.
  }
}
