package jsonlog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"slipway/internal/edge/jsonlog"
)

func TestItIsAHandlerAsSlogHasThem(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		return jsonlog.New(&out, slog.LevelInfo)
	}, func(t *testing.T) map[string]any { return decode(t, out.Bytes()) })
}

func decode(t *testing.T, line []byte) (members map[string]any) {
	t.Helper()
	if !bytes.HasSuffix(line, []byte("}\n")) || bytes.Count(line, []byte("\n")) != 1 {
		t.Errorf("%q is no line", line)
	}
	if err := json.Unmarshal(line, &members); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return members
}

func TestLinesAreThoseOfSlog(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	for _, attrs := range [][]slog.Attr{
		{},
		{slog.String("a", "b"), slog.Int("n", -7), slog.String("empty", "")},
		{slog.Int64("least", math.MinInt64), slog.Int64("most", math.MaxInt64)},
		{slog.String("quote", `"`)}, {slog.String("backslash", `\`)}, {slog.String("control", "a\x1fb\n")}, {slog.String("delete", "\x7f")},
		{slog.String("html", "<a href='x'>&</a>")}, {slog.String("wide", "Zürich 東京 \u2028")}, {slog.String("no UTF-8", "\xff")},
		{slog.String(`a "key"`, "x"), slog.String("ключ", "x")}, {slog.String("", "no key")}, {{}},
		{slog.Bool("is", true), slog.Float64("f", 1.5), slog.Uint64("u", math.MaxUint64), slog.Time("t", at)},
		{slog.Any("error", errors.New("broken")), slog.Any("list", []int{1}), slog.Any("null", nil)},
		{slog.Group("g", slog.Int("n", 1))}, {slog.Group("", slog.Int("inlined", 1))}, {slog.Group("empty")},
		{slog.Any("resolved", valuer{})},
	} {
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn + 1, slog.LevelError} {
			for _, message := range []string{"request", "", `say "x"`} {
				r := slog.NewRecord(at, level, message, 0)
				r.AddAttrs(attrs...)
				var got, want bytes.Buffer
				err := errors.Join(jsonlog.New(&got, level).Handle(t.Context(), r), slog.NewJSONHandler(&want, nil).Handle(t.Context(), r))
				if err != nil || got.String() != want.String() {
					t.Errorf("%v\ngot  %swant %s", err, &got, &want)
				}
			}
		}
	}
}

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.StringValue("resolved") }

func TestDurationsAreInSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]float64{
		0: 0, 1: 1e-9, 999: 999e-9, time.Microsecond: 1e-6, 1234567: .001234567, 90 * time.Second: 90, -time.Second: -1,
		math.MaxInt64: 9223372036.854776,
	} {
		for _, others := range [][]any{nil, {"not", "plain \n"}} {
			var out bytes.Buffer
			slog.New(jsonlog.New(&out, slog.LevelInfo)).Info("x", append([]any{"d", d}, others...)...)
			if got := decode(t, out.Bytes())["d"]; got != want {
				t.Errorf("%s: got %v, want %v", d, got, want)
			}
		}
	}
}

func TestLinesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"postgres://app:hunter2@db/app", "DB_PASSWORD=hunter2", "run --api-token hunter2", "--password hunter2", "slp_admin_hunter2A",
		"AKIAHUNTER2HUNTER222", "x ghp_hunter2hunter2hunter2", "eyJhunter2.eyJhunter2.hunter2", "-----BEGIN PRIVATE KEY-----hunter2",
	} {
		for place, write := range map[string]func(*slog.Logger){
			"message": func(l *slog.Logger) { l.Info(text) },
			"string":  func(l *slog.Logger) { l.Info("x", "a", "b", "s", text) },
			"error":   func(l *slog.Logger) { l.Info("x", "error", fmt.Errorf("wrapped: %w", errors.New(text))) },
			"list":    func(l *slog.Logger) { l.Info("x", "list", []string{"sh", "-c", text}) },
			"group":   func(l *slog.Logger) { l.Info("x", slog.Group("g", slog.String("k", text))) },
			"with":    func(l *slog.Logger) { l.With("k", text).WithGroup("g").Info("x", "y", "z") },
			"escaped": func(l *slog.Logger) { l.Info("x", "s", text+" \n") },
		} {
			var out bytes.Buffer
			write(slog.New(jsonlog.New(&out, slog.LevelInfo)))
			if line := out.String(); strings.Contains(strings.ToLower(line), "hunter2") || strings.Count(line, "[redacted]") != 1 {
				t.Errorf("%s as %s: %s", text, place, line)
			}
		}
	}
}

func TestLinesBelowTheLevelAreNotWritten(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := slog.New(jsonlog.New(&out, slog.LevelWarn))
	l.Info("x")
	if out.Len() > 0 || l.Enabled(t.Context(), slog.LevelInfo) || !l.Enabled(t.Context(), slog.LevelWarn) {
		t.Errorf("it wrote %s", &out)
	}
}

func TestLinesOfManyAreNotMixed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer // the race detector tells when two write at once
	l := slog.New(jsonlog.New(&out, slog.LevelInfo))
	const writers, each = 8, 200
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for n := range each {
				l.Info("plain", "writer", w, "n", n)
				l.Info("not plain", "writer", w, "n", n, "list", []int{n})
			}
		})
	}
	running.Wait()
	counts := map[string]int{}
	for line := range bytes.Lines(out.Bytes()) {
		members := decode(t, line)
		counts[fmt.Sprint(members["msg"], members["writer"])]++
	}
	for n := range maps.Values(counts) {
		if n != each {
			t.Errorf("%v", counts)
		}
	}
	if len(counts) != 2*writers {
		t.Errorf("%v", counts)
	}
}

func TestAnErrorOfTheWriterIsReturned(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	h := jsonlog.New(failing{broken}, slog.LevelInfo)
	for _, attr := range []slog.Attr{slog.Int("n", 1), slog.Any("list", []int{1})} {
		r := slog.NewRecord(time.Now(), slog.LevelInfo, "x", 0)
		r.AddAttrs(attr)
		if err := h.Handle(context.Background(), r); !errors.Is(err, broken) {
			t.Errorf("%v: %v", attr, err)
		}
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

func TestALineOfARequestTakesNoMemory(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	h := jsonlog.New(io.Discard, slog.LevelInfo)
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	r.AddAttrs(slog.String("requestId", "req_7"), slog.Int("status", 200), slog.Duration("duration", time.Millisecond))
	if n := testing.AllocsPerRun(100, func() { _ = h.Handle(t.Context(), r) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLine(b *testing.B) {
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	r.AddAttrs(slog.String("requestId", "req_ABCDEFGHIJKLMNOPQRSTUVWXYZ"), slog.String("client", "127.0.0.1"), slog.String("method", "POST"),
		slog.String("route", "/graphql"), slog.Int("status", 200), slog.Int("bytes", 637), slog.Duration("duration", 1234567*time.Nanosecond),
		slog.String("actor", "ci"), slog.String("organization", "org_00000000000000000000000012"), slog.Int("cost", 2))
	for name, h := range map[string]slog.Handler{
		"jsonlog": jsonlog.New(io.Discard, slog.LevelInfo),
		"slog":    slog.NewJSONHandler(io.Discard, nil),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = h.Handle(b.Context(), r)
			}
		})
	}
}
