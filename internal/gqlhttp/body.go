package gqlhttp

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"slipway/internal/strictjson"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/fault"
)

// names are the members of a request, over POST and GET.
var names = []string{"query", "documentId", "operationName", "variables", "extensions"}

// request is what a caller asks to be run: a document, by its text or by what names it.
type request struct {
	graphql.RawParams
	// documentID is the id of a trusted document, and hash the SHA-256 of one as clients with persisted queries
	// send it; empty where there is none.
	documentID, hash string
	// named is whether the document was found by either.
	named bool
}

// paramsOfBody reads the JSON of a POST. Nothing is forgiven: gqlgen's own reading takes the last of
// duplicate keys and turns lone surrogates into other text.
func paramsOfBody(body []byte) (*request, error) {
	root, err := strictjson.ParseBody(body)
	if err != nil {
		return nil, err
	}
	return params(root)
}

// paramsOfURL reads the parameters of a GET, where variables and extensions are JSON.
func paramsOfURL(raw string) (*request, error) {
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
	return params(root)
}

func params(root *strictjson.Node) (*request, error) {
	var r reader
	p := &request{
		RawParams: graphql.RawParams{
			Query:         r.text(root, "query"),
			OperationName: r.text(root, "operationName"),
			Variables:     r.variables(root),
			Extensions:    r.object(root, "extensions"),
		},
		documentID: r.text(root, "documentId"),
	}
	if p.Query == "" && p.documentID == "" {
		p.hash = r.hash(root)
	}
	switch {
	case p.Query != "" && p.documentID != "":
		r.wrong("documentId", "exclusive", "must not be there beside a query")
	case p.Query == "" && p.documentID == "" && p.hash == "" && len(r.violations) == 0:
		r.wrong("query", "required", "must be the text of a GraphQL document, or documentId the id of a trusted one; found nothing")
	}
	for _, key := range slices.Sorted(slices.Values(root.Keys)) {
		if !slices.Contains(names, key) {
			r.wrong(key, "unknown_field", "is not known, the members are "+strings.Join(names, ", "))
		}
	}
	if len(r.violations) > 0 {
		return nil, fault.Malformed(r.violations...)
	}
	return p, nil
}

// reader takes members out of a request and remembers all that are wrong.
type reader struct{ violations []fault.Violation }

func (r *reader) text(root *strictjson.Node, name string) string {
	if n := r.member(root, name, strictjson.String); n != nil {
		return n.Text
	}
	return ""
}

func (r *reader) object(root *strictjson.Node, name string) map[string]any {
	if n := r.member(root, name, strictjson.Object); n != nil {
		return plain(n).(map[string]any)
	}
	return nil
}

// variables are what was given for each, a *strictjson.Node that is yet to be coerced.
func (r *reader) variables(root *strictjson.Node) map[string]any {
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

// hash is that of a persisted query, empty where the extensions have none.
func (r *reader) hash(root *strictjson.Node) string {
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
	r.violations = append(r.violations, fault.Violation{
		Pointer: "/extensions/persistedQuery/sha256Hash", Rule: "required", Message: "must be the hash of a document where there is no query",
	})
	return ""
}

// member gives the member when it is of the kind; null stands for absent.
func (r *reader) member(root *strictjson.Node, name string, kind strictjson.Kind) *strictjson.Node {
	n := root.Get(name)
	if n == nil || n.Kind == strictjson.Null {
		return nil
	}
	if n.Kind != kind {
		r.wrong(name, "type", "must be "+kind.String()+" or null, found "+n.Kind.String())
		return nil
	}
	return n
}

func (r *reader) wrong(name, rule, message string) {
	const most = 20 // enough to mend a request by, and no way to have a long answer made
	if len(r.violations) < most {
		r.violations = append(r.violations, fault.Violation{Pointer: pointer(name), Rule: rule, Message: message})
	}
}

// plain is the value in Go's own types; numbers stay the literals that they were.
func plain(n *strictjson.Node) any {
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
			list[i] = plain(item)
		}
		return list
	case strictjson.Object:
		object := make(map[string]any, len(n.Keys))
		for i, key := range n.Keys {
			object[key] = plain(n.Items[i])
		}
		return object
	default:
		return nil
	}
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is the JSON Pointer of a member of the request.
func pointer(name string) string { return "/" + escaper.Replace(shorten(name)) }

// shorten keeps a caller's own text short where a message repeats it.
func shorten(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
