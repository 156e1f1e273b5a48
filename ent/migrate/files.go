// Package migrate has the schema as ent sees it and the migrations that make it.
package migrate

import "embed"

// Files are the migrations of both dialects, a folder each.
//
//go:embed postgres sqlite
var Files embed.FS
