package deployment_test

import (
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// asked returns what a deployment tells of why it is there and what it is part of.
func asked(t *testing.T, w *worldtest.World, deploymentID string) map[string]any {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) { deployment(id: $id) {
		reason cancelReason description triggerSource pipelineRunId stepExecutionId } }`, map[string]any{"id": deploymentID})
	found, ok := r.At(t, "data", "deployment").(map[string]any)
	if !ok {
		t.Fatalf("%s", r.Body)
	}
	return found
}

func TestAReasonIsBesideTheDescription(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ctx := w.Acme.As(actor.Developer)
		source := p.Succeeded(t)
		replay := propose.Replay{SourceID: source.ID, Request: admission.Request{Reason: new("the night shift asked"), IdempotencyKey: new("key")}}
		d, _, err := w.Deploy.Propose.Rollback(ctx, replay)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := w.Deploy.Propose.Rollback(ctx, replay); err != nil || again.ID != d.ID {
			t.Errorf("the same request: %v, %v", again, err)
		}
		for _, other := range []*string{nil, new("another")} {
			if _, _, err := w.Deploy.Propose.Rollback(ctx, propose.Replay{SourceID: source.ID, Request: admission.Request{Reason: other, IdempotencyKey: new("key")}}); !fault.Is(err, fault.RequestIdempotencyReused) {
				t.Errorf("another reason under the same key: %v", err)
			}
		}
		if got := asked(t, w, d.ID); got["reason"] != "the night shift asked" || got["description"] != *d.Description || got["cancelReason"] != nil {
			t.Errorf("%v", got)
		}
		if _, err := w.Deploy.Execution.Cancel(ctx, d.ID, new("it was the wrong one")); err != nil {
			t.Fatal(err)
		}
		if got := asked(t, w, d.ID); got["reason"] != "the night shift asked" || got["cancelReason"] != "it was the wrong one" {
			t.Errorf("%v", got)
		}
	})
}

func TestTheFirstReasonOfACancellationStays(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, now := w.Fixture(t, w.Acme, "web"), time.Now()
		later := w.DeployBy(func() time.Time { return now.Add(time.Hour) })
		for _, c := range []struct{ first, second, forced, want *string }{
			{new("first"), new("second"), new("forced"), new("first")},
			{nil, new("second"), new("forced"), new("forced")},
			{nil, nil, nil, nil},
		} {
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			p.Claim(t, d)
			for _, reason := range []*string{c.first, c.second} {
				if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, reason); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := later.Execution.ForceCancel(w.Acme.As(actor.Admin), d.ID, c.forced); err != nil {
				t.Fatal(err)
			}
			got := asked(t, w, d.ID)["cancelReason"]
			if c.want == nil && got != nil || c.want != nil && got != *c.want {
				t.Errorf("the reason is %v, want %v", got, c.want)
			}
		}
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, new("")); len(violationsOf(err)) != 1 || violationsOf(err)[0].Pointer != "/reason" {
			t.Errorf("an empty reason: %v", err)
		}
	})
}

func TestAPipelineIsNamedOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		report := func(run, step *string) error {
			_, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{PipelineRunID: run, StepExecutionID: step})
			return err
		}
		for range 2 {
			if err := report(new("run-1"), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := report(new("run-1"), new("step-1")); err != nil {
			t.Fatal(err)
		}
		violations := violationsOf(report(new("run-2"), new("step-2")))
		if len(violations) != 2 || violations[0].Pointer != "/pipelineRunId" || violations[1].Pointer != "/stepExecutionId" {
			t.Errorf("another: %v", violations)
		}
		if got := asked(t, w, d.ID); got["pipelineRunId"] != "run-1" || got["stepExecutionId"] != "step-1" || got["triggerSource"] != "api" {
			t.Errorf("%v", got)
		}
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{}); err != nil {
			t.Fatal(err)
		}
		again, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: d.ID})
		if err != nil {
			t.Fatal(err)
		}
		if got := asked(t, w, again.ID); got["pipelineRunId"] != nil || got["stepExecutionId"] != nil {
			t.Errorf("a replay has %v", got)
		}
	})
}
