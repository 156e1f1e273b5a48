package server

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"
)

// staticText serves a text that stays as it is while the server runs.
func staticText(media string, text []byte) http.HandlerFunc {
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(text))
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", media+"; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	}
}
