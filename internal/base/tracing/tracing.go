// Package tracing makes the spans of what a request does, below the span that it comes with. A context without a span
// that is recorded gets none, and takes nothing for it.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// scope names the tracer of the spans.
const scope = "slipway"

// Span is a part of what a request does. The zero Span, and each of its methods, does nothing.
type Span struct{ span trace.Span }

// Start begins a span of the context's, whose context it returns; it is for a kind of work, such as an operation or a
// statement.
func Start(ctx context.Context, name string) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name)
	return ctx, Span{span}
}

// Of returns the span of the context, which somebody else ends.
func Of(ctx context.Context) Span {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return Span{span}
	}
	return Span{}
}

// IsRecorded reports whether somebody is told of the span.
func (s Span) IsRecorded() bool { return s.span != nil }

// TraceID returns the id of the span's trace, empty for none.
func (s Span) TraceID() string {
	if s.span == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// SetName names the span anew.
func (s Span) SetName(name string) {
	if s.span != nil {
		s.span.SetName(name)
	}
}

// SetText sets an attribute of the span.
func (s Span) SetText(name, value string) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String(name, value))
	}
}

// SetNumber sets an attribute of the span.
func (s Span) SetNumber(name string, value int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(name, value))
	}
}

// End ends the span. It failed if there is an error, of which only that is told: its text may have what is secret.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}
