package wire

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/requestlog"
)

// Extensions returns the members of an error without its message, which GraphQL keeps beside them.
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

// FromFault returns the GraphQL form of an error.
func FromFault(d fault.Data) *gqlerror.Error {
	return &gqlerror.Error{Message: d.Message, Extensions: Extensions(d)}
}

// CodeOf returns the code of an error in its GraphQL form.
func CodeOf(e *gqlerror.Error) fault.Code {
	code, _ := e.Extensions["code"].(string)
	return fault.Code(code)
}

// AsError returns an error in its GraphQL form as it is, or wraps it in one.
func AsError(err error) *gqlerror.Error {
	if e, ok := errors.AsType[*gqlerror.Error](err); ok {
		return e
	}
	return gqlerror.Wrap(err)
}

// Error returns the GraphQL form of an error for the caller of the context. An error that is no fault is masked.
func Error(ctx context.Context, err error) *gqlerror.Error {
	return FromFault(fault.Public(err, View(ctx, "")))
}

// Failure returns the response of an operation that has failed as a whole, and counts it.
func Failure(ctx context.Context, err error) *graphql.Response {
	resp := &graphql.Response{Errors: gqlerror.List{Error(ctx, err)}}
	CountErrors(ctx, resp)
	return resp
}

// CountErrors counts the first error of a response that has any.
func CountErrors(ctx context.Context, resp *graphql.Response) {
	if len(resp.Errors) == 0 {
		return
	}
	first := resp.Errors[0]
	metadata, _ := first.Extensions["metadata"].(map[string]any)
	limit, _ := metadata["limit"].(string)
	requestlog.From(ctx).Counter().CountError(CodeOf(first), limit)
}

// RequestError returns what the GraphQL specification calls a request error: that of a document or a variable, for
// which nothing is executed. path and at may be nil.
func RequestError(err error, path ast.Path, at *ast.Position) *gqlerror.Error {
	e := gqlerror.WrapPath(path, err)
	if at != nil {
		e.Locations = []gqlerror.Location{{Line: at.Line, Column: at.Column}}
	}
	errcode.Set(e, errcode.ValidationFailed)
	return e
}

// Timeout returns the error of a request that has taken too long, or was given up.
func Timeout(cause error) error {
	return fault.New(fault.RequestTimeout, "The request took longer than it may, or was given up.").WithCause(cause)
}

// View returns who looks at an error; root is the pointer that the input's own pointers continue.
func View(ctx context.Context, root string) fault.View {
	a := actor.From(ctx)
	return fault.View{RequestID: actor.RequestID(ctx), Superadmin: a != nil && a.IsSuperadmin(), Root: root}
}
