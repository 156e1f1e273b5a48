package rest

import (
	"bytes"
	_ "embed" // for the document
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the OpenAPI document of the operations, which are served under basePath, "" for none.
func OpenAPI(basePath string) []byte {
	if basePath == "" {
		return openAPI
	}
	return bytes.Replace(
		openAPI, []byte(`"url": "/"`), append([]byte(`"url": `), bytes.TrimSpace(encoded(basePath))...), 1,
	)
}
