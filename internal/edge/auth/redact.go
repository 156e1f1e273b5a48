package auth

import (
	"fmt"
	"log/slog"

	"slipway/internal/base/secret"
)

// Redact is a ReplaceAttr function for slog.HandlerOptions. It removes whatever looks like a secret, such as a token
// or a part of one, from messages, strings, errors and the printed form of other values.
func Redact(_ []string, a slog.Attr) slog.Attr {
	var text string
	switch a.Value.Kind() {
	case slog.KindString:
		text = a.Value.String()
	case slog.KindAny:
		if _, isLevel := a.Value.Any().(slog.Level); isLevel {
			return a
		}
		// Unlike %v, %s shows the text of byte slices; an error or a Stringer speaks for itself.
		text = fmt.Sprintf("%s", a.Value.Any())
	default:
		return a
	}
	if clean := secret.Redact(text); clean != text {
		return slog.String(a.Key, clean)
	}
	return a
}
