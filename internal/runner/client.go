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
	// patience is how long one request may take.
	patience = 10 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 16 << 20

	firstWait, longestWait = 100 * time.Millisecond, 5 * time.Second
)

// client asks a server.
type client struct {
	url, token string
	http       http.Client
	log        *slog.Logger
}

func newClient(c Config) *client {
	return &client{
		url: c.Server + "/graphql", token: c.Token, log: c.Log,
		// A redirected POST would come as a GET; the answer says where to point --server to.
		http: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// refusal is an answer without what was asked for. Its code is empty where it is not Slipway's.
type refusal struct {
	status        int
	code, message string
}

func (r *refusal) Error() string {
	if r.code == "" {
		return "it answered " + r.message
	}
	return fmt.Sprintf("%s (%s)", r.message, r.code)
}

// final says whether the same request would be refused again.
func (r *refusal) final() bool {
	return r.status >= 300 && r.status < 500 && r.status != http.StatusRequestTimeout && r.status != http.StatusTooManyRequests
}

// transient says whether to try again what failed under a lease: whatever the server may not have said
// itself, such as a 404 of the proxy before a server that restarts.
func transient(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return !ok || !r.final() || r.code == "" && (r.status < 400 || r.status == http.StatusNotFound)
}

// unsent says whether a request has not reached anybody.
func unsent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// retry tries until there is no error, the error is not to be tried again, or ctx ends.
func (c *client) retry(ctx context.Context, what string, try func() (again bool, err error)) error {
	least := slog.LevelWarn
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		again, err := try()
		if err == nil || !again {
			return err
		}
		if ctx.Err() == nil {
			c.log.Log(ctx, least, "nothing done by the server; trying again", "asked", what, "error", err)
			least = slog.LevelDebug
		}
		// A quarter more or less keeps many runners apart.
		if !pause(ctx, wait*3/4+rand.N(wait/2)) { //nolint:gosec // not a secret
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// answer is GraphQL's, or the error of one who refuses before that.
type answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
	Code, Message string
}

// newer takes out of a document what servers of before cancellation requests do not know.
var newer = strings.NewReplacer(" cancelSeconds", "", " fence", "")

// post asks once, and decodes the data of the answer. A server that does not know all that is asked for is
// asked for less: runners are upgraded before servers.
func (c *client) post(ctx context.Context, timeout time.Duration, query string, input, data any) error {
	err := c.send(ctx, timeout, query, input, data)
	if said, ok := errors.AsType[*refusal](err); ok && said.code == string(fault.DocumentValidationFailed) {
		if older := newer.Replace(query); older != query {
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

// refusedBy gives GraphQL's error as a refusal. What fails while the operation runs comes with status 200.
func refusedBy(status int, code, message string) *refusal {
	if status == http.StatusOK {
		status = fault.Code(code).Status()
	}
	return &refusal{status, code, message}
}

func decode(response *http.Response, text []byte, data any) error {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return &refusal{status: response.StatusCode, message: response.Status}
	}
	switch {
	case len(a.Errors) > 0:
		return refusedBy(response.StatusCode, a.Errors[0].Extensions.Code, a.Errors[0].Message)
	case a.Data == nil:
		return &refusal{response.StatusCode, a.Code, cmp.Or(a.Message, response.Status)}
	}
	return json.Unmarshal(a.Data, data)
}
