package requests

import (
	"embed"
	"io/fs"
)

//go:embed *.graphql
var documents embed.FS

// withDocuments returns kinds with the texts of their documents.
func withDocuments(kinds ...*Kind) []*Kind {
	for _, k := range kinds {
		if k.REST() {
			continue
		}
		text, err := documents.ReadFile(k.file)
		if err != nil {
			panic(err) // all are embedded
		}
		k.document = string(text)
	}
	return kinds
}

// Own are the documents of a server whose schema has other names, by file. Their answers are the same.
type Own map[string]string

// Documents reads the documents of a folder.
func Documents(folder fs.FS) (Own, error) {
	files, err := fs.Glob(folder, "*.graphql")
	if err != nil {
		return nil, err
	}
	own := Own{}
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		own[file] = string(text)
	}
	return own, nil
}

// Of returns a kind with the document of its own, and false if there is none.
func (o Own) Of(k *Kind) (*Kind, bool) {
	document, ok := o[k.file]
	own := *k
	own.document = document
	return &own, ok
}
