package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"slipway/internal/strictjson"

	"github.com/go-chi/chi/v5"

	"slipway/internal/fault"
)

const (
	mediaJSON = "application/json"
	mediaForm = "application/x-www-form-urlencoded"
)

// whiteSpace is that of JSON.
const whiteSpace = " \t\r\n"

// request is a request whose body has been read.
type request struct {
	*http.Request
	// body is as it was sent, empty where there is none.
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
		return fault.New(fault.RequestMalformed, "The operation takes no body; it may be absent, empty or {}, found %s.", root.Kind)
	}
	if violations := strictjson.Decode(root, &struct{}{}, ""); len(violations) > 0 {
		for i := range violations {
			violations[i].Message = "is not a field here; the body may be absent, empty or {}"
		}
		return fault.Invalid(fault.RequestMalformed, violations...)
	}
	return nil
}

// readBody reads a body of at most limit bytes. Its content type counts only where there is one. A body that
// says it is longer is not asked for.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(r, limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge(r, limit)
	}
	if len(body) > 0 {
		if err := sendsJSON(r.Header); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, fault.New(fault.RequestMalformed, "The body could not be read to its end.").WithCause(err)
	}
	return body, nil
}

// tooLarge refuses a body that is longer than limit, or first of all no JSON.
func tooLarge(r *http.Request, limit int64) error {
	if err := sendsJSON(r.Header); err != nil {
		return err
	}
	return fault.BodyTooLarge(limit, r.ContentLength)
}

// sendsJSON refuses bodies that are no JSON by their headers; one without a type counts as JSON.
func sendsJSON(h http.Header) error {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return fault.New(fault.RequestUnsupportedMedia, "The body must not be encoded; found the Content-Encoding %.60q.", encoding)
	}
	found := h.Get("Content-Type")
	if found == "" {
		return nil
	}
	media, params, err := mime.ParseMediaType(found)
	if err != nil || media != mediaJSON || !isUTF8(params) {
		refusal := fault.New(fault.RequestUnsupportedMedia, "Content-Type must be %s in UTF-8; found %.60q.", mediaJSON, found)
		if media == mediaForm {
			refusal.Description = "curl names this type by itself for a body: add -H 'Content-Type: application/json', or send it by --json."
		}
		return refusal
	}
	return nil
}

func isUTF8(params map[string]string) bool {
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}
