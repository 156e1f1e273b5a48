package gqlhttp

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/base/meter"
	"slipway/internal/edge/gqlhttp/stream"
)

// Observer counts what an executor resolves, and ends what goes over a limit: its errors are those of the field. It is
// called for every field but those of introspection.
type Observer struct{ *execution }

// Observe returns the observer of the context's response. It is called as soon as there is something to resolve. For a
// subscription that is an event: its caller pays for it, which may take a while, and it begins then.
func Observe(ctx context.Context) Observer {
	e := executionOf(ctx)
	e.pay(ctx)
	stream.BeginEvent(ctx)
	return Observer{e}
}

// Begin is called before a field with a selection is resolved.
func (o Observer) Begin(ctx context.Context, _ *graphql.FieldContext) error { return o.err(ctx) }

// Resolved is called with what such a field was resolved to, or a list of any kind.
func (o Observer) Resolved(ctx context.Context, fc *graphql.FieldContext, value any) error {
	o.countObjects(ctx, fc, value)
	switch {
	case value == nil:
		return nil
	case fc.Field.Definition.Type.Elem != nil:
	case fc.Object == "Mutation":
		o.addCommitted(fc, value)
		return nil // it has happened, whatever has ended since
	default:
		o.addTruncated(fc, value)
	}
	return o.err(ctx)
}

// Discards reports whether the answer is over its limit. An error takes its place then.
func (o Observer) Discards() bool { return o.isAnswerTooLarge() }

// Text is called with the length of a text or of JSON that another field was resolved to.
func (o Observer) Text(ctx context.Context, length int) error {
	if length < meter.LongText {
		return nil
	}
	// err returns the same errors, in a mutation's words.
	_ = meter.Answer(ctx, meter.Taken, length)
	_ = meter.Spend(ctx, meter.Texts, length)
	return o.err(ctx)
}
