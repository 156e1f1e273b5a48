package gqlhttp

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/actor"
)

// What the log has of a panic: the characters of its text, and the bytes of its stack.
const (
	maxPanicText  = 1 << 10
	maxPanicStack = 8 << 10
)

// panics are those of one answer: the first of them, and how many there were.
type panics struct {
	mu          sync.Mutex
	count       int
	text, stack string
}

type panicsKey struct{}

func (p *panics) add(value any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count++; p.count > 1 {
		return
	}
	stack := make([]byte, maxPanicStack)
	p.stack = string(stack[:runtime.Stack(stack, false)])
	p.text = fmt.Sprintf("%.*s", maxPanicText, fmt.Sprint(value))
}

// logPanics writes one line, whatever number of fields panicked.
func (p Presenter) logPanics(ctx context.Context, found *panics) {
	found.mu.Lock()
	defer found.mu.Unlock()
	if found.count > 0 {
		p.Log.ErrorContext(ctx, "GraphQL operation panicked", "requestId", actor.RequestID(ctx),
			"panic", found.text, "panics", found.count, "stack", found.stack)
	}
}

// panicLog is the extension that collects the panics of each answer.
type panicLog struct{ Presenter }

func (panicLog) ExtensionName() string                   { return "PanicLog" }
func (panicLog) Validate(graphql.ExecutableSchema) error { return nil }

func (l panicLog) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	var found panics
	defer l.logPanics(ctx, &found)
	return next(context.WithValue(ctx, panicsKey{}, &found))
}
