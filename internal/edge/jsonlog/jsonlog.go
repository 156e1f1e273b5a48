// Package jsonlog writes log lines as JSON.
package jsonlog

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"slipway/internal/base/secret"
	"slipway/internal/edge/auth"
)

// New returns a handler that writes lines of a level at least to out, as slog.JSONHandler does, but durations in
// seconds, and without what looks like a secret.
//
// There is a line for every request, for which slog.JSONHandler takes a tenth of the time of a small one. So a line of
// which all values are plain, as they are in that of a request, is written here, and slog.JSONHandler writes the
// others.
func New(out io.Writer, least slog.Leveler) slog.Handler {
	out = &lines{out: out}
	return handler{slog.NewJSONHandler(out, &slog.HandlerOptions{Level: least, ReplaceAttr: replace}), out}
}

// replace writes durations in seconds, which slog.JSONHandler would in nanoseconds, and redacts the rest.
func replace(groups []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key, a.Value.Duration().Seconds())
	}
	return auth.Redact(groups, a)
}

// lines writes one line after the other.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer. Each line is a write of its own, though several together would take 2 % less of a
// request: people read a log to see who was answered last before a crash.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(line)
}

// handler writes plain lines. The handlers that it returns for attributes and groups are the other one's.
type handler struct {
	slog.Handler
	out io.Writer
}

// buffers have room for most lines, and none is kept that a very long one has made large.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 1<<10)) }}

const largestKept = 16 << 10

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	buffer, _ := buffers.Get().(*[]byte)
	line, isPlain := appendLine((*buffer)[:0], r)
	if cap(line) <= largestKept {
		*buffer = line
		defer buffers.Put(buffer)
	}
	if !isPlain || secret.IsSuspect(line) {
		return h.Handler.Handle(ctx, r)
	}
	_, err := h.out.Write(line)
	return err
}

// appendLine appends the line of a record, as far as it is plain.
func appendLine(b []byte, r slog.Record) (line []byte, isPlain bool) {
	b = append(b, '{')
	if !r.Time.IsZero() {
		b = append(b, `"`+slog.TimeKey+`":"`...)
		b = append(r.Time.AppendFormat(b, time.RFC3339Nano), `",`...)
	}
	b = append(b, `"`+slog.LevelKey+`":"`...)
	b = append(append(b, r.Level.String()...), `","`+slog.MessageKey+`":`...)
	b, isPlain = appendText(b, r.Message)
	if isPlain {
		r.Attrs(func(a slog.Attr) bool {
			b, isPlain = appendAttr(append(b, ','), a)
			return isPlain
		})
	}
	return append(b, "}\n"...), isPlain
}

func appendAttr(b []byte, a slog.Attr) (_ []byte, isPlain bool) {
	if b, isPlain = appendText(b, a.Key); !isPlain || a.Key == "" {
		return b, false
	}
	b = append(b, ':')
	switch v := a.Value; v.Kind() {
	case slog.KindString:
		return appendText(b, v.String())
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10), true
	case slog.KindDuration:
		return strconv.AppendFloat(b, v.Duration().Seconds(), 'f', -1, 64), true
	default:
		return b, false
	}
}

// appendText appends a text of which JSON escapes nothing.
func appendText(b []byte, text string) (_ []byte, isPlain bool) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return b, false
		}
	}
	b = append(b, '"')
	return append(append(b, text...), '"'), true
}
