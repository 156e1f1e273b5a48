package prooftest_test

import (
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"
)

// roller is a client that rolls its instance back again and again, with and without idempotency keys, and
// cancels what that started.
type roller struct {
	*client
	number int
	source string
	// asked counts its rollbacks. Their request ids and keys say whose they are and which.
	asked int
	// pending is a rollback with a key that was not answered, nil for none.
	pending *request
	// acknowledged are the deployments that were answered, by the ids of the requests.
	mu           sync.Mutex
	acknowledged map[string]string
	// unanswered counts the rollbacks that a kill left without an answer.
	unanswered int
}

// next returns the rollback to ask for.
func (r *roller) next() request {
	if r.pending != nil {
		return *r.pending
	}
	r.asked++
	q := request{source: r.source, id: fmt.Sprintf("plain-%d-%d", r.number, r.asked), graphQL: r.asked%3 == 0}
	if r.asked%2 == 0 {
		q.id = fmt.Sprintf("keyed-%d-%d", r.number, r.asked)
		q.key = q.id
	}
	return q
}

// work rolls back until it is to stop or no server answers. If one does not, it goes on with another
// and asks for the same again.
func (r *roller) work(t *testing.T, urls []string, stop <-chan struct{}, acknowledged func()) {
	for at, silent := r.number, 0; silent < len(urls); {
		select {
		case <-stop:
			return
		default:
		}
		if r.step(t, urls[at%len(urls)], acknowledged) {
			silent = 0
		} else {
			at, silent = at+1, silent+1
		}
	}
}

// step makes one rollback and cancels it, and says whether the server has answered.
func (r *roller) step(t *testing.T, url string, acknowledged func()) bool {
	q := r.next()
	a, err := r.send(t.Context(), url, q)
	if err != nil {
		if r.pending == nil {
			r.unanswered++
		}
		if q.key != "" {
			r.pending = &q
		}
		return false
	}
	r.pending = nil
	started := a.id
	switch {
	case a.made():
		r.acknowledge(t, q, a.id)
		acknowledged()
	case a.status < http.StatusInternalServerError && a.blocker != "":
		// A rollback or the end of one that was not answered was carried out, or not.
		started = a.blocker
	default:
		t.Errorf("%s was answered %d: %s", q.id, a.status, a.body)
		return false
	}
	end, err := r.send(t.Context(), url, request{cancel: started})
	if err == nil && end.status >= http.StatusInternalServerError {
		t.Errorf("cancel was answered %d: %s", end.status, end.body)
	}
	return err == nil
}

func (r *roller) acknowledge(t *testing.T, q request, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.acknowledged == nil {
		r.acknowledged = map[string]string{}
	}
	if before, ok := r.acknowledged[q.id]; ok && before != id {
		t.Errorf("%s was answered with %s and %s", q.id, before, id)
	}
	r.acknowledged[q.id] = id
}

// known are rollers that have done nothing but what was acknowledged up to now to these, which may work on.
func known(clients []*roller) []*roller {
	list := make([]*roller, len(clients))
	for i, c := range clients {
		c.mu.Lock()
		list[i] = &roller{acknowledged: maps.Clone(c.acknowledged)}
		c.mu.Unlock()
	}
	return list
}

// acknowledgements are how many rollbacks were acknowledged to all of them.
func acknowledgements(clients []*roller) int {
	n := 0
	for _, c := range clients {
		n += len(c.acknowledged)
	}
	return n
}

// settle asks until what was not answered is.
func (r *roller) settle(t *testing.T, url string) {
	t.Helper()
	for tries := 0; r.pending != nil; tries++ {
		if r.step(t, url, func() {}); tries == 2 {
			t.Fatalf("%s is not answered", r.pending.id)
		}
	}
}
