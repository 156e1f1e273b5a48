package execution

import (
	"sync"
	"time"

	"slipway/internal/service/deployment/runners"
)

// maxRunners is of how many tokens, each with a type and an ability, it is known that they have asked. More are not
// counted.
const maxRunners = 10_000

// Ability is what a runner can carry out.
type Ability struct {
	DeploymentType string
	// Destroys is whether its program can destroy.
	Destroys bool
}

// Runners knows the runners that have asked a server for work, by their tokens. A nil one knows none.
type Runners struct {
	mu   sync.Mutex
	last map[runner]time.Time
}

type runner struct {
	tokenID string
	Ability
}

// Count returns how many runners have asked within ten minutes, by what they can carry out.
func (r *Runners) Count(now time.Time) map[Ability]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now)
	n := map[Ability]int{}
	for known := range r.last {
		n[known.Ability]++
	}
	return n
}

// add records that a runner asks for work of some types.
func (r *Runners) add(tokenID string, types []string, destroys bool, now time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[runner]time.Time{}
	}
	for _, t := range types {
		asking := runner{tokenID, Ability{t, destroys}}
		if _, known := r.last[asking]; !known && len(r.last) >= maxRunners {
			if r.forget(now); len(r.last) >= maxRunners {
				return
			}
		}
		r.last[asking] = now
	}
}

// forget forgets those who have not asked for a while.
func (r *Runners) forget(now time.Time) {
	for known, at := range r.last {
		if now.Sub(at) > runners.KnownFor {
			delete(r.last, known)
		}
	}
}
