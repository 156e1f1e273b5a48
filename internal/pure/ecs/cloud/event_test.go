package cloud_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/ecs/cloud"
	"slipway/internal/pure/event"
)

const service = "arn:aws:ecs:eu-west-1:123456789012:service/main/web"

// paused is an event with all that is used, and more.
const paused = `{"version":"0","id":"e1","detail-type":"ECS Hook State Change","source":"aws.ecs","account":"123456789012","time":"2026-03-05T15:54:41Z",
	"region":"eu-west-1","resources":["arn:aws:ecs:eu-west-1:123456789012:service-deployment/main/web/0EY"],"replay-name":"r","detail":{"eventType":"INFO",
	"eventName":"HOOK_AWAITING_ACTION","hookId":"ecs-pause-1","hookType":"PAUSE","expiresAt":"2026-03-05T16:04:41Z","lifecycleStage":"POST_TEST_TRAFFIC_SHIFT",
	"clusterArn":"arn:aws:ecs:eu-west-1:123456789012:cluster/main","serviceArn":"` + service + `","reason":null,"new":{"of":[1]},"desiredCount":3,
	"serviceDeploymentArn":"arn:aws:ecs:eu-west-1:123456789012:service-deployment/main/web/0EY","updatedAt":"2026-03-05T15:54:41.618059641Z"}}`

func TestAnEventIsReadWithWhatIsUsedOfIt(t *testing.T) {
	t.Parallel()
	got, violations := cloud.Decode(strictjson.MustParse(paused))
	want := cloud.Event{
		ID: "e1", Kind: cloud.HookStateChange, Time: time.Date(2026, 3, 5, 15, 54, 41, 0, time.UTC),
		ChangedAt: time.Date(2026, 3, 5, 15, 54, 41, 618059000, time.UTC), ServiceARN: service,
		ClusterARN: "arn:aws:ecs:eu-west-1:123456789012:cluster/main", Name: "HOOK_AWAITING_ACTION",
		ServiceDeploymentARN: "arn:aws:ecs:eu-west-1:123456789012:service-deployment/main/web/0EY",
		HookID:               "ecs-pause-1", HookType: "PAUSE", LifecycleStage: "POST_TEST_TRAFFIC_SHIFT", ExpiresAt: "2026-03-05T16:04:41Z", DesiredCount: new(int32(3)),
	}
	if diff := cmp.Diff(want, got); diff != "" || len(violations) > 0 {
		t.Errorf("%v: want (-), got (+):\n%s", violations, diff)
	}
}

func TestWhatIsUsedMustBeOfItsType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, pointer, rule string }{
		{`"id":"e1"`, `"id":""`, "/id", "min_length"},
		{`"id":"e1",`, ``, "/id", "required"},
		{`"id":"e1"`, `"id":"` + strings.Repeat("x", 129) + `"`, "/id", "max_length"},
		{`Hook State`, `Moon Phase`, "/detail-type", "enum"},
		{`"time":"2026-03-05T15:54:41Z"`, `"time":"2026-03-05T15:54:41+00:00"`, "/time", "format"},
		{`618059641Z`, `618059641`, "/detail/updatedAt", "format"},
		{`"hookId":"ecs-pause-1"`, `"hookId":1`, "/detail/hookId", "type"},
		{`"desiredCount":3`, `"desiredCount":2147483648`, "/detail/desiredCount", "int32"},
		{`"serviceArn":"` + service, `"serviceArn":"web`, "/detail/serviceArn", "pattern"},
		{`"serviceArn":"` + service + `",`, ``, "/resources", "required"},
		{`"ECS Hook State Change"`, `"ECS Deployment State Change"`, "/detail/deploymentId", "required"},
		{`"eventName":"HOOK_AWAITING_ACTION",`, ``, "/detail/eventName", "required"},
	} {
		text := strings.Replace(paused, c.old, c.new, 1)
		_, violations := cloud.Decode(strictjson.MustParse(text))
		if text == paused || len(violations) != 1 || violations[0].Pointer != c.pointer || violations[0].Rule != c.rule {
			t.Errorf("%s for %s: %v, want %s of %s", c.new, c.old, violations, c.rule, c.pointer)
		}
	}
}

func TestARollbackIsSeenInTheReasonAlone(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"ECS deployment circuit breaker: rolling back to deploymentId ecs-svc/123.": "ecs-svc/123",
		"ECS deployment alarm: Rolling back to deploymentId ecs-svc/9_a-B":          "ecs-svc/9_a-B",
		"rolling back":                          "",
		"ECS deployment ecs-svc/1 in progress.": "none",
		"Strolling backwards to ecs-svc/1":      "none",
		"":                                      "none",
	} {
		e := cloud.Event{Kind: cloud.DeploymentStateChange, Name: cloud.DeploymentInProgress, DeploymentID: "ecs-svc/2", Reason: reason}
		target, back := e.RollsBackTo()
		if back != (want != "none") || back && target != want || e.Starts() == back {
			t.Errorf("%q: %q %t, starts %t", reason, target, back, e.Starts())
		}
		e.Name = cloud.DeploymentCompleted
		if _, back := e.RollsBackTo(); back {
			t.Errorf("%q of an end starts a rollback", reason)
		}
	}
}

