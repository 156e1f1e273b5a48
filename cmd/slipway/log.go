package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"

	"slipway/internal/edge/auth"
	"slipway/internal/edge/jsonlog"
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
	return slog.New(jsonlog.New(out, least))
}

// handshakeErrors is the output of an http.Server's ErrorLog. It lowers the failures of TLS handshakes to debug: they
// are the clients', and come from everything that looks whether a port is open.
type handshakeErrors struct {
	others io.Writer
	log    *slog.Logger
}

func (h handshakeErrors) Write(line []byte) (int, error) {
	if !bytes.HasPrefix(line, []byte("http: TLS handshake error")) {
		return h.others.Write(line)
	}
	h.log.Debug(string(bytes.TrimSpace(line)))
	return len(line), nil
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
