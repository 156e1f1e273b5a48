package auth_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"slipway/internal/edge/auth"
)

func TestLogHasNoToken(t *testing.T) {
	t.Parallel()
	token := setup(t).draw(t).Reveal()
	for name, handler := range map[string]func(*bytes.Buffer, *slog.HandlerOptions) slog.Handler{
		"text": func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(b, o) },
		"json": func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(b, o) },
	} {
		for place, write := range map[string]func(*slog.Logger){
			"message":       func(l *slog.Logger) { l.Info("got " + token) },
			"string":        func(l *slog.Logger) { l.Info("x", "header", "Bearer "+token) },
			"cut short":     func(l *slog.Logger) { l.Info("x", "header", token[:len(token)-20]) },
			"twice":         func(l *slog.Logger) { l.Info(token + " and " + token) },
			"error":         func(l *slog.Logger) { l.Info("x", "err", fmt.Errorf("wrapped: %w", errors.New(token))) },
			"group":         func(l *slog.Logger) { l.Info("x", slog.Group("g", slog.String("k", token))) },
			"with":          func(l *slog.Logger) { l.With("k", token).WithGroup("g").Info("x") },
			"bytes":         func(l *slog.Logger) { l.Info("x", "body", []byte(token)) },
			"headers":       func(l *slog.Logger) { l.Info("x", "h", http.Header{"Authorization": {token}}) },
			"struct":        func(l *slog.Logger) { l.Info("x", "v", struct{ Token string }{token}) },
			"without a key": func(l *slog.Logger) { l.Log(context.Background(), slog.LevelInfo, "x", []any{token}...) },
		} {
			t.Run(name+"/"+place, func(t *testing.T) {
				t.Parallel()
				var out bytes.Buffer
				write(slog.New(handler(&out, &slog.HandlerOptions{ReplaceAttr: auth.Redact})))
				if strings.Contains(out.String(), token[len("slp_developer_"):][:8]) {
					t.Errorf("the log tells the token: %s", &out)
				}
				if !strings.Contains(out.String(), "slp_[redacted]") {
					t.Errorf("the log does not say that a token stood here: %s", &out)
				}
			})
		}
	}
}

func TestLogHasNoSecretOfAnotherKind(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"postgres://app:hunter2@db/app", "DB_PASSWORD=hunter2", "run --api-token hunter2"} {
		var out bytes.Buffer
		l := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: auth.Redact}))
		l.Error("failed: "+text, "error", errors.New(text), "command", []string{"sh", "-c", text})
		if strings.Contains(out.String(), "hunter2") || strings.Count(out.String(), "[redacted]") != 3 {
			t.Errorf("%s: %s", text, &out)
		}
	}
}

func TestLogKeepsWhatIsNoToken(t *testing.T) {
	t.Parallel()
	var with, without bytes.Buffer
	timeless := func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	write := func(out *bytes.Buffer, replace func([]string, slog.Attr) slog.Attr) {
		slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{ReplaceAttr: replace})).
			Info("help", "n", 1, "map", map[string]any{"a": []int{1}}, "err", errors.New("no slp_ here"), "prefix", "slp_admin_Ab3d")
	}
	write(&without, timeless)
	write(&with, func(groups []string, a slog.Attr) slog.Attr { return auth.Redact(groups, timeless(groups, a)) })
	if with.String() != without.String() {
		t.Errorf("got  %swant %s", &with, &without)
	}
}
