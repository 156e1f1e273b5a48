package server_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

func TestALogGoesOnAfterALostConnection(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		said := int32(0)
		say := func(text string) {
			t.Helper()
			said++
			line := runlog.Line{Stream: runlog.Stdout, Text: text}
			if _, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{Sequence: &said, Logs: []runlog.Line{line}}); err != nil {
				t.Fatal(err)
			}
		}
		follow := fmt.Sprintf(`{"query":"subscription { deploymentLogs(id: \"%s\") { lines { number text } } }"}`, d.ID)
		say("first")
		first := event(t, open(t, w, follow, ""))
		_, id, _ := strings.Cut(strings.TrimSpace(first), "\nid: ")
		if !strings.Contains(first, `"text":"first"`) || id == "" {
			t.Fatalf("no line with an id: %s", first)
		}
		say("second")
		if next := event(t, open(t, w, follow, id)); !strings.Contains(next, `"text":"second"`) || strings.Contains(next, "first") {
			t.Errorf("after the first line came %s", next)
		}
		refused := event(t, open(t, w, strings.Replace(follow, "lines { number text }", "cursor", 1), "x"))
		if !strings.Contains(refused, "slipway:Request:CURSOR_INVALID") {
			t.Errorf("after no cursor came %s", refused)
		}
	})
}
