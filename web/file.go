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
	"strconv"
	"strings"
	"time"
)

// types gives the media type by the file's ending; the operating system's own list is not asked,
// since it differs from one to the next.
var types = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
	".ttf":  "font/ttf",
}

const (
	// compressed is the ending of files that are embedded as gzip has them.
	compressed = ".gz"
	// lasting is the folder of files whose names change with their content.
	lasting = "assets/"
)

// file is one thing to serve, with the entity tag of its content.
type file struct {
	content []byte
	media   string
	tag     string
	// gzipped says that the content is compressed.
	gzipped bool
	// lasts says that what is under the name never changes.
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

// filesOf lists the files of a page by the path of their URL, which is at or below the given one: its index.html
// is the page itself.
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
		h.Add("Vary", "Accept-Encoding")
		if !takesGzip(r.Header) {
			f.inflate().serve(w, r)
			return
		}
		h.Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}

// inflate gives the file as it was before it was compressed, which has a tag of its own.
func (f file) inflate() file {
	r, err := gzip.NewReader(bytes.NewReader(f.content))
	if err != nil {
		panic(fmt.Errorf("web: a compressed file: %w", err))
	}
	content, err := io.ReadAll(r)
	if err != nil {
		panic(fmt.Errorf("web: a compressed file: %w", err))
	}
	f.content, f.tag, f.gzipped = content, f.tag+"-plain", false
	return f
}

// takesGzip reports whether a client takes content that is compressed by gzip: it names it, and not with a
// weight of 0.
func takesGzip(h http.Header) bool {
	for coding := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, weighed := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, value, _ := strings.Cut(weight, "=")
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return !weighed || err == nil && q > 0
	}
	return false
}
