package gqlhttp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

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
	status := statusOf(resp)
	if status == http.StatusBadRequest && media == mediaJSON {
		status = http.StatusOK
	}
	answer(w, media, status, resp)
}

func statusOf(resp *graphql.Response) int {
	if resp.Data != nil || len(resp.Errors) == 0 {
		return http.StatusOK
	}
	code, _ := resp.Errors[0].Extensions["code"].(string)
	return fault.Code(code).Status()
}

// answer panics, before it writes anything, when an extension has no JSON form.
func answer(w http.ResponseWriter, media string, status int, resp *graphql.Response) {
	head, data, tail := parts(resp)
	h := w.Header()
	h.Set("Content-Type", media+"; charset=utf-8")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept")
	if len(resp.Errors) > 0 {
		metadata, _ := resp.Errors[0].Extensions["metadata"].(map[string]any)
		fault.SetRetryAfter(h, status, metadata)
	}
	w.WriteHeader(status)
	for _, part := range [][]byte{head, data, tail} {
		if _, err := w.Write(part); err != nil { //nolint:gosec // it is JSON, which no browser takes for a page
			return // a caller who has gone needs no answer
		}
	}
}

// encode is an answer in one piece.
func encode(resp *graphql.Response) []byte {
	head, data, tail := parts(resp)
	return slices.Concat(head, data, tail)
}

// parts are what an answer has before its data, the data, and what comes behind them: errors first, and
// data only where there is any. Data is JSON already, and may be so large that it is not copied.
func parts(resp *graphql.Response) (head, data, tail []byte) {
	head = []byte("{")
	if len(resp.Errors) > 0 {
		head = append(append(head, `"errors":`...), mustEncode(resp.Errors)...)
	}
	if resp.Data != nil {
		head = append(separated(head), `"data":`...)
	}
	if len(resp.Extensions) > 0 {
		if resp.Data != nil || len(resp.Errors) > 0 {
			tail = append(tail, ',')
		}
		tail = append(append(tail, `"extensions":`...), mustEncode(resp.Extensions)...)
	}
	return head, resp.Data, append(tail, '}')
}

// separated is the beginning of an object with what a further member needs before it.
func separated(object []byte) []byte {
	if len(object) > 1 {
		return append(object, ',')
	}
	return object
}

// mustEncode writes JSON in which < and the like stay as they are: it is for people, too, and never inside a page.
func mustEncode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Errorf("encode a GraphQL answer: %w", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
