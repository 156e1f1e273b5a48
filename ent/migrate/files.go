// Package migrate has the schema as ent sees it and the migrations that make it.
package migrate

import (
	"embed"
	"regexp"
	"strconv"
)

// Files are the migrations of both dialects, a folder each.
//
//go:embed postgres sqlite
var Files embed.FS

var compatibleWith = regexp.MustCompile(`(?m)^-- compatible-with: (\d{14})$`)

// CompatibleWith returns the version that a migration's text names as that of the oldest migration whose
// program may still serve. It reports false where the text names none.
func CompatibleWith(text []byte) (version int64, ok bool) {
	found := compatibleWith.FindSubmatch(text)
	if found == nil {
		return 0, false
	}
	version, err := strconv.ParseInt(string(found[1]), 10, 64)
	return version, err == nil
}
