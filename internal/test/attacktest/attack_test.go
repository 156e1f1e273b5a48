// Package attacktest_test sends hostile requests to servers that run as processes of their own, and wants
// each to be answered as it should be, for little time, memory and log. SLIPWAY_ATTACK=table tries all of
// them, each also ten at once, on both databases, and prints what each took.
package attacktest_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/internal/base/actor"
)

// What one attack may take. A flood may take the time for each 100 of its requests, and several at once that of each.
// The time is that of a machine of yardstickCPU.
const (
	mostCPU    = 100 * time.Millisecond
	mostMemory = 64 << 20
	// mostTogether is what several at once may take in memory, unless the attack says what one may take.
	mostTogether = 128 << 20
	// mostAnswer is how long an answer may be: the budget of one, and what is around it.
	mostAnswer = 17 << 20
	// mostLog is how much a request may log, in bytes, and mostLines in how many lines.
	mostLog   = 2 << 10
	mostLines = 2
	// mostKept is how much may stay in use after all attacks, the documents that are kept among it.
	mostKept = 32 << 20
	// rounds is how often an attack is tried that took too much: other work on the machine adds to the
	// time, so the least counts.
	rounds = 3
	// cores is how many the servers run on.
	cores = 2
)

// attack is one way to do harm.
type attack struct {
	name string
	// want is a regular expression for the whole verdict of the answer, or of them all.
	want string
	// requests is how many there are; 0 is one, which is also tried ten times at once.
	requests int
	// cpu, memory and answer, in bytes, are what the attack may take if that is not what others may,
	// and why.
	cpu            time.Duration
	memory, answer int64
	why            string
	// query is the text of an attack that is one operation.
	query string
	run   func(ctx context.Context, c *caller) (string, error)
}

func (a attack) mostCPU(callers int) time.Duration {
	return max(mostCPU*time.Duration(a.requests)/100, mostCPU, a.cpu) * time.Duration(callers*slack())
}

// slack is how many times the CPU time and the memory are allowed beside other tests, which share the
// processors' caches and their two threads: there the same work takes up to twice the time, and what it has
// done with stays longer, for the collector waits its turn too. The table is made alone, without it.
func slack() int {
	if whole() {
		return 1
	}
	return 2
}

func (a attack) mostMemory(callers int) int64 {
	if a.memory == 0 && callers > 1 {
		return mostTogether * int64(slack())
	}
	return max(mostMemory, a.memory) * int64(callers*slack())
}

func (a attack) mostAnswer() int64 {
	if a.answer > 0 {
		return a.answer
	}
	return mostAnswer
}

// mostLogged counts the two good questions, too.
func (a attack) mostLogged(callers int) volume {
	n := max(a.requests, 1)*callers + 2
	return volume{mostLines * n, mostLog * n}
}

// met reports whether a verdict is what is wanted.
func (a attack) met(verdict string) bool {
	return regexp.MustCompile(`^(?:` + a.want + `)$`).MatchString(verdict)
}

func concat(lists ...[]attack) (all []attack) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// use is what an attack took.
type use struct {
	cpu time.Duration
	// slowness is how many times as long as on the machine of the bounds a program took then.
	slowness float64
	memory   int64 // bytes more at the peak
	answer   int64 // bytes of the largest one
	log      volume
}

// fair is the CPU time as it would be on the machine of the bounds.
func (u use) fair() time.Duration { return time.Duration(float64(u.cpu) / u.slowness) }

// least has the lesser time of two, and the more of all else.
func (u use) least(o use) use {
	if o.fair() < u.fair() {
		u.cpu, u.slowness = o.cpu, o.slowness
	}
	u.memory, u.answer = max(u.memory, o.memory), max(u.answer, o.answer)
	u.log = volume{max(u.log.lines, o.log.lines), max(u.log.bytes, o.log.bytes)}
	return u
}

