package web

import (
	"embed"
	"html"
	"net/http"
	"strings"

	"github.com/swaggest/swgui/v5emb"
)

const docsRoot = "/docs"

//go:embed docs
var docs embed.FS

// swaggerFiles has the files of Swagger UI that the page loads.
var swaggerFiles = []string{"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"}

// versionMark stands in the page for the version of the program.
const versionMark = "{{version}}"

// Documents serves the page that shows openapi.json and the version of the program, at /docs, with its files below.
// Mount it there, at "/docs" and "/docs/", without stripping the prefix. The page is our own, because Swagger UI's has
// inline scripts, which its content security policy would have to allow.
func Documents(version string) http.Handler {
	files := filesOf(below(docs, "docs"), docsRoot)
	text := strings.ReplaceAll(string(files[docsRoot].content), versionMark, html.EscapeString(version))
	files[docsRoot] = newFile("index.html", []byte(text))
	for _, name := range swaggerFiles {
		files[docsRoot+"/"+name] = file{}
	}
	swagger := v5emb.New("", "", docsRoot)
	return page(docsRoot, plainPolicy, files, func(w http.ResponseWriter, r *http.Request, f file) {
		if f.content != nil {
			f.serve(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		swagger.ServeHTTP(w, r)
	})
}
