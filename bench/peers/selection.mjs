// What a document asks for, so that no other columns are read.

const cache = new WeakMap();

// selection returns the names of the fields that are asked for below places in the document where one field stands.
// A path leads on from there: ['nodes'] to what is asked of the nodes of a connection. Conditions of @skip and @include
// do not count: what they may ask for is read.
export function selection(nodes, fragments, paths) {
  if (nodes.length > 1) return collect(nodes, fragments, paths);
  // Documents are cached by the servers, so a node of one stands for what is below it.
  let names = cache.get(nodes[0]);
  if (!names) cache.set(nodes[0], (names = collect(nodes, fragments, paths)));
  return names;
}

function collect(nodes, fragments, paths) {
  const names = new Set();
  const walk = ({ selections }, path) => {
    for (const s of selections) {
      if (s.kind === 'FragmentSpread') walk(fragments[s.name.value].selectionSet, path);
      else if (s.kind === 'InlineFragment') walk(s.selectionSet, path);
      else if (path.length === 0) names.add(s.name.value);
      else if (s.name.value === path[0]) walk(s.selectionSet, path.slice(1));
    }
  };
  for (const node of nodes) for (const path of paths) walk(node.selectionSet, path);
  return [...names];
}
