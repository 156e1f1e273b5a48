package retention_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/event"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

const detailed = `query ($id: ID!) { node(id: $id) { ... on Deployment {
	status foldedEvents foldedLogLines foldedLogBytes detailsFoldedAt
	events { startedAt message } logs(first: 1) { totalCount }
	release { digest } dataJson redeployEligibility { allowed } } } }`

// withDetails makes a deployment of an instance that has ended, with events, lines of a log and a state of its listeners.
func withDetails(t *testing.T, w *worldtest.World, p *worldtest.Fixture, instanceID string, lines int) *ent.Deployment {
	t.Helper()
	d, runner := p.Deploy(t, instanceID, `{"image":"web:1"}`), w.Acme.As(actor.Runner)
	lease := p.Claim(t, d)
	report := func(in execution.Report) {
		t.Helper()
		if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, in); err != nil {
			t.Fatal(err)
		}
	}
	report(execution.Report{
		Events: []event.Event{{Message: new("first"), StartedAt: new("2026-03-01T10:00:00Z")}, {Message: new("second"), StartedAt: new("2026-03-01T10:01:00Z")}},
		Data:   strictjson.MustParse(`{"elbListenerState":[{"capturedAt":"2026-03-01T10:00:00Z"}],"detectedVia":"test"}`),
	})
	for sent := 0; sent < lines; {
		n := min(runlog.MaxReported, lines-sent)
		logs := make([]runlog.Line, n)
		for i := range logs {
			logs[i] = runlog.Line{Stream: runlog.Stdout, Text: fmt.Sprintf("line %07d", sent+i)}
		}
		report(execution.Report{Logs: logs})
		sent += n
	}
	done, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// endedAt has a deployment have ended at a time.
func endedAt(t *testing.T, w *worldtest.World, d *ent.Deployment, at time.Time) {
	t.Helper()
	err := w.Store.Tx(w.Acme.As(actor.Admin), store.Repeatable, func(ctx context.Context, tx *ent.Tx) error {
		return tx.Deployment.UpdateOneID(d.ID).SetCompletedAt(at).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDetailsAreFoldedOnceTheyAreOldAndTheRestStays(t *testing.T) {
	t.Parallel()
	eachIsolation(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		now, keep := store.Now(), 90*24*time.Hour
		old := withDetails(t, w, p, p.Instance.ID, 2_345)
		young := withDetails(t, w, p, p.NewInstance(t, "young").ID, 3)
		bare := p.Finish(t, p.Deploy(t, p.NewInstance(t, "bare").ID, `{"image":"web:1"}`), nil)
		running := p.Deploy(t, p.NewInstance(t, "running").ID, `{"image":"web:1"}`)
		p.Claim(t, running)
		endedAt(t, w, old, now.Add(-keep))
		endedAt(t, w, bare, now.Add(-keep))
		endedAt(t, w, young, now.Add(-keep+time.Microsecond))
		before := w.Rows(t)
		get := func(d *ent.Deployment) map[string]any {
			t.Helper()
			var answer struct{ Data struct{ Node map[string]any } }
			text := w.GraphQL(t, w.Acme.Tokens[actor.Developer], detailed, map[string]any{"id": d.ID}).Body
			if err := json.Unmarshal(text, &answer); err != nil || answer.Data.Node == nil {
				t.Fatalf("%v: %s", err, text)
			}
			return answer.Data.Node
		}
		release, kept := get(old)["release"], get(young)
		etag := tagOf(t, w, old.ID)

		house := w.RetentionAt(now)
		house.Keep.Details = keep
		if n, err := house.Purge(t.Context()); n != 1 || err != nil {
			t.Errorf("%d were folded, %v, want 1", n, err)
		}
		got := get(old)
		want := map[string]any{
			"status": "SUCCEEDED", "foldedEvents": 2.0, "foldedLogLines": 2345.0, "foldedLogBytes": 2345 * 12.0,
			"detailsFoldedAt": now.UTC().Format(time.RFC3339Nano), "release": release,
			"events": []any{map[string]any{"startedAt": "2026-03-01T10:00:00Z", "message": "2 earlier events are not kept."}},
			"logs":   map[string]any{"totalCount": 0.0}, "redeployEligibility": map[string]any{"allowed": true},
		}
		data, _ := got["dataJson"].(map[string]any)
		if _, there := data["elbListenerState"]; there || data["detectedVia"] != "test" {
			t.Errorf("the data is %v", data)
		}
		delete(got, "dataJson")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(kept, get(young)); diff != "" {
			t.Errorf("what is younger by a microsecond has changed: %s", diff)
		}
		if now := tagOf(t, w, old.ID); now == etag {
			t.Errorf("the ETag is %s as before", now)
		}
		after := w.Rows(t)
		if before["deployment_logs"]-after["deployment_logs"] != 2_345 {
			t.Errorf("%d lines before, %d after", before["deployment_logs"], after["deployment_logs"])
		}
		delete(before, "deployment_logs")
		delete(after, "deployment_logs")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("rows of other tables: %s", diff)
		}
		for _, d := range []*ent.Deployment{bare, running} {
			if found := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID); d == bare && found.Version != d.Version {
				t.Errorf("what had no details has version %d, had %d", found.Version, d.Version)
			} else if d == running && found.DetailsFoldedAt != nil {
				t.Error("what runs was folded")
			}
		}
		version := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), old.ID).Version
		if n, err := house.Purge(t.Context()); n != 0 || err != nil {
			t.Errorf("once more: %d, %v", n, err)
		}
		if again := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), old.ID); again.Version != version {
			t.Errorf("the version rose from %d to %d for nothing", version, again.Version)
		}
		redeployed := w.REST(t, http.MethodPost, "/deployments/"+old.ID+"/redeploy", w.Acme.Tokens[actor.Developer], "", nil)
		if redeployed.Status != http.StatusCreated {
			t.Errorf("a redeploy of it: %d %s", redeployed.Status, redeployed.Body)
		}
	})
}

