package runner_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"slipway/internal/base/fault"
)

// trouble is what a proxy does to a request.
type trouble int

const (
	none trouble = iota
	// lostRequest cuts the connection before the server is asked, lostAnswer after it has answered.
	lostRequest
	lostAnswer
	// badGateway answers with 502 and a page, as a proxy does before a server that is away.
	badGateway
	// refused answers with an error of a code.
	refused
)

// proxy stands between runners and a server, and makes trouble.
type proxy struct {
	url string
	// trouble returns what happens to the nth request of an operation, from 1.
	trouble func(operation string, n int) trouble
	// refusal is the code of what is refused; so is each request that has the text refused.
	refusal fault.Code
	refused string

	mu     sync.Mutex
	target string
	seen   map[string]int
}

func newProxy(t *testing.T, target string, f func(operation string, n int) trouble) *proxy {
	t.Helper()
	p := &proxy{target: target, trouble: f, seen: map[string]int{}}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

// note counts a request, and returns its target and what is to happen to it.
func (p *proxy) note(body []byte) (target string, t trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, operation := range []string{"claimDeployment", "renewLease", "reportDeployment", "completeDeployment"} {
		if strings.Contains(string(body), operation+"(") {
			p.seen[operation]++
			return p.target, p.trouble(operation, p.seen[operation])
		}
	}
	return p.target, none
}

// count is how many requests of an operation there were.
func (p *proxy) count(operation string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[operation]
}

// set changes where requests go and what happens to them.
func (p *proxy) set(target string, f func(operation string, n int) trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target, p.trouble = target, f
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	target, happens := p.note(body)
	if p.refused != "" && strings.Contains(string(body), p.refused) {
		happens = refused
	}
	switch happens {
	case lostRequest:
		panic(http.ErrAbortHandler)
	case badGateway:
		http.Error(w, "<html>away</html>", http.StatusBadGateway)
		return
	}
	if happens == refused {
		w.Header().Set("Content-Type", "application/graphql-response+json")
		_, _ = fmt.Fprintf(w, `{"errors": [{"message": "refused", "extensions": {"code": %q}}]}`, p.refusal)
		return
	}
	onward, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	onward.Header = r.Header.Clone()
	onward.Header.Del("Accept-Encoding") // answers come as text, which tests look at
	answer, err := http.DefaultClient.Do(onward)
	if err != nil || happens == lostAnswer {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = answer.Body.Close() }()
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}

func always(happens trouble) func(string, int) trouble {
	return func(string, int) trouble { return happens }
}
