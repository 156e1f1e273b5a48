package main

import (
	"io"
	"log/slog"
	"os"

	"slipway/internal/auth"
)

// format is how log lines are written.
type format string

const (
	formatAuto format = "auto"
	formatText format = "text"
	formatJSON format = "json"
)

// newLogger logs to out, without tokens.
func newLogger(out io.Writer, f format, least slog.Level) *slog.Logger {
	if f == formatText || f == formatAuto && isTerminal(out) {
		return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: least, ReplaceAttr: auth.Redact}))
	}
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: least, ReplaceAttr: inSeconds}))
}

// inSeconds writes durations in seconds, which JSON would have in nanoseconds, and redacts the rest.
func inSeconds(groups []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key, a.Value.Duration().Seconds())
	}
	return auth.Redact(groups, a)
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
