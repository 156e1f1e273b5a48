package paritytest_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/test/worldtest"
)

// deploy makes a deployment of an image's tag that has succeeded.
func deploy(t *testing.T, p *worldtest.Fixture, tag string) *ent.Deployment {
	t.Helper()
	return p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:`+tag+`"}`), nil)
}

// running makes a deployment that is RUNNING.
func running(t *testing.T, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:running"}`)
	p.Claim(t, d)
	return d
}

func canceled(t *testing.T, w *worldtest.World, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:canceled"}`)
	w.Cancel(t, w.Acme, d.ID)
	return d
}

// end cancels the active deployment of an instance, if there is one.
func end(t *testing.T, w *worldtest.World, p *worldtest.Fixture) {
	t.Helper()
	active, err := w.Store.Client.Deployment.Query().
		Where(deployment.ModuleInstanceID(p.Instance.ID), deployment.CompletedAtIsNil()).All(w.Acme.As(actor.Viewer))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range active {
		w.Cancel(t, w.Acme, d.ID)
	}
}

// quarantine puts a release into quarantine, for good where until is empty, and returns how it is described.
func quarantine(t *testing.T, w *worldtest.World, releaseID, until string) object {
	t.Helper()
	described := object{"releaseId": releaseID, "reason": `it <leaks> "memory"`, "quarantinedBy": "admin"}
	var end *time.Time
	if until != "" {
		at, err := time.Parse(time.RFC3339Nano, until)
		if err != nil {
			t.Fatal(err)
		}
		described["until"], end = until, &at
	}
	if _, err := w.Deploy.Releases.Quarantine(w.Acme.As(actor.Admin), releaseID, `it <leaks> "memory"`, end); err != nil {
		t.Fatal(err)
	}
	all, err := w.Deploy.Releases.QuarantinesOf(w.Acme.As(actor.Viewer), []string{releaseID}, page.Args{})
	if err != nil || len(all[releaseID].Nodes()) != 1 {
		t.Fatalf("quarantines %v, %v", all, err)
	}
	described["quarantinedAt"] = all[releaseID].Nodes()[0].CreatedAt.UTC().Format(time.RFC3339Nano)
	return described
}

func inQuarantine(d *ent.Deployment, described object) refusedReplay {
	return refusedReplay{source: d.ID, code: fault.ReleaseQuarantined, more: object{
		"metadata": object{"quarantine": described},
		"details":  []any{object{"title": "Quarantine", "render": "object", "object": described}},
	}}
}

func notSucceeded(d *ent.Deployment, status string) refusedReplay {
	return refusedReplay{source: d.ID, code: fault.DeploymentTargetNotSucceeded,
		more: object{"metadata": object{"deploymentId": d.ID, "status": status}}}
}

// inProgress is refused for the blocker, which is named for people, for programs and by a link.
func inProgress(source, blocker *ent.Deployment, status string) refusedReplay {
	described := object{
		"deploymentId": blocker.ID, "status": status, "startedBy": "developer",
		"createdAt": blocker.CreatedAt.UTC().Format(time.RFC3339Nano),
	}
	return refusedReplay{source: source.ID, code: fault.DeploymentInProgress, more: object{
		"metadata": object{"blockedBy": described},
		"details":  []any{object{"title": "Active deployment", "render": "object", "object": described}},
		"action":   object{"label": "Show the active deployment", "url": "/deployments/" + blocker.ID},
	}}
}

func liveChanged(source *ent.Deployment, expected string, described object) refusedReplay {
	return refusedReplay{source: source.ID, terms: terms{live: &expected}, code: fault.DeploymentLiveChanged, more: object{"metadata": described}}
}

func body(t *testing.T, answer *http.Response) []byte {
	t.Helper()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	return text
}
