package attacktest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// media is the one under which a refused document has a status of its own.
const media = "application/graphql-response+json"

// request is one over HTTP; what is empty is POST, /graphql, the admin's token and JSON.
type request struct {
	method, path string
	header       map[string]string
	body         io.Reader
}

// caller sends the requests of one attack.
type caller struct {
	*server
	round  int
	client *http.Client
}

// newCaller makes a caller on connections of its own; close closes them.
func newCaller(s *server, round int) (c *caller, close func()) {
	transport := &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true}
	c = &caller{s, round, &http.Client{Transport: transport, Timeout: patience}}
	return c, transport.CloseIdleConnections
}

// send gives the verdict of the answer.
func (c *caller) send(ctx context.Context, q request) (string, error) {
	method, path := q.method, q.path
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = "/graphql"
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, q.body)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", media)
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return "", err
	}
	return verdictOf(answer)
}

// post asks for an operation.
func (c *caller) post(ctx context.Context, query string, variables any) (string, error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return "", err
	}
	return c.send(ctx, request{body: bytes.NewReader(body)})
}

func verdictOf(answer *http.Response) (string, error) {
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	return verdict(answer.StatusCode, body), nil
}

// verdict is the status of an answer with the code of its first error, and the limit that it names.
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
	why := answer.refusal
	if len(answer.Errors) > 0 {
		why = answer.Errors[0].Extensions
	}
	code := strings.TrimPrefix(why.Code, "slipway:")
	return strings.Join(strings.Fields(fmt.Sprintf("%d %s %s", status, code, why.Metadata.Limit)), " ")
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

// String gives the verdicts with their counts, or alone where there is one only.
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

// flood does something many times, on some goroutines, and gives the tally.
func flood(times, at int, do func(i int) (string, error)) (string, error) {
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
	return t.String(), nil
}
