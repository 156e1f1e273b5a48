package gqlhttp

import (
	"bytes"
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/base/meter"
)

// written returns the value of a field as it is to be written, and has the meter count its bytes. Nothing that was read
// for it is kept until all others are there: the value is a text, as those of plans are, or becomes one at once, as far
// as the answer may have its bytes.
func (e *execution) written(ctx context.Context, value graphql.Marshaler) graphql.Marshaler {
	if text, ok := value.(interface{ Len() int }); ok {
		e.meter.Write(ctx, text.Len())
		return value
	}
	var text bytes.Buffer
	a := &answerWriter{ctx: ctx, meter: e.meter, w: &text}
	value.MarshalGQL(a)
	a.flush()
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(text.Bytes()) })
}

// answerWriter writes an answer until it has as many bytes as it may have, and then nothing more. It counts
// many writes at once, for most are of a few bytes.
type answerWriter struct {
	ctx   context.Context // of the writing alone
	meter *meter.Meter
	w     io.Writer
	// uncounted are the bytes that the meter has not counted yet.
	uncounted int
	isFull    bool
}

// Write implements io.Writer. It takes all bytes, because gqlgen does not look at errors.
func (a *answerWriter) Write(p []byte) (int, error) {
	if a.count(len(p)) {
		return a.w.Write(p)
	}
	return len(p), nil
}

// WriteString implements io.StringWriter, as Write does.
func (a *answerWriter) WriteString(s string) (int, error) {
	if a.count(len(s)) {
		return io.WriteString(a.w, s)
	}
	return len(s), nil
}

// count counts bytes that are to be written, and reports whether there may be room for them.
func (a *answerWriter) count(bytes int) bool {
	const flushAt = 16 << 10
	if a.uncounted += bytes; a.uncounted >= flushAt {
		a.flush()
	}
	return !a.isFull
}

// flush has the meter count what it has not.
func (a *answerWriter) flush() {
	a.isFull = a.isFull || !a.meter.Write(a.ctx, a.uncounted)
	a.uncounted = 0
}