func TestARollbackIsOfTheOneThatItDoesNotGoBackTo(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 5, 16, 0, 0, 0, time.UTC)
	begins := func(deploymentID, reason string, after time.Duration) cloud.Event {
		return cloud.Event{
			ID: deploymentID + reason, Kind: cloud.DeploymentStateChange, Name: cloud.DeploymentInProgress, DeploymentID: deploymentID,
			Time: at.Add(after), Reason: reason,
		}
	}
	const back = "ECS deployment circuit breaker: rolling back to deploymentId ecs-svc/1."
	for id, want := range map[string]string{"ecs-svc/1": "IN_PROGRESS", "ecs-svc/2": "ROLLBACK_IN_PROGRESS"} {
		o := cloud.Observe(id, []cloud.Event{begins(id, "", 0), begins("ecs-svc/3", back, time.Minute)})
		if o.Status != want || (o.RevertTo == "ecs-svc/1") != (id == "ecs-svc/2") || (o.End == nil) != (id == "ecs-svc/1") {
			t.Errorf("%s is %s, goes back to %q, ended %+v", id, o.Status, o.RevertTo, o.End)
		}
	}
}

func TestEventsOfOneSecondAreInTheOrderOfTheirChanges(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 5, 16, 0, 0, 0, time.UTC)
	first := cloud.Event{ID: "b", Time: at, ChangedAt: at.Add(time.Millisecond)}
	second := cloud.Event{ID: "a", Time: at, ChangedAt: at.Add(2 * time.Millisecond)}
	third := cloud.Event{ID: "0", Time: at.Add(time.Second)}
	for _, c := range [][2]cloud.Event{{first, second}, {second, third}, {first, third}, {{ID: "a", Time: at}, {ID: "b", Time: at}}} {
		if c[0].Compare(c[1]) != -1 || c[1].Compare(c[0]) != 1 || c[0].Compare(c[0]) != 0 {
			t.Errorf("%+v is not before %+v", c[0], c[1])
		}
	}
}

func TestLongReasonsAreCut(t *testing.T) {
	t.Parallel()
	text := strings.Replace(paused, `"reason":null`, `"reason":"`+strings.Repeat("é", 3000)+`"`, 1)
	e, violations := cloud.Decode(strictjson.MustParse(text))
	if len(violations) > 0 || len(e.Reason) > 810 || !strings.HasSuffix(e.Reason, "é…") {
		t.Errorf("%d bytes, %v", len(e.Reason), violations)
	}
}

func TestWhatARunnerReportsStays(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 5, 16, 0, 0, 0, time.UTC)
	start := cloud.Event{ID: "1", Kind: cloud.DeploymentStateChange, Name: cloud.DeploymentInProgress, DeploymentID: "ecs-svc/1", Time: at, Reason: "begun"}
	end := cloud.Event{ID: "2", Kind: cloud.DeploymentStateChange, Name: cloud.DeploymentCompleted, DeploymentID: "ecs-svc/1", Time: at.Add(time.Minute)}
	reported := &ecs.Data{
		Type: ecs.Type, Events: []event.Event{{StartedAt: new("2026-03-05T16:00:30Z"), Message: new("mine")}},
		ServiceDeploymentState: &ecs.ServiceDeploymentState{Strategy: new("ROLLING"), ObservedAt: new("2026-03-05T15:00:00Z"), Status: new("PENDING")},
	}
	before := string(reported.Encode())
	none, begun, all := cloud.Observation{}, cloud.Observe("ecs-svc/1", []cloud.Event{start}), cloud.Observe("ecs-svc/1", []cloud.Event{start, end})
	cloud.Apply(reported, 0, none, begun)
	cloud.Apply(reported, 0, begun, all)
	want := `{"type":"aws:ecs","events":[` +
		`{"startedAt":"2026-03-05T16:00:00Z","message":"SERVICE_DEPLOYMENT_IN_PROGRESS: begun"},{"startedAt":"2026-03-05T16:00:30Z","message":"mine"},` +
		`{"startedAt":"2026-03-05T16:01:00Z","message":"SERVICE_DEPLOYMENT_COMPLETED"}],` +
		`"serviceDeploymentState":{"observedAt":"2026-03-05T16:01:00Z","status":"SUCCESSFUL","strategy":"ROLLING"}}`
	if diff := cmp.Diff(want, string(reported.Encode())); diff != "" {
		t.Error(diff)
	}
	cloud.Apply(reported, 0, all, none)
	if now := string(reported.Encode()); strings.Contains(now, "SERVICE_") || !strings.Contains(now, `"message":"mine"`) || strings.Contains(now, "SUCCESSFUL") {
		t.Errorf("without its events %s, at first %s", now, before)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(paused))
	f.Add([]byte(`{"id":"1","detail-type":"ECS Service Action","time":"2026-03-05T16:00:00Z","resources":["` + service + `"],"detail":{"eventName":"X"}}`))
	f.Add([]byte(`{"detail":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := strictjson.ParseBody(text)
		if err != nil {
			return
		}
		e, violations := cloud.Decode(root)
		if len(violations) > 0 {
			return
		}
		if e.ID == "" || e.Name == "" || e.Time.IsZero() && !strings.Contains(string(text), "0001-01-01") || !cloud.IsServiceARN(e.ServiceARN) {
			t.Errorf("%s is read as %+v", text, e)
		}
		d := &ecs.Data{Type: ecs.Type}
		o := cloud.Observe(e.DeploymentID, []cloud.Event{e})
		cloud.Apply(d, 0, cloud.Observation{}, o)
		if cloud.Apply(d, 0, o, cloud.Observation{}); len(d.Events) != 0 || d.ServiceDeploymentState != nil {
			t.Errorf("%s leaves %s", text, d.Encode())
		}
	})
}
