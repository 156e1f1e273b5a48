// Package requestlog collects what the log line of a request has. The surfaces add to it while the request is served,
// and the server writes it. Counts of requests, whatever surface or socket they come by, go the same way to a
// Counter.
package requestlog

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
)

// maxName is how many bytes the line has of a name that a caller gave.
const maxName = 100

// Counter counts what requests come to. Its methods are called by many goroutines at once.
type Counter interface {
	// CountError counts an answer that is an error, or has it first; limit is the name of the limit that refused it, empty
	// for none.
	CountError(code fault.Code, limit string)
	// CountOperation counts an operation of GraphQL that was answered in one piece.
	CountOperation(o Operation, cost int, took time.Duration)
	// CountStream counts a subscription that begins, CountItem an item of one. Each costs.
	CountStream(o Operation, cost int)
	CountItem(o Operation, cost int)
	// CountDeprecated counts an operation that uses a deprecated member of the schema, by its coordinate.
	CountDeprecated(field string)
}

// Operation names operations of GraphQL that are counted together. Its texts come from the schema and the
// configuration, and never from callers, so that there are only so many.
type Operation struct {
	// Type is query, mutation or subscription, or refused, if the operation was not run.
	Type string
	// Name is that of the operation if its document is trusted, and otherwise its first field.
	Name string
}

// Line is the log line of one request. Its methods may be called from any goroutine, and do nothing on nil.
type Line struct {
	counter   Counter
	mu        sync.Mutex
	actor     *actor.Actor
	operation string
	cost      int
	code      string
	// held reports whether the answer goes on, of which the line then has status and bytes; write writes the line.
	held          bool
	status, bytes int
	write         func()
}

type lineKey struct{}

// With returns a context that carries a new line, whose request is counted by a counter, which may be nil.
func With(ctx context.Context, counter Counter) (context.Context, *Line) {
	l := &Line{counter: counter}
	return context.WithValue(ctx, lineKey{}, l), l
}

// Apart returns a context that carries a line which is never written, for what outlives the request or has many of its
// own; it is counted all the same.
func Apart(ctx context.Context) context.Context {
	apart, _ := With(ctx, From(ctx).Counter())
	return apart
}

// Counter returns what counts the request.
func (l *Line) Counter() Counter {
	if l == nil || l.counter == nil {
		return uncounted{}
	}
	return l.counter
}

// uncounted is the Counter of requests that nothing counts.
type uncounted struct{}

func (uncounted) CountError(fault.Code, string)                {}
func (uncounted) CountOperation(Operation, int, time.Duration) {}
func (uncounted) CountStream(Operation, int)                   {}
func (uncounted) CountItem(Operation, int)                     {}
func (uncounted) CountDeprecated(string)                       {}

// From returns the context's line, nil if it carries none.
func From(ctx context.Context) *Line {
	l, _ := ctx.Value(lineKey{}).(*Line)
	return l
}

// SetActor sets who asks.
func (l *Line) SetActor(a *actor.Actor) {
	l.set(func() { l.actor = a })
}

// SetOperation sets the name of the GraphQL operation, of which it keeps the beginning, and its cost.
func (l *Line) SetOperation(name string, cost int) {
	l.set(func() { l.operation, l.cost = Shorten(name), cost })
}

// Shorten returns a name that a caller gave, or the beginning of a long one, for a log line.
func Shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}

// SetCost sets the cost of the request.
func (l *Line) SetCost(cost int) {
	l.set(func() { l.cost = cost })
}

// Cost returns the cost of the request, 0 if none was set.
func (l *Line) Cost() (cost int) {
	l.set(func() { cost = l.cost })
	return cost
}

// AddError adds the code of an error of the answer. Only the first is kept.
func (l *Line) AddError(code fault.Code) {
	l.set(func() {
		if l.code == "" {
			l.code = string(code)
		}
	})
}

// Hold has the line wait for an answer that goes on when its handler has returned. It has the status, and as many bytes
// as release says, with which the line is written. Hold may be called once.
func (l *Line) Hold(status int) (release func(bytes int)) {
	l.set(func() { l.held, l.status = true, status })
	return func(bytes int) {
		var write func()
		l.set(func() { l.held, l.bytes, write = false, bytes, l.write })
		if write != nil {
			write()
		}
	}
}

// End calls write, which writes the line, when the request has been answered: at once, or when a hold is released.
func (l *Line) End(write func()) {
	isHeld := false
	l.set(func() { isHeld, l.write = l.held, write })
	if !isHeld {
		write()
	}
}

// Answer returns the status and the bytes of an answer that was held for, and otherwise those that it is given.
func (l *Line) Answer(status, bytes int) (int, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status != 0 {
		return l.status, l.bytes
	}
	return status, bytes
}

// IsStream reports whether the answer was held for.
func (l *Line) IsStream() (is bool) {
	l.set(func() { is = l.status != 0 })
	return is
}

func (l *Line) set(assign func()) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	assign()
}

// AppendAttrs appends the attributes of the line to others. An operation, a cost and an error are among them if there
// was one.
func (l *Line) AppendAttrs(attrs []slog.Attr) []slog.Attr {
	l.mu.Lock()
	defer l.mu.Unlock()

	who := l.actor
	if who == nil {
		who = actor.Anonymous()
	}
	organization := who.OrganizationID
	if who.Globally {
		organization = actor.Global
	}

	attrs = append(attrs, slog.String("actor", who.Name), slog.String("organization", organization))
	if l.operation != "" {
		attrs = append(attrs, slog.String("operation", l.operation))
	}
	if l.cost > 0 {
		attrs = append(attrs, slog.Int("cost", l.cost))
	}
	if l.code != "" {
		attrs = append(attrs, slog.String("error", l.code))
	}
	return attrs
}
