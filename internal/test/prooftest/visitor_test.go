package prooftest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// visitor is a client that asks for one thing after the other, again and again.
type visitor struct {
	*client
	url, source string
	asked       int
	// started is the deployment that it has to cancel.
	started string
}

// visits is after how many requests a visitor begins anew.
const visits = 4

const listDocument = `{ deployments(first: 20) { edges { node { id status } } } }`

// next makes the next request: it rolls back, cancels that, lists deployments, and reads one.
func (v *visitor) next(ctx context.Context) error {
	v.asked++
	switch v.asked % visits {
	case 1:
		a, err := v.send(ctx, v.url, request{source: v.source})
		if err == nil && !a.made() {
			err = fmt.Errorf("rollback: %d %s", a.status, a.body)
		}
		v.started = a.id
		return err
	case 2:
		a, err := v.send(ctx, v.url, request{cancel: v.started})
		if err == nil && !a.made() {
			err = fmt.Errorf("cancel: %d %s", a.status, a.body)
		}
		return err
	case 3:
		return v.read(ctx, http.MethodPost, "/graphql", mustJSON(map[string]any{"query": listDocument}))
	}
	return v.read(ctx, http.MethodGet, "/deployments/"+v.source, nil)
}

func (v *visitor) read(ctx context.Context, method, path string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, v.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+v.token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	got, err := v.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err == nil && (got.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"errors"`))) {
		err = fmt.Errorf("%s %s: %d %s", method, path, got.StatusCode, text)
	}
	return err
}

// crowd is visitors at work.
type crowd struct {
	answers, longest, failures atomic.Int64
	visitors                   int
	stop                       chan struct{}
	ended                      sync.WaitGroup
}

// pace is how far a visitor's requests are apart.
const pace = 40 * time.Millisecond

// visit has a visitor for each of the deployments ask a server until the load is to end.
func visit(t *testing.T, c *client, url string, sources []string) *crowd {
	t.Helper()
	l := &crowd{visitors: len(sources), stop: make(chan struct{})}
	for _, source := range sources {
		v := &visitor{client: c, url: url, source: source}
		l.ended.Go(func() { l.run(t, v) })
	}
	return l
}

func (l *crowd) run(t *testing.T, v *visitor) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		begun := time.Now()
		if err := v.next(t.Context()); err != nil {
			l.failures.Add(1)
			t.Error(err)
		}
		took := int64(time.Since(begun))
		for longest := l.longest.Load(); took > longest && !l.longest.CompareAndSwap(longest, took); longest = l.longest.Load() {
		}
		l.answers.Add(1)
	}
}

// figures of a part of a load.
type interval struct {
	answers int64
	longest time.Duration
}

// round waits until each visitor has gone round a few times since the last, and returns what was since then.
func (l *crowd) round(t *testing.T) interval {
	t.Helper()
	for want := l.answers.Load() + int64(5*visits*l.visitors); l.answers.Load() < want && t.Context().Err() == nil; {
		<-time.After(pace)
	}
	return interval{answers: l.answers.Swap(0), longest: time.Duration(l.longest.Swap(0))}
}

// end stops the visitors and waits for them.
func (l *crowd) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.ended.Wait()
}
