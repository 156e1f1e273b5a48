package gqlhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/requestlog"
)

// codes are the slipway codes of gqlgen's own errors. They are renamed only on the way out, because
// gqlgen decides by the raw ones.
var codes = map[any]fault.Code{
	errcode.ParseFailed:      fault.DocumentParseFailed,
	errcode.ValidationFailed: fault.DocumentValidationFailed,
}

// Presenter turns whatever went wrong in an operation into what the caller may see, and logs the rest.
type Presenter struct {
	// Log must be set.
	Log *slog.Logger
}

// Present is the server's graphql.ErrorPresenterFunc. Faults are shown as they are, as are gqlgen's
// refusals of documents; an ended context is a TIMEOUT; everything else is masked as INTERNAL.
func (p Presenter) Present(ctx context.Context, err error) *gqlerror.Error {
	raw := graphql.DefaultErrorPresenter(ctx, err)
	shown := wire.FromFault(p.data(ctx, err, raw))
	shown.Path, shown.Locations = raw.Path, raw.Locations
	requestlog.From(ctx).AddError(wire.CodeOf(shown))
	return shown
}

func (p Presenter) data(ctx context.Context, err error, raw *gqlerror.Error) fault.Data {
	if _, known := errors.AsType[*fault.Error](err); !known {
		if code, known := codes[raw.Extensions["code"]]; known {
			return fault.Data{Code: string(code), Message: raw.Message, RequestID: actor.RequestID(ctx)}
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = wire.Timeout(err)
		}
	}
	p.log(ctx, err)
	return fault.Public(err, wire.View(ctx, "/input"))
}

// log logs an error that Present masks, with the others of its answer if it is part of one. Panics are in the log
// already.
func (p Presenter) log(ctx context.Context, err error) {
	_, logged := errors.AsType[*panicked](err)
	if logged || !fault.IsFailure(err) {
		return
	}
	if of, ok := ctx.Value(failuresKey{}).(*failures); ok {
		of.addError(err)
		return
	}
	p.logFailures(ctx, &failures{errors: 1, err: err})
}

// Recover is the server's graphql.RecoverFunc: it returns an error that Present masks, and logs the panic, with the
// others of its answer if it is part of one.
func (p Presenter) Recover(ctx context.Context, value any) error {
	if of, ok := ctx.Value(failuresKey{}).(*failures); ok {
		of.addPanic(value)
		return &panicked{value}
	}
	var alone failures
	alone.addPanic(value)
	p.logFailures(ctx, &alone)
	return &panicked{value}
}

type panicked struct{ value any }

func (e *panicked) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// What the log has of a panic: the characters of its text, and the bytes of its stack.
const (
	maxPanicText  = 1 << 10
	maxPanicStack = 8 << 10
)

// failures are those of one answer that the log tells of: the first panic and the first error, and how many there were.
type failures struct {
	mu          sync.Mutex
	panics      int
	text, stack string
	errors      int
	err         error
}

type failuresKey struct{}

func (f *failures) addPanic(value any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics++; f.panics > 1 {
		return
	}
	stack := make([]byte, maxPanicStack)
	f.stack = string(stack[:runtime.Stack(stack, false)])
	f.text = fmt.Sprintf("%.*s", maxPanicText, fmt.Sprint(value))
}

func (f *failures) addError(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.errors++; f.errors == 1 {
		f.err = err
	}
}

// logFailures writes a line of the panics and one of the errors, whatever number of fields had them.
func (p Presenter) logFailures(ctx context.Context, found *failures) {
	found.mu.Lock()
	defer found.mu.Unlock()
	if found.panics > 0 {
		p.Log.ErrorContext(ctx, "GraphQL operation panicked", "requestId", actor.RequestID(ctx),
			"panic", found.text, "panics", found.panics, "stack", found.stack)
	}
	if found.errors > 0 {
		p.Log.ErrorContext(ctx, "GraphQL operation failed",
			"requestId", actor.RequestID(ctx), "error", found.err, "errors", found.errors)
	}
}

// failureLog is the extension that collects the failures of each answer.
type failureLog struct{ Presenter }

func (failureLog) ExtensionName() string                   { return "FailureLog" }
func (failureLog) Validate(graphql.ExecutableSchema) error { return nil }

func (l failureLog) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	var found failures
	defer l.logFailures(ctx, &found)
	return next(context.WithValue(ctx, failuresKey{}, &found))
}
