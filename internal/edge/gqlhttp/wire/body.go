// Package wire has the form of requests and answers of GraphQL over HTTP: what a server reads and writes, whichever way
// it comes and goes.
//
// A request is read by the letter: duplicate keys, unknown members, and text that is no Unicode are refused, with the
// place of all that is wrong. An answer has its errors first, and an error is that of package fault, with its members
// under extensions.
package wire

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

// DefaultMaxQuery is the longest text of a document, in bytes, if nothing else is said.
const DefaultMaxQuery = 16 << 10

// members are those of a request, over POST and GET.
var members = []string{"query", "documentId", "operationName", "variables", "extensions"}

// Request is what a caller asks to be executed: a document, by its text or by what names it. Each of its variables is
// a *strictjson.Node that is yet to be coerced.
type Request struct {
	graphql.RawParams
	// DocumentID is the id of a trusted document, and Hash the SHA-256 of one as clients with persisted queries
	// send it; empty if there is none.
	DocumentID, Hash string
	// IsTrusted reports whether the document was found by either.
	IsTrusted bool
}

// ParseBody reads the JSON of a POST. Nothing is forgiven: gqlgen's own reading takes the last of
// duplicate keys and turns lone surrogates into other text.
func ParseBody(body []byte) (*Request, error) {
	root, err := strictjson.ParseBody(body)
	if err != nil {
		return nil, err
	}
	return FromNode(root)
}

// ParseURL reads the query string of a GET, where variables and extensions are JSON.
func ParseURL(raw string) (*Request, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fault.New(fault.RequestMalformed, "The query string is not well-formed.").WithCause(err)
	}

	root := &strictjson.Node{Kind: strictjson.Object}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		given := values[name]
		if len(given) > 1 {
			return nil, fault.Malformed(fault.Violation{Pointer: pointer(name), Rule: "repeated", Message: "must be given once"})
		}

		item := &strictjson.Node{Kind: strictjson.String, Text: given[0]}
		if name == "variables" || name == "extensions" {
			item, err = strictjson.ParsePart([]byte(given[0]), pointer(name))
		}
		if err != nil {
			return nil, err
		}

		root.Keys, root.Items = append(root.Keys, name), append(root.Items, item)
	}

	return FromNode(root)
}

// FromNode reads a request that is JSON already.
func FromNode(root *strictjson.Node) (*Request, error) {
	var r Reader
	p := &Request{
		RawParams: graphql.RawParams{
			Query:         r.Text(root, "query"),
			OperationName: r.Text(root, "operationName"),
			Variables:     r.variables(root),
			Extensions:    r.object(root, "extensions"),
		},
		DocumentID: r.Text(root, "documentId"),
	}

	if p.Query == "" && p.DocumentID == "" {
		p.Hash = r.hash(root)
	}

	switch {
	case p.Query != "" && p.DocumentID != "":
		r.fail("documentId", "exclusive", "must not be there beside a query")
	case p.Query == "" && p.DocumentID == "" && p.Hash == "" && len(r.Violations) == 0:
		r.fail("query", "required",
			"must be the text of a GraphQL document, or documentId the id of a trusted one; found nothing")
	}

	r.Unknown(root.Keys, members)
	if len(r.Violations) > 0 {
		return nil, fault.Malformed(r.Violations...)
	}
	return p, nil
}

// Reader reads members of a JSON object and collects what is wrong with them.
type Reader struct{ Violations []fault.Violation }

// Text returns a member that is a string, empty if it is null or absent.
func (r *Reader) Text(root *strictjson.Node, name string) string {
	if n := r.member(root, name, strictjson.String); n != nil {
		return n.Text
	}
	return ""
}

func (r *Reader) object(root *strictjson.Node, name string) map[string]any {
	if n := r.member(root, name, strictjson.Object); n != nil {
		return Plain(n).(map[string]any)
	}
	return nil
}

// Unknown refuses those of the keys that are none of the members, in their order.
func (r *Reader) Unknown(keys, members []string) {
	var unknown []string
	for _, key := range keys {
		if !slices.Contains(members, key) {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	for _, key := range unknown {
		r.fail(key, "unknown_field", "is not known, the members are "+strings.Join(members, ", "))
	}
}

// variables returns what was given for each.
func (r *Reader) variables(root *strictjson.Node) map[string]any {
	n := r.member(root, "variables", strictjson.Object)
	if n == nil {
		return nil
	}
	given := make(map[string]any, len(n.Keys))
	for i, name := range n.Keys {
		given[name] = n.Items[i]
	}
	return given
}

// hash returns that of a persisted query, empty if the extensions have none.
func (r *Reader) hash(root *strictjson.Node) string {
	extensions := root.Get("extensions")
	if extensions == nil || extensions.Kind != strictjson.Object {
		return ""
	}
	persisted := extensions.Get("persistedQuery")
	if persisted == nil || persisted.Kind == strictjson.Null {
		return ""
	}
	if persisted.Kind == strictjson.Object {
		if hash := persisted.Get("sha256Hash"); hash != nil && hash.Kind == strictjson.String && hash.Text != "" {
			return hash.Text
		}
	}
	r.Violations = append(r.Violations, fault.Violation{
		Pointer: "/extensions/persistedQuery/sha256Hash", Rule: "required",
		Message: "must be the hash of a document where there is no query",
	})
	return ""
}

// member returns the member when it is of the kind; null stands for absent.
func (r *Reader) member(root *strictjson.Node, name string, kind strictjson.Kind) *strictjson.Node {
	n := root.Get(name)
	if n == nil || n.Kind == strictjson.Null {
		return nil
	}
	if n.Kind != kind {
		r.fail(name, "type", "must be "+kind.String()+" or null, found "+n.Kind.String())
		return nil
	}
	return n
}

func (r *Reader) fail(name, rule, message string) {
	const most = 20 // enough to mend a request by, and no way to have a long answer made
	if len(r.Violations) < most {
		r.Violations = append(r.Violations, fault.Violation{Pointer: pointer(name), Rule: rule, Message: message})
	}
}

// Plain returns a value in Go's own types; numbers stay the literals that they were.
func Plain(n *strictjson.Node) any {
	switch n.Kind {
	case strictjson.Bool:
		return n.Bool
	case strictjson.Number:
		return json.Number(n.Text)
	case strictjson.String:
		return n.Text
	case strictjson.Array:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = Plain(item)
		}
		return list
	case strictjson.Object:
		object := make(map[string]any, len(n.Keys))
		for i, key := range n.Keys {
			object[key] = Plain(n.Items[i])
		}
		return object
	default:
		return nil
	}
}

// pointer returns the JSON Pointer of a member of the request.
func pointer(name string) string { return fault.Pointer(Shorten(name)) }

// Shorten returns a caller's own text, cut to what a message may repeat of it.
func Shorten(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// CheckQuery refuses a document whose text has more than most bytes; 0 stands for DefaultMaxQuery.
func CheckQuery(text string, most int) error {
	if most = cmp.Or(most, DefaultMaxQuery); len(text) > most {
		e := fault.New(fault.DocumentTooLarge, "The document may have at most %d bytes; found %d.", most, len(text))
		e.Metadata = map[string]any{"limit": "query", "value": most, "found": len(text)}
		return e
	}
	return nil
}
