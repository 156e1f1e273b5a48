package gqlhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/requestlog"
	"slipway/internal/metrics"
)

func TestAnAnswerTellsWhatIsDeprecatedAndUseIsCounted(t *testing.T) {
	t.Parallel()
	l, m := counting(t)
	const told = `"extensions":{"deprecated":[{"field":"Query.said","reason":"Use echo. Goes in 2.0."}]}`
	for query, want := range map[string]string{
		`{ said }`: told, `query a { said b: said }`: told, `{ echo }`: "", `{ said nothing }`: "",
	} {
		text, err := io.ReadAll(l.post(t, query, "application/json").Body)
		if err != nil {
			t.Fatal(err)
		}
		if body := string(text); !strings.Contains(body, want) || want == "" && strings.Contains(body, "deprecated") {
			t.Errorf("%s: %s, want %s", query, body, want)
		}
	}
	wantCounted(t, m, `slipway_deprecated_fields_total{field="Query.said"} 2`)
}

func TestTheItemsOfASubscriptionTellWhatIsDeprecatedAndUseIsCountedOnce(t *testing.T) {
	t.Parallel()
	l, m := counting(t)
	out := l.listen(t, `subscription { feed(of: "three") { n old } }`)
	for range 3 {
		const told = `"deprecated":[{"field":"Item.old","reason":"Use n. Goes in 2.0."}]`
		if got := out.next(); !strings.Contains(got, told) {
			t.Errorf("an item is %s, want %s", got, told)
		}
	}
	out.hear(completed)
	wantCounted(t, m, `slipway_deprecated_fields_total{field="Item.old"} 1`)
}

// counting serves a feed whose requests are counted.
func counting(t *testing.T) (*live, *metrics.Metrics) {
	t.Helper()
	m := metrics.New()
	l := prepare(t, stream.Config{})
	serve := l.Config.Handler
	l.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, _ := requestlog.With(r.Context(), m)
		serve.ServeHTTP(w, r.WithContext(ctx))
	})
	l.Start()
	return l, m
}

func wantCounted(t *testing.T, m *metrics.Metrics, want string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if !strings.Contains(w.Body.String(), want+"\n") {
		t.Errorf("no line is %s", want)
	}
}
