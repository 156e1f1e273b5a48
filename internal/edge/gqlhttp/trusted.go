package gqlhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/wire"
)

const (
	// maxTrustedKept is about how many bytes of trusted documents stay parsed for good. More are parsed when they
	// are asked for, and kept as others are.
	maxTrustedKept = 32 << 20
	// maxTrustedID is the longest id of a trusted document, in bytes.
	maxTrustedID = 256
	// maxTrustedNames is how many names of operations are counted apart.
	maxTrustedNames = 500
	// maxTrustedErrors is how many errors of documents that are not valid are returned.
	maxTrustedErrors = 10
)

// Trusted are documents that callers may name by an id instead of sending them.
type Trusted struct {
	// Only refuses every other document, whoever sends it but a runner.
	Only bool

	byID map[string]string
	// byText has every document; it is nil for those that are not kept parsed.
	byText map[string]*document.Document
	// names are those of their operations, as many as are counted apart.
	names map[string]bool
}

// ReadTrusted reads documents from a JSON object of their texts by their ids, and validates each as a server of the
// schema and the configuration does. maxQuery is the longest text of one, in bytes; 0 stands for wire.DefaultMaxQuery.
// The error names each id that is wrong, up to ten.
func ReadTrusted(text []byte, schema *ast.Schema, c Config, maxQuery int) (*Trusted, error) {
	root, err := strictjson.ParseWithin(text, strictjson.Limits{Bytes: max(len(text), 1)})
	if err != nil {
		return nil, fmt.Errorf("not JSON as it must be: %w", err)
	}
	if root.Kind != strictjson.Object {
		return nil, fmt.Errorf("want an object of documents by their ids, found %s", root.Kind)
	}

	d := document.New(schema, c.documents())
	t := &Trusted{byID: map[string]string{}, byText: map[string]*document.Document{}, names: map[string]bool{}}
	kept := 0
	var wrong []error

	for i, id := range root.Keys {
		doc, err := readTrusted(d, id, root.Items[i], maxQuery)
		if err != nil {
			if wrong = append(wrong, err); len(wrong) == maxTrustedErrors {
				break
			}
			continue
		}

		text := root.Items[i].Text
		t.byID[id] = text
		t.addNames(doc)
		if kept += doc.Bytes(); kept > maxTrustedKept {
			doc = nil
		}
		t.byText[text] = doc
	}

	return t, errors.Join(wrong...)
}

// addNames adds the names of a document's operations, while there is room.
func (t *Trusted) addNames(doc *document.Document) {
	for _, op := range doc.Operations {
		if op.Name != "" && len(t.names) < maxTrustedNames {
			t.names[op.Name] = true
		}
	}
}

// readTrusted parses a document that is to be trusted.
func readTrusted(d *document.Documents, id string, item *strictjson.Node, maxQuery int) (*document.Document, error) {
	switch {
	case id == "" || len(id) > maxTrustedID:
		return nil, fmt.Errorf("the id %q: want 1 to %d bytes, found %d", wire.Shorten(id), maxTrustedID, len(id))
	case item.Kind != strictjson.String:
		return nil, fmt.Errorf("document %q: want the text of a GraphQL document, found %s", wire.Shorten(id), item.Kind)
	}
	if most := cmp.Or(maxQuery, wire.DefaultMaxQuery); len(item.Text) > most {
		return nil, fmt.Errorf("document %q: want at most %d bytes, found %d", wire.Shorten(id), most, len(item.Text))
	}
	doc, errs := d.Parse(item.Text)
	if len(errs) > 0 {
		return nil, fmt.Errorf("document %q: %s", wire.Shorten(id), withPlace(errs[0]))
	}
	return doc, nil
}

// withPlace returns the message of an error of a document, with its place.
func withPlace(e *gqlerror.Error) string {
	if len(e.Locations) == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Locations[0].Line, e.Locations[0].Column, e.Message)
}

// document returns a trusted document that is kept parsed, nil for any other.
func (t *Trusted) document(text string) *document.Document {
	if t == nil {
		return nil
	}
	return t.byText[text]
}

// find puts the text of the document in a request that names one. It refuses what is not there, or not to be run.
func (t *Trusted) find(ctx context.Context, r *wire.Request) error {
	switch {
	case r.DocumentID != "":
		return t.findByID(r)
	case r.Query == "":
		return t.findByHash(r)
	case t == nil || !t.Only || isRunner(ctx):
		return nil
	}
	if _, trusted := t.byText[r.Query]; trusted {
		return nil
	}
	return fault.New(fault.DocumentNotTrusted,
		"This server runs trusted documents only (--trusted-only); send the id of one as documentId.")
}

// isRunner reports whether a runner asks. Its documents come with its program, which may be newer than the server.
func isRunner(ctx context.Context) bool {
	a := actor.From(ctx)
	return a != nil && a.Role == actor.Runner
}

func (t *Trusted) findByID(r *wire.Request) error {
	if t == nil {
		return fault.New(fault.DocumentNotFound,
			"There are no trusted documents here, so none has the id %q; the flag is --trusted-documents.",
			wire.Shorten(r.DocumentID))
	}
	text, known := t.byID[r.DocumentID]
	if !known {
		return fault.New(fault.DocumentNotFound, "No trusted document has the id %q.", wire.Shorten(r.DocumentID))
	}
	r.Query, r.IsTrusted = text, true
	return nil
}

// findByHash finds a document by its SHA-256. Clients take the message of the refusal for the advice to send
// texts from then on; PersistedQueryNotFound would have them send it beside the hash, for nothing, since no text of a
// caller is kept. So a hash beside a text is not verified either.
func (t *Trusted) findByHash(r *wire.Request) error {
	if t != nil {
		for _, id := range []string{r.Hash, "sha256:" + r.Hash} {
			if text, known := t.byID[id]; known {
				r.Query, r.IsTrusted = text, true
				return nil
			}
		}
	}
	return fault.New(fault.DocumentPersistedQueryNotSupported, "PersistedQueryNotSupported")
}
