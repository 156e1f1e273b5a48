package prooftest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// crew works on an instance of its own: it makes deployments, speaks about them and carries them out.
type crew struct {
	*control
	instance string
	number   int
	chance   *rand.Rand
	// steps counts what it has begun; unanswered what a kill left without an answer.
	steps, unanswered int
	// pending is what was not answered and is to be asked for again.
	pending []mutation
}

// work goes on step by step until it is to stop or no server answers.
func (c *crew) work(t *testing.T, urls []string, stop <-chan struct{}, acknowledged func()) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if !c.repeat(t, urls) || !c.step(t, urls, acknowledged) {
			return
		}
	}
}

// repeat asks once more for what was not answered, and reports whether it is now.
func (c *crew) repeat(t *testing.T, urls []string) bool {
	for len(c.pending) > 0 {
		m := c.pending[0]
		got, err := c.anywhere(t, urls, m)
		if err != nil {
			return false
		}
		c.pending = c.pending[1:]
		if m.name == claimMutation && got.Deployment.ID != "" {
			c.pending = append(c.pending, complete(got.Deployment.ID, m.about))
		}
	}
	return true
}

// anywhere asks one server for a mutation, and the others if that does not answer.
func (c *crew) anywhere(t *testing.T, urls []string, m mutation) (got reply, err error) {
	err = errors.New("no server")
	for i := 0; i < len(urls) && err != nil; i++ {
		got, err = c.ask(t, urls[(c.number+c.steps+i)%len(urls)], m)
	}
	return got, err
}

// step makes a deployment, has several speak about it at once, and carries out or cancels what started. It reports whether a
// server has answered.
func (c *crew) step(t *testing.T, urls []string, acknowledged func()) bool {
	c.steps++
	key := fmt.Sprintf("crew-%d-%d", c.number, c.steps)
	m := c.create("ann", c.instance, key)
	if c.chance.IntN(4) == 0 {
		m = c.createUrgently(c.instance, key)
	}
	got, ok := c.all(t, urls, acknowledged, m)
	if !ok {
		return false
	}
	id := got[0].Deployment.ID
	if id != "" {
		others := []mutation{approve("dan", id, true), reject("cyd", id), start("ann", id)}
		speak := []mutation{approve("bob", id, c.chance.IntN(4) > 0), others[c.chance.IntN(len(others))]}
		if _, ok = c.all(t, urls, acknowledged, speak...); !ok {
			return false
		}
	}
	if c.chance.IntN(2) == 0 {
		return c.carryOut(t, urls, acknowledged, "lease-of-"+key)
	}
	if id != "" {
		_, ok = c.all(t, urls, acknowledged, cancel("ann", id))
	}
	return ok
}

// carryOut has the runner claim some deployment and report its success.
func (c *crew) carryOut(t *testing.T, urls []string, acknowledged func(), lease string) bool {
	got, ok := c.all(t, urls, acknowledged, claim(lease))
	if ok && got[0].Deployment.ID != "" {
		_, ok = c.all(t, urls, acknowledged, complete(got[0].Deployment.ID, lease))
	}
	return ok
}

// all asks for mutations at once, and reports whether all are answered. What is not will be asked for again.
func (c *crew) all(t *testing.T, urls []string, acknowledged func(), mutations ...mutation) ([]reply, bool) {
	replies, errs := make([]reply, len(mutations)), make([]error, len(mutations))
	var all sync.WaitGroup
	for i, m := range mutations {
		all.Go(func() { replies[i], errs[i] = c.ask(t, urls[(c.number+c.steps+i)%len(urls)], m) })
	}
	all.Wait()
	answered := true
	for i, m := range mutations {
		if isUnanswered(errs[i]) {
			c.unanswered++
		}
		if errs[i] != nil {
			if replies[i], errs[i] = c.anywhere(t, urls, m); errs[i] != nil {
				c.pending, answered = append(c.pending, m), false
				continue
			}
		}
		if replies[i].code == "" {
			acknowledged()
		}
	}
	return replies, answered
}
