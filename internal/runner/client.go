package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"slipway/internal/fault"
)

const (
	// requestTimeout is the longest time for one request.
	requestTimeout = 10 * time.Second
	// maxAnswer is how much of an answer is read, in bytes.
	maxAnswer = 16 << 20

	// The time before a request is repeated doubles from firstWait to longestWait.
	firstWait, longestWait = 100 * time.Millisecond, 5 * time.Second
)

// client sends GraphQL operations to a server.
type client struct {
	url, token string
	http       http.Client
	log        *slog.Logger
}

func newClient(c Config) *client {
	return &client{
		url: c.Server + "/graphql", token: c.Token, log: c.Log,
		// A redirect would turn the POST into a GET. The error shows the operator what to change in --server.
		http: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// apiError is an answer that is an error. Its code is empty if the answer is not Slipway's but, say, a proxy's.
type apiError struct {
	status        int
	code, message string
}

func (r *apiError) Error() string {
	if r.code == "" {
		return "it answered " + r.message
	}
	return fmt.Sprintf("%s (%s)", r.message, r.code)
}

// permanent reports whether the same request would fail again.
func (r *apiError) permanent() bool {
	return r.status >= 300 && r.status < 500 && r.status != http.StatusRequestTimeout && r.status != http.StatusTooManyRequests
}

// transient reports whether a request under a lease may succeed if it is repeated. That includes errors that need not
// be the server's own, such as the 404 of a proxy whose server restarts.
func transient(err error) bool {
	r, ok := errors.AsType[*apiError](err)
	return !ok || !r.permanent() || r.code == "" && (r.status < 400 || r.status == http.StatusNotFound)
}

// notSent reports whether the request has reached nobody.
func notSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// retry calls try until it returns no error, or an error that is not to be tried again, or ctx ends.
func (c *client) retry(ctx context.Context, operation string, try func() (again bool, err error)) error {
	level := slog.LevelWarn // of the first failure; the others are details
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		again, err := try()
		if err == nil || !again {
			return err
		}
		if ctx.Err() == nil {
			c.log.Log(ctx, level, "request failed; trying again", "operation", operation, "error", err)
			level = slog.LevelDebug
		}
		// A random quarter more or less keeps many runners from asking at the same moment.
		if !sleep(ctx, wait*3/4+rand.N(wait/2)) { //nolint:gosec // not a secret
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// answer is an answer of GraphQL, or the error of what refuses a request before GraphQL.
type answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
	Code, Message string
}

// newFields removes from a document the fields that servers from before cancellation requests do not know.
var newFields = strings.NewReplacer(" cancelSeconds", "", " fence", "")

// post sends an operation once and decodes the data of the answer. If the server does not know some of the fields, it
// is asked again without the new ones: runners are upgraded before servers.
func (c *client) post(ctx context.Context, timeout time.Duration, query string, input, data any) error {
	err := c.send(ctx, timeout, query, input, data)
	if refused, ok := errors.AsType[*apiError](err); ok && refused.code == string(fault.DocumentValidationFailed) {
		if older := newFields.Replace(query); older != query {
			return c.send(ctx, timeout, older, input, data)
		}
	}
	return err
}

func (c *client) send(ctx context.Context, timeout time.Duration, query string, input, data any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": map[string]any{"input": input}})
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/graphql-response+json")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	return decode(response, text, data)
}

// graphqlError returns an error of GraphQL as an apiError. Errors of a running operation come with status 200.
func graphqlError(status int, code, message string) *apiError {
	if status == http.StatusOK {
		status = fault.Code(code).Status()
	}
	return &apiError{status, code, message}
}

// decode decodes the data of an answer, or returns its error.
func decode(response *http.Response, text []byte, data any) error {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return &apiError{status: response.StatusCode, message: response.Status}
	}
	switch {
	case len(a.Errors) > 0:
		return graphqlError(response.StatusCode, a.Errors[0].Extensions.Code, a.Errors[0].Message)
	case a.Data == nil:
		return &apiError{response.StatusCode, a.Code, cmp.Or(a.Message, response.Status)}
	}
	return json.Unmarshal(a.Data, data)
}
