package attacktest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"slipway/internal/base/actor"
)

// media is the one under which a refused document has a status of its own.
const media = "application/graphql-response+json"

// mostRead is how much of an answer is looked at; of the rest the bytes are counted.
const mostRead = 32 << 20

// request is one over HTTP; what is empty is POST, /graphql, the caller's token and JSON.
type request struct {
	method, path string
	// host is the Host header if it is not the server's address.
	host   string
	header map[string]string
	body   io.Reader
}

// caller sends the requests of one attack.
type caller struct {
	*server
	// round tells the callers of an attack apart.
	round int
	// token is empty for a caller without one.
	token  string
	client *http.Client
	// dialer makes the connections that are not the client's.
	dialer *net.Dialer
	// largest is the size of the largest answer so far, in bytes.
	largest *atomic.Int64
}

// newCaller makes a caller on connections of its own, with the admin's token; close closes them.
func newCaller(s *server, round int) (c *caller, close func()) {
	transport := &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true}
	c = &caller{s, round, s.tokens[actor.Admin], &http.Client{Transport: transport, Timeout: patience}, new(net.Dialer), new(atomic.Int64)}
	return c, transport.CloseIdleConnections
}

// anonymous is the role of a caller without a token.
const anonymous actor.Role = ""

// as is the caller with another role's token.
func (c *caller) as(who actor.Role) *caller { return c.with(c.tokens[who]) }

// with is the caller with another token.
func (c *caller) with(token string) *caller {
	other := *c
	other.token = token
	return &other
}

// host is what the server is reached by, without the scheme.
func (s *server) host() string { return strings.TrimPrefix(s.url, "http://") }

// send returns the verdict of the answer.
func (c *caller) send(ctx context.Context, q request) (string, error) {
	status, body, err := c.exchange(ctx, q)
	if err != nil {
		return "", err
	}
	return verdict(status, body), nil
}

// exchange returns the status and the body of the answer, of which it keeps no more than mostRead.
func (c *caller) exchange(ctx context.Context, q request) (status int, body []byte, err error) {
	method, path := q.method, q.path
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = "/graphql"
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, q.body)
	if err != nil {
		return 0, nil, err
	}
	r.Host = q.host
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", media)
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	body, size, err := read(answer)
	if c.largest.Load() < size {
		c.largest.Store(size)
	}
	return answer.StatusCode, body, err
}

func read(answer *http.Response) (body []byte, size int64, err error) {
	defer func() { _ = answer.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(answer.Body, mostRead))
	if err != nil {
		return nil, 0, err
	}
	rest, err := io.Copy(io.Discard, answer.Body)
	return body, int64(len(body)) + rest, err
}

// post asks for an operation.
func (c *caller) post(ctx context.Context, query string, variables any) (string, error) {
	body, err := operation(query, variables)
	if err != nil {
		return "", err
	}
	return c.send(ctx, request{body: bytes.NewReader(body)})
}

// operation is the body of a request for an operation.
func operation(query string, variables any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it would make bodies longer than they need to be
	err := e.Encode(map[string]any{"query": query, "variables": variables})
	return b.Bytes(), err
}

func verdictOf(answer *http.Response) (string, error) {
	body, _, err := read(answer)
	if err != nil {
		return "", err
	}
	return verdict(answer.StatusCode, body), nil
}

// verdict is the status of an answer with the codes of its errors, each once and with the limit that it
// names.
func verdict(status int, body []byte) string {
	type refusal struct {
		Code     string
		Metadata struct{ Limit string }
	}
	var answer struct {
		refusal
		Errors []struct{ Extensions refusal }
	}
	_ = json.Unmarshal(body, &answer) // an answer that is no JSON has no code
	why := []refusal{answer.refusal}
	for _, e := range answer.Errors {
		why = append(why, e.Extensions)
	}
	var codes []string
	for _, w := range why {
		if code := strings.TrimPrefix(w.Code, "slipway:"); code != "" {
			codes = append(codes, strings.TrimSpace(code+" "+w.Metadata.Limit))
		}
	}
	slices.Sort(codes)
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, strings.Join(slices.Compact(codes), " and ")))
}

// tally counts verdicts.
type tally struct {
	mu    sync.Mutex
	found map[string]int
}

func (t *tally) add(verdict string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.found == nil {
		t.found = map[string]int{}
	}
	t.found[verdict]++
}

// String returns the verdicts with their counts, or alone if there is one only.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var parts []string
	for verdict, n := range t.found {
		if len(t.found) == 1 {
			return verdict
		}
		parts = append(parts, fmt.Sprintf("%d x %s", n, verdict))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// kinds returns the verdicts without their counts.
func (t *tally) kinds() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var kinds []string
	for verdict := range t.found {
		kinds = append(kinds, verdict)
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}

// flood does something many times, on some goroutines, and returns the verdicts.
func flood(times, at int, do func(i int) (string, error)) (string, error) {
	return repeat(times, at, do).String(), nil
}

// repeat is flood for those who look at the tally.
func repeat(times, at int, do func(i int) (string, error)) *tally {
	var t tally
	var working sync.WaitGroup
	next := make(chan int)
	for range at {
		working.Go(func() {
			for i := range next {
				got, err := do(i)
				if err != nil {
					got = err.Error()
				}
				t.add(got)
			}
		})
	}
	for i := range times {
		next <- i
	}
	close(next)
	working.Wait()
	return &t
}
