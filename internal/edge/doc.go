// Package edge is the wing of HTTP: tokens, limits, logs of requests, and GraphQL over HTTP. It imports base, and knows
// neither records nor services; account implements the interfaces by which auth finds tokens.
package edge
