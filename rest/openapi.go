package rest

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the document
	"fmt"
	"net/http"
	"time"
)

//go:embed openapi.json
var openAPI []byte

var openAPITag = fmt.Sprintf(`"%x"`, sha256.Sum256(openAPI))

// ServeOpenAPI serves the OpenAPI document.
func ServeOpenAPI(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", mediaJSON+"; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", openAPITag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(openAPI))
}
