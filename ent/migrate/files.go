// Package migrate has the schema as ent sees it and the migrations that make it.
package migrate

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Files are the migrations of both dialects, a folder each.
//
//go:embed postgres sqlite
var Files embed.FS

// Newest returns the version of the newest migration in a folder.
func Newest(folder string) (version int64, err error) { return chosen(folder, slices.Max[[]string]) }

// Oldest returns the version of the oldest migration in a folder.
func Oldest(folder string) (version int64, err error) { return chosen(folder, slices.Min[[]string]) }

func chosen(folder string, choose func([]string) string) (version int64, err error) {
	files, err := fs.Glob(Files, folder+"/*.sql")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no migrations in %s: %w", folder, err)
	}
	digits, _, _ := strings.Cut(path.Base(choose(files)), "_")
	return strconv.ParseInt(digits, 10, 64)
}

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
