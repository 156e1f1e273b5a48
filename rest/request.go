package rest

import (
	"bytes"
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/httpx"
)

// mediaForm is what curl calls a body unless it is given another type.
const mediaForm = "application/x-www-form-urlencoded"

// whiteSpace is that of JSON.
const whiteSpace = " \t\r\n"

// request is a request whose body has been read.
type request struct {
	*http.Request
	// body is as it was sent, empty if there is none.
	body []byte
	// maxAnswer is from how many bytes on a page ends early, 0 for never.
	maxAnswer int
	// enter returns the context to run the operation in; it is called once the request is read.
	enter func() (context.Context, error)
}

// id returns the id that the path names. The router matches the path as it was escaped.
func (r request) id() string {
	id := chi.URLParam(r.Request, "id")
	if plain, err := url.PathUnescape(id); err == nil {
		return plain
	}
	return id
}

// checkNoInput returns an error for parameters and for a body: the operation has neither.
func (r request) checkNoInput() error {
	if err := r.checkNoQuery(); err != nil {
		return err
	}
	return r.checkNoBody()
}

// checkNoQuery returns an error for any parameter.
func (r request) checkNoQuery() error {
	p, err := r.query()
	if err != nil {
		return err
	}
	return p.err()
}

// checkNoBody returns an error for a body; an empty object is let through, for clients that cannot send less.
func (r request) checkNoBody() error {
	if len(bytes.Trim(r.body, whiteSpace)) == 0 {
		return nil
	}
	root, err := strictjson.ParsePart(r.body, "")
	if err != nil {
		return err
	}
	if root.Kind != strictjson.Object {
		return fault.New(
			fault.RequestMalformed, "The operation takes no body; it may be absent, empty or {}, found %s.", root.Kind,
		)
	}
	if violations := strictjson.Decode(root, &struct{}{}, ""); len(violations) > 0 {
		for i := range violations {
			violations[i].Message = "is not a field here; the body may be absent, empty or {}"
		}
		return fault.Invalid(fault.RequestMalformed, violations...)
	}
	return nil
}

// readBody reads a body of at most limit bytes. Its content type counts only where there is one, and then before all
// else that is wrong with it.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, failed := httpx.ReadBody(w, r, limit)
	if len(body) > 0 || r.ContentLength > limit {
		if err := sendsJSON(w, r.Header); err != nil {
			return nil, err
		}
	}
	return body, failed
}

// sendsJSON refuses bodies that are no JSON by their headers; one without a type counts as JSON.
func sendsJSON(w http.ResponseWriter, h http.Header) error {
	if err := httpx.CheckEncoding(w, h); err != nil {
		return err
	}
	if err := httpx.CheckContentType(h); err != nil {
		return err
	}
	found := h.Get("Content-Type")
	if found == "" {
		return nil
	}

	media, inUTF8 := httpx.ContentType(h)
	if media == httpx.MediaJSON && inUTF8 {
		return nil
	}

	refusal := fault.New(
		fault.RequestUnsupportedMedia, "Content-Type must be %s in UTF-8; found %.60q.", httpx.MediaJSON, found,
	)
	if media == mediaForm {
		refusal.Description = "curl names this type by itself for a body: add -H 'Content-Type: application/json', or send " +
			"it by --json."
	}

	return refusal
}

// acceptsJSON refuses callers that want something else than JSON. Unlike GraphQL's, a weight above 1 counts; one that
// is no number makes a type unwanted.
func acceptsJSON(h http.Header) error {
	accept := httpx.ParseAccept(h)
	if accept.IsEmpty() || accept.Preference(httpx.MediaJSON).Quality > 0 {
		return nil
	}
	return fault.New(fault.RequestNotAcceptable, "Accept must allow %s; found %.60q.", httpx.MediaJSON, accept)
}
