package gqlhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/requestlog"
)

// Extensions is the JSON of an error without its message, which GraphQL keeps beside it.
func Extensions(d fault.Data) map[string]any {
	e := map[string]any{"code": d.Code}
	if d.Description != "" {
		e["description"] = d.Description
	}
	if d.Action != nil {
		e["action"] = d.Action
	}
	if len(d.Details) > 0 {
		e["details"] = d.Details
	}
	if d.IsInternal {
		e["isInternal"] = true
	}
	if len(d.Metadata) > 0 {
		e["metadata"] = d.Metadata
	}
	if d.RequestID != "" {
		e["requestId"] = d.RequestID
	}
	return e
}

// FromFault is the GraphQL form of an error.
func FromFault(d fault.Data) *gqlerror.Error {
	return &gqlerror.Error{Message: d.Message, Extensions: Extensions(d)}
}

// codeOf gives the code of an error in its GraphQL form.
func codeOf(e *gqlerror.Error) fault.Code {
	code, _ := e.Extensions["code"].(string)
	return fault.Code(code)
}

// codes are the slipway codes of gqlgen's own errors. They are renamed only on the way out, because
// gqlgen decides by the raw ones.
var codes = map[any]fault.Code{
	errcode.ParseFailed:      fault.DocumentParseFailed,
	errcode.ValidationFailed: fault.DocumentValidationFailed,
}

// Presenter turns whatever went wrong in an operation into what the caller may see, and logs what the
// caller may not.
type Presenter struct {
	// Log must be set.
	Log *slog.Logger
}

// Present is the server's graphql.ErrorPresenterFunc. Faults are shown as they are, as are gqlgen's
// refusals of documents; an ended context is a TIMEOUT; everything else is masked as INTERNAL.
func (p Presenter) Present(ctx context.Context, err error) *gqlerror.Error {
	raw := graphql.DefaultErrorPresenter(ctx, err)
	shown := FromFault(p.data(ctx, err, raw))
	shown.Path, shown.Locations = raw.Path, raw.Locations
	requestlog.From(ctx).AddError(codeOf(shown))
	return shown
}

func (p Presenter) data(ctx context.Context, err error, raw *gqlerror.Error) fault.Data {
	if _, known := errors.AsType[*fault.Error](err); !known {
		if code, known := codes[raw.Extensions["code"]]; known {
			return fault.Data{Code: string(code), Message: raw.Message, RequestID: actor.RequestID(ctx)}
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = timeout(err)
		}
	}
	p.log(ctx, err)
	return fault.Public(err, view(ctx, "/input"))
}

// log keeps what the mask hides. Panics are in the log already.
func (p Presenter) log(ctx context.Context, err error) {
	_, logged := errors.AsType[*panicked](err)
	if logged || !fault.IsFailure(err) {
		return
	}
	p.Log.ErrorContext(ctx, "GraphQL operation failed", "requestId", actor.RequestID(ctx), "error", err)
}

// Recover is the server's graphql.RecoverFunc: it gives an error that Present masks, and has the panic
// logged, with the others of its answer where it is part of one.
func (p Presenter) Recover(ctx context.Context, value any) error {
	if of, ok := ctx.Value(panicsKey{}).(*panics); ok {
		of.add(value)
		return &panicked{value}
	}
	var alone panics
	alone.add(value)
	p.logPanics(ctx, &alone)
	return &panicked{value}
}

type panicked struct{ value any }

func (e *panicked) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func timeout(cause error) error {
	return fault.New(fault.RequestTimeout, "The request took longer than it may, or was given up.").WithCause(cause)
}

// view is who looks at an error; root is the pointer that the input's own pointers continue.
func view(ctx context.Context, root string) fault.View {
	a := actor.From(ctx)
	return fault.View{RequestID: actor.RequestID(ctx), Superadmin: a != nil && a.IsSuperadmin(), Root: root}
}
