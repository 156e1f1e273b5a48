package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"slipway/internal/edge/httpx"
)

// types has the media types by the extension of the file. The list of the operating system is not used, because it
// differs between systems.
var types = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
	".ttf":  "font/ttf",
}

const (
	// compressed is the extension of files that are embedded compressed by gzip.
	compressed = ".gz"
	// lasting is the folder of files whose names change with their content, so that they can be cached forever.
	lasting = "assets/"
)

// file is a file to serve, with the entity tag of its content. httpx.Compress, which every page is served through,
// gives what is compressed another.
type file struct {
	content []byte
	media   string
	tag     string
	// gzipped is whether the content is compressed.
	gzipped bool
	// lasts is whether the content under the name never changes.
	lasts bool
}

func newFile(name string, content []byte) file {
	plain, gzipped := strings.CutSuffix(name, compressed)
	sum := sha256.Sum256(content)
	return file{
		content: content,
		media:   types[path.Ext(plain)],
		tag:     hex.EncodeToString(sum[:16]),
		gzipped: gzipped,
		lasts:   strings.HasPrefix(name, lasting),
	}
}

// filesOf returns the files of a page by the path of their URL, which is at or below the given one. index.html is the
// page itself.
func filesOf(page fs.FS, at string) map[string]file {
	files := map[string]file{}
	err := fs.WalkDir(page, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(page, name)
		if err != nil {
			return err
		}

		target := at
		if plain := strings.TrimSuffix(name, compressed); plain != "index.html" {
			target += "/" + plain
		}
		files[target] = newFile(name, content)

		return nil
	})

	if err != nil {
		panic(fmt.Errorf("web: embedded files: %w", err))
	}
	return files
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Cache-Control", "no-cache")
	if f.lasts {
		h.Set("Cache-Control", "max-age=31536000, immutable")
	}
	h.Set("ETag", `"`+f.tag+`"`)
	if f.gzipped {
		if !httpx.AcceptsGzip(r.Header) {
			f.inflate().serve(w, r)
			return
		}
		h.Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}

// inflate returns the file decompressed.
func (f file) inflate() file {
	r, err := gzip.NewReader(bytes.NewReader(f.content))
	if err != nil {
		panic(fmt.Errorf("web: a compressed file: %w", err))
	}
	content, err := io.ReadAll(r)
	if err != nil {
		panic(fmt.Errorf("web: a compressed file: %w", err))
	}
	f.content, f.gzipped = content, false
	return f
}