// tagOf returns the ETag of a deployment.
func tagOf(t *testing.T, w *worldtest.World, deploymentID string) string {
	t.Helper()
	answer := w.REST(t, http.MethodGet, "/deployments/"+deploymentID, w.Acme.Tokens[actor.Viewer], "", nil)
	tag := answer.Header.Get("ETag")
	if answer.Status != http.StatusOK || tag == "" {
		t.Fatalf("%d, ETag %q", answer.Status, tag)
	}
	return tag
}

func TestARecordThatCannotBeReadKeepsNoOtherFromBeingFolded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, now := w.Fixture(t, w.Acme, "web"), store.Now()
		broken := withDetails(t, w, p, p.Instance.ID, 1)
		endedAt(t, w, broken, now.Add(-50*time.Hour))
		var rest []*ent.Deployment
		for i := range 101 { // one more than are found at once
			d := p.Finish(t, p.Deploy(t, p.NewInstance(t, "n"+strconv.Itoa(i)).ID, `{"image":"web:1"}`), nil)
			endedAt(t, w, d, now.Add(-49*time.Hour))
			rest = append(rest, d)
		}
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE deployments SET data = '{"type":7}' WHERE id = '`+broken.ID+`'`); err != nil {
			t.Fatal(err)
		}
		house := w.RetentionAt(now)
		house.Keep.Details = 48 * time.Hour
		var failed error
		house.Ended = func(err error) { failed = err }
		if _, err := house.Purge(t.Context()); err == nil || failed == nil || !strings.Contains(err.Error(), broken.ID) {
			t.Errorf("%v, told %v, want the error of %s", err, failed, broken.ID)
		}
		for _, d := range rest {
			if w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID).DetailsFoldedAt == nil {
				t.Fatalf("%s was not folded", d.ID)
			}
		}
	})
}
