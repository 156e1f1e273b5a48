package gqlhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"slipway/internal/strictjson"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/actor"
	"slipway/internal/fault"
)

const (
	// maxTrustedKept is about how many bytes of trusted documents stay parsed for good. More are parsed when they
	// are asked for, and kept as others are.
	maxTrustedKept = 32 << 20
	// maxTrustedID is the longest id of a trusted document, in bytes.
	maxTrustedID = 256
	// maxTrustedErrors is how many documents are told of that are not valid.
	maxTrustedErrors = 10
)

// Trusted are documents that callers may name by an id instead of sending them.
type Trusted struct {
	// Only refuses every other document, whoever sends it but a runner.
	Only bool

	byID map[string]string
	// byText has every document; it is nil for those that are not kept parsed.
	byText map[string]*document
}

// ReadTrusted reads documents from a JSON object of their texts by their ids, and validates each as a server of the
// schema and the configuration does. maxQuery is the longest text of one, in bytes; 0 stands for DefaultMaxQuery.
// The error names each id that is wrong, up to ten.
func ReadTrusted(text []byte, schema *ast.Schema, c Config, maxQuery int) (*Trusted, error) {
	root, err := strictjson.ParseWithin(text, strictjson.Limits{Bytes: max(len(text), 1)})
	if err != nil {
		return nil, fmt.Errorf("not JSON as it must be: %w", err)
	}
	if root.Kind != strictjson.Object {
		return nil, fmt.Errorf("want an object of documents by their ids, found %s", root.Kind)
	}
	c.Limits = c.Limits.WithDefaults()
	d := newDocuments(schema, c)
	t := &Trusted{byID: map[string]string{}, byText: map[string]*document{}}
	kept := 0
	var wrong []error
	for i, id := range root.Keys {
		doc, err := d.trust(id, root.Items[i], maxQuery)
		if err != nil {
			if wrong = append(wrong, err); len(wrong) == maxTrustedErrors {
				break
			}
			continue
		}
		text := root.Items[i].Text
		t.byID[id] = text
		if kept += doc.bytes(); kept > maxTrustedKept {
			doc = nil
		}
		t.byText[text] = doc
	}
	return t, errors.Join(wrong...)
}

// trust parses a document that is to be trusted.
func (d *documents) trust(id string, item *strictjson.Node, maxQuery int) (*document, error) {
	switch {
	case id == "" || len(id) > maxTrustedID:
		return nil, fmt.Errorf("the id %q: want 1 to %d bytes, found %d", shorten(id), maxTrustedID, len(id))
	case item.Kind != strictjson.String:
		return nil, fmt.Errorf("document %q: want the text of a GraphQL document, found %s", shorten(id), item.Kind)
	}
	if most := cmp.Or(maxQuery, DefaultMaxQuery); len(item.Text) > most {
		return nil, fmt.Errorf("document %q: want at most %d bytes, found %d", shorten(id), most, len(item.Text))
	}
	doc, errs := d.parse(item.Text)
	if len(errs) > 0 {
		return nil, fmt.Errorf("document %q: %s", shorten(id), told(errs[0]))
	}
	return doc, nil
}

// told is an error of a document with its place.
func told(e *gqlerror.Error) string {
	if len(e.Locations) == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Locations[0].Line, e.Locations[0].Column, e.Message)
}

// document returns a trusted document that is kept parsed, nil for any other.
func (t *Trusted) document(text string) *document {
	if t == nil {
		return nil
	}
	return t.byText[text]
}

// find puts the text of the document in a request that names one. It refuses what is not there, or not to be run.
func (t *Trusted) find(ctx context.Context, r *request) error {
	switch {
	case r.documentID != "":
		return t.findByID(r)
	case r.Query == "":
		return t.findByHash(r)
	case t == nil || !t.Only || isRunner(ctx):
		return nil
	}
	if _, trusted := t.byText[r.Query]; trusted {
		return nil
	}
	return fault.New(fault.DocumentNotTrusted, "This server runs trusted documents only (--trusted-only); send the id of one as documentId.")
}

// isRunner reports whether a runner asks. Its documents come with its program, which may be newer than the server.
func isRunner(ctx context.Context) bool {
	a := actor.From(ctx)
	return a != nil && a.Role == actor.Runner
}

func (t *Trusted) findByID(r *request) error {
	if t == nil {
		return fault.New(fault.DocumentNotFound, "There are no trusted documents here, so none has the id %q; the flag is --trusted-documents.", shorten(r.documentID))
	}
	text, known := t.byID[r.documentID]
	if !known {
		return fault.New(fault.DocumentNotFound, "No trusted document has the id %q.", shorten(r.documentID))
	}
	r.Query, r.named = text, true
	return nil
}

// findByHash finds a document by its SHA-256. Clients take the message of the refusal for the advice to send
// texts from then on.
func (t *Trusted) findByHash(r *request) error {
	if t != nil {
		for _, id := range []string{r.hash, "sha256:" + r.hash} {
			if text, known := t.byID[id]; known {
				r.Query, r.named = text, true
				return nil
			}
		}
	}
	return fault.New(fault.DocumentPersistedQueryNotSupported, "PersistedQueryNotSupported")
}
