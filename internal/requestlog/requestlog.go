// Package requestlog collects what the log line of a request has. The surfaces add to it while the request is served,
// and the server writes it.
package requestlog

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"slipway/internal/actor"
	"slipway/internal/fault"
)

// maxName is how many bytes the line has of a name that a caller gave.
const maxName = 100

// Line is the log line of one request. Its methods may be called from any goroutine, and do nothing on nil.
type Line struct {
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

// With returns a context that carries a new line.
func With(ctx context.Context) (context.Context, *Line) {
	l := &Line{}
	return context.WithValue(ctx, lineKey{}, l), l
}

// Without returns a context that carries no line, for what outlives the request or has many of its own.
func Without(ctx context.Context) context.Context {
	return context.WithValue(ctx, lineKey{}, (*Line)(nil))
}

// From returns the context's line, nil where it carries none.
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

func (l *Line) set(assign func()) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	assign()
}

// AppendAttrs appends the attributes of the line to others. An operation, a cost and an error are among them where there was one.
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
