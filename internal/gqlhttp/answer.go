package gqlhttp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/fault"
	"slipway/internal/requestlog"
)

// Refuse answers a request with an error of which nothing was run: the error's HTTP status and one
// entry under errors, without data. An error that is no fault is masked as INTERNAL; logging it is up
// to the caller.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	refusal := FromFault(fault.Public(err, view(r.Context(), "")))
	requestlog.From(r.Context()).AddError(codeOf(refusal))
	media := cmp.Or(negotiate(r.Header), mediaJSON)
	answer(w, media, fault.Status(err), &graphql.Response{Errors: gqlerror.List{refusal}})
}

// respond writes what an operation gave. Without data nothing was executed, and the status tells why:
// that of the first error's code, but 200 for a bad document under application/json, whose clients
// take any other status for a failure of the transport.
func respond(w http.ResponseWriter, media string, resp *graphql.Response) {
	status := http.StatusOK
	if resp.Data == nil && len(resp.Errors) > 0 {
		extensions := resp.Errors[0].Extensions
		if metadata, ok := extensions["metadata"].(map[string]any); ok && metadata["retryAfterSeconds"] != nil {
			w.Header().Set("Retry-After", fmt.Sprint(metadata["retryAfterSeconds"]))
		}
		code, _ := extensions["code"].(string)
		status = fault.Code(code).Status()
		if status == http.StatusBadRequest && media == mediaJSON {
			status = http.StatusOK
		}
	}
	answer(w, media, status, resp)
}

// answer panics, before it writes anything, when an extension has no JSON form.
func answer(w http.ResponseWriter, media string, status int, resp *graphql.Response) {
	body := encode(resp)
	h := w.Header()
	h.Set("Content-Type", media+"; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller who has gone needs no answer
}

// encode writes errors first, and data only where there is any. Data is JSON already and is not
// looked at again.
func encode(resp *graphql.Response) []byte {
	b := append(make([]byte, 0, len(resp.Data)+64), '{')
	member := func(name string, value []byte) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, name), ':')
		b = append(b, value...)
	}
	if len(resp.Errors) > 0 {
		member("errors", mustEncode(resp.Errors))
	}
	if resp.Data != nil {
		member("data", resp.Data)
	}
	if len(resp.Extensions) > 0 {
		member("extensions", mustEncode(resp.Extensions))
	}
	return append(b, '}')
}

func mustEncode(v any) []byte {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("encode a GraphQL answer: %w", err))
	}
	return encoded
}