// excess returns what of it is more than the attack may take, empty if nothing is.
func (u use) excess(a attack, callers int) (text string) {
	if most := a.mostCPU(callers); u.fair() > most {
		text += fmt.Sprintf("; %s of CPU on a machine that took %.2f times as long, at most %s", u.cpu, u.slowness, most)
	}
	if most := a.mostMemory(callers); u.memory > most {
		text += fmt.Sprintf("; %d MiB, at most %d", u.memory>>20, most>>20)
	}
	if most := a.mostAnswer(); u.answer > most {
		text += fmt.Sprintf("; an answer of %d KiB, at most %d", u.answer>>10, most>>10)
	}
	if most := a.mostLogged(callers); u.log.lines > most.lines || u.log.bytes > most.bytes {
		text += fmt.Sprintf("; %d lines and %d bytes of log, at most %d and %d", u.log.lines, u.log.bytes, most.lines, most.bytes)
	}
	return text
}

// try carries an attack out by some callers at once, again if it took too much, and notes the least.
func (m *meter) try(t *testing.T, a attack, callers int) {
	t.Helper()
	least, answered := use{cpu: time.Hour, slowness: 1}, ""
	for round := range rounds {
		got, took, err := m.once(t.Context(), a, callers, round)
		if errors.Is(err, syscall.ECONNRESET) && round+1 < rounds {
			t.Logf("%v; once more", err) // the connection of an early refusal may be reset before that is read
			continue
		}
		if err != nil || !a.met(got) {
			t.Errorf("answered %s, %v; want %s (%s of CPU, %d MiB, %d KiB answered)", got, err, a.want, took.cpu, took.memory>>20, took.answer>>10)
			measured.add(m, a, callers, got, took)
			return
		}
		if took.excess(a, callers) != "" {
			took.slowness = slowness(t, min(callers, cores))
		}
		answered, least = got, least.least(took)
		if least.excess(a, callers) == "" {
			break
		}
	}
	if excess := least.excess(a, callers); excess != "" {
		t.Errorf("answered %s and took too much%s", answered, excess)
	}
	measured.add(m, a, callers, answered, least)
}

// once carries an attack out. A good question of another token is asked while it goes on, and one right
// after it.
func (m *meter) once(ctx context.Context, a attack, callers, round int) (got string, took use, err error) {
	logged, err := m.catchUp(ctx, fmt.Sprintf("before-%d-%d", callers, round))
	if err != nil {
		return "", use{}, err
	}
	before, err := m.begin(ctx)
	if err != nil {
		return "", use{}, err
	}
	during := make(chan error, 1)
	go func() { during <- m.good(ctx) }()
	got, answer, err := m.together(ctx, a, callers, round)
	err = errors.Join(err, <-during, m.good(ctx))
	took, ended := m.end(ctx, before)
	took.answer, took.slowness = answer, 1
	if err := errors.Join(err, ended); err != nil {
		return got, took, err
	}
	after, err := m.catchUp(ctx, fmt.Sprintf("after-%d-%d", callers, round))
	took.log = after.minus(logged).minus(volume{lines: 1})
	return got, took, err
}

// together carries an attack out by some callers at once, and returns the verdict and the largest answer.
func (m *meter) together(ctx context.Context, a attack, callers, round int) (got string, largest int64, err error) {
	var t tally
	var failed error
	var mu sync.Mutex
	var working sync.WaitGroup
	for i := range callers {
		working.Go(func() {
			c, close := newCaller(m.server, round*callers+i)
			defer close()
			got, err := a.run(ctx, c)
			t.add(got)
			mu.Lock()
			defer mu.Unlock()
			failed, largest = errors.Join(failed, err), max(largest, c.largest.Load())
		})
	}
	working.Wait()
	for verdict := range t.found {
		if !a.met(verdict) {
			return t.String(), largest, failed
		}
		got = verdict
	}
	return got, largest, failed
}

// good asks a good question, whose caller waits as long as it takes.
func (m *meter) good(ctx context.Context) error {
	c, close := newCaller(m.server, 0)
	defer close()
	if got, err := c.as(actor.Developer).post(ctx, `{ viewer { name } }`, nil); err != nil || got != "200" {
		return fmt.Errorf("a good question: %s, %w", got, err)
	}
	return nil
}
