package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/requestlog"
)

// Refuse answers a request that was not executed with the reason: the error's HTTP status and one
// entry under errors, without data. An error that is no fault is masked as INTERNAL; logging it is up
// to the caller.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	resp := Failure(r.Context(), err)
	requestlog.From(r.Context()).AddError(CodeOf(resp.Errors[0]))
	Write(w, cmp.Or(Negotiate(Accepted(r.Header)), httpx.MediaJSON), fault.Status(err), resp)
}

// Respond writes the response of an operation in one piece. Without data nothing was executed, and the status is
// that of the first error's code, but 200 for a bad document under application/json, whose clients
// take any other status for a failure of the transport.
func Respond(w http.ResponseWriter, media string, resp *graphql.Response) {
	status := Status(resp)
	if status == http.StatusBadRequest && media == httpx.MediaJSON {
		status = http.StatusOK
	}
	Write(w, media, status, resp)
}

// Status returns the HTTP status of a response under application/graphql-response+json.
func Status(resp *graphql.Response) int {
	if resp.Data != nil || len(resp.Errors) == 0 {
		return http.StatusOK
	}
	code, _ := resp.Errors[0].Extensions["code"].(string)
	return fault.Code(code).Status()
}

// The values of headers that all answers share.
var noStore, nosniff = []string{"no-store"}, []string{"nosniff"}

// Write writes a response in one piece, of a media type and with a status. It panics, before it writes anything, when
// an extension has no JSON form.
func Write(w http.ResponseWriter, media string, status int, resp *graphql.Response) {
	head, data, tail := Parts(resp)
	h := w.Header()

	// The names are as http.Header has them, so that it need not find that form for each answer.
	h["Content-Type"] = []string{media + "; charset=utf-8"}

	// Of a smaller answer, an http.Server finds out how long it is by itself.
	const large = 2 << 10
	if length := len(head) + len(data) + len(tail); length >= large {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	}

	if h["Cache-Control"] == nil {
		h["Cache-Control"] = noStore
	}
	h["X-Content-Type-Options"] = nosniff
	h["Vary"] = append(h["Vary"], "Accept")
	if len(resp.Errors) > 0 {
		metadata, _ := resp.Errors[0].Extensions["metadata"].(map[string]any)
		fault.SetRetryAfter(h, status, metadata)
	}

	w.WriteHeader(status)
	for _, part := range [][]byte{head, data, tail} {
		if _, err := w.Write(part); err != nil {
			return // a caller who has gone needs no answer
		}
	}
}

// Encode returns the JSON of a response.
func Encode(resp *graphql.Response) []byte {
	head, data, tail := Parts(resp)
	return slices.Concat(head, data, tail)
}

// Parts returns the JSON of a response in three parts: what comes before its data, the data, and what comes behind
// them. Errors are first, and data only where there is any. Data is JSON already, and may be so large that it is
// not copied.
func Parts(resp *graphql.Response) (head, data, tail []byte) {
	head = []byte("{")
	if len(resp.Errors) > 0 {
		head = append(append(head, `"errors":`...), Marshal(resp.Errors)...)
	}
	if resp.Data != nil {
		head = append(separated(head), `"data":`...)
	}
	if len(resp.Extensions) > 0 {
		before := `"extensions":`
		if resp.Data != nil || len(resp.Errors) > 0 {
			before = `,"extensions":`
		}
		const most = 128 // bytes that the extensions of most answers have
		tail = append(make([]byte, 0, most), before...)
		tail = appendExtensions(tail, resp.Extensions)
	}
	return head, resp.Data, append(tail, '}')
}

// Extension is an extension of an answer that writes its own JSON, which takes a tenth of the time that encoding/json
// does.
type Extension interface{ AppendJSON(b []byte) []byte }

// appendExtensions appends the JSON of extensions, in the order of their names.
func appendExtensions(b []byte, extensions map[string]any) []byte {
	before := byte('{')
	for _, name := range slices.Sorted(maps.Keys(extensions)) {
		b = append(strconv.AppendQuote(append(b, before), name), ':') // the program's own, with nothing to escape
		if own, ok := extensions[name].(Extension); ok {
			b = own.AppendJSON(b)
		} else {
			b = append(b, Marshal(extensions[name])...)
		}
		before = ','
	}
	return append(b, '}')
}

// separated returns the beginning of an object with what a further member needs before it.
func separated(object []byte) []byte {
	if len(object) > 1 {
		return append(object, ',')
	}
	return object
}

// Marshal returns the JSON of a value, in which < and the like stay as they are: it is for people, too, and never
// inside a page. It panics if the value has no JSON form.
func Marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Errorf("encode a GraphQL answer: %w", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
