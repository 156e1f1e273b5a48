package auth

import (
	"fmt"
	"log/slog"
	"regexp"
)

var tokenLike = regexp.MustCompile(`slp_[a-z]+_[0-9A-Za-z]{8,}`)

// Redact is a ReplaceAttr of slog.HandlerOptions. It takes whatever looks like a token, whole or cut
// short, out of messages, strings, errors and the printed form of other values.
func Redact(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		if text := a.Value.String(); tokenLike.MatchString(text) {
			return slog.String(a.Key, clean(text))
		}
	case slog.KindAny:
		// Unlike %v, %s shows the text of byte slices; an error or a Stringer speaks for itself.
		if text := fmt.Sprintf("%s", a.Value.Any()); tokenLike.MatchString(text) {
			return slog.String(a.Key, clean(text))
		}
	}
	return a
}

func clean(text string) string { return tokenLike.ReplaceAllLiteralString(text, redacted) }
