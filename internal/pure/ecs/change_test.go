package ecs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
)

func TestReplayTakesTheTargetAndNothingOfTheCourse(t *testing.T) {
	t.Parallel()
	source := decoded(t, full)
	before := string(source.Encode())
	previous := &ecs.TaskDefinition{Definition: json.RawMessage(`{"family":"live"}`)}
	replay, err := source.Replay(json.RawMessage(`{"arn":"td:3","definition":{"family":"cart"},"revision":3}`), previous, "rest", "grace")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"aws:ecs",` +
		`"clusterArn":"arn:aws:ecs:eu-west-1:111122223333:cluster/shop",` +
		`"serviceArn":"arn:aws:ecs:eu-west-1:111122223333:service/shop/cart",` +
		`"deployedTaskDefinition":{"arn":"td:3","definition":{"family":"cart"},"revision":3},` +
		`"previousTaskDefinition":{"definition":{"family":"live"}},` +
		`"postDeployEnabled":false,"preDeployEnabled":true,"triggerChannel":"rest","triggeredBy":"grace"}`
	if diff := cmp.Diff(want, string(replay.Encode())); diff != "" {
		t.Error(diff)
	}
	if string(source.Encode()) != before {
		t.Error("the source has changed")
	}
}

func TestReplayOfNothingStartsEmpty(t *testing.T) {
	t.Parallel()
	var none *ecs.Data
	replay, err := none.Replay(nil, nil, "graphql", "ada")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(replay.Encode()), `{"type":"aws:ecs","triggerChannel":"graphql","triggeredBy":"ada"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReplayRefusesWhatIsNoTaskDefinition(t *testing.T) {
	t.Parallel()
	for artifact, want := range map[string]string{
		`{"revision":"3"}`:        `revision: json: cannot unmarshal string`,
		`{"revision":3000000000}`: `revision: json: cannot unmarshal number`,
		`{"arn":7}`:               `arn: json: cannot unmarshal number`,
		`{"definition":[]}`:       `definition: must be an object`,
		`[]`:                      `no object`,
		`{"arn":x}`:               `is no JSON`,
	} {
		_, err := decoded(t, full).Replay(json.RawMessage(artifact), nil, "rest", "ada")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", artifact, err)
		}
	}
}

func TestMergeReplacesWhatIsReportedAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	d := decoded(t, []byte(`{"type":"aws:ecs","clusterArn":"c","detectedVia":"poll","postDeployEnabled":true,
		"acceptedPauseControl":{"hookId":"h","lifecycleStage":"s"},"elbListenerState":[{"capturedAt":"2026-03-01T10:00:00Z"}],
		"events":[{"message":"one"}]}`))
	patch := decoded(t, []byte(`{"type":"aws:ecs","detectedVia":"","postDeployEnabled":false,
		"acceptedPauseControl":{"hookId":"i"},"elbListenerState":[],"events":[{"message":"two"}]}`))
	patch.Type = "terraform"
	d.Merge(patch)
	d.Events, _ = event.Append(d.Events, 0, patch.Events...)
	want := `{"type":"aws:ecs","clusterArn":"c","acceptedPauseControl":{"hookId":"i"},"detectedVia":"",` +
		`"elbListenerState":[],"events":[{"message":"one"},{"message":"two"}],"postDeployEnabled":false}`
	if diff := cmp.Diff(want, string(d.Encode())); diff != "" {
		t.Error(diff)
	}
}

// filled are the fields that Slipway itself fills.
var filled = []string{"deployedTaskDefinition", "previousTaskDefinition", "triggerChannel", "triggeredBy"}

func TestMergeTakesEveryFieldButThoseThatSlipwayFills(t *testing.T) {
	t.Parallel()
	d := decoded(t, []byte(`{"type":"aws:ecs","deployedTaskDefinition":{"arn":"td:1","definition":{},"revision":1},"previousTaskDefinition":{},"triggerChannel":"rest","triggeredBy":"grace"}`))
	want := members(t, full)
	for _, name := range filled {
		want[name] = members(t, d.Encode())[name]
	}
	patch := decoded(t, full)
	d.Merge(patch)
	d.Events, _ = event.Append(nil, 0, patch.Events...)
	if diff := cmp.Diff(want, members(t, d.Encode())); diff != "" {
		t.Error(diff)
	}
	d.Merge(&ecs.Data{})
	if diff := cmp.Diff(want, members(t, d.Encode())); diff != "" {
		t.Errorf("an empty report: %s", diff)
	}
}

func members(t *testing.T, text []byte) map[string]any {
	t.Helper()
	object, ok := tree(t, text).(map[string]any)
	if !ok {
		t.Fatalf("no object: %s", text)
	}
	return object
}

func TestOtherValuesOfWhatSlipwayFillsAreNamed(t *testing.T) {
	t.Parallel()
	d := decoded(t, full)
	for text, want := range map[string]string{
		`{"type":"aws:ecs","clusterArn":"other"}`: "",
		string(full): "",
		`{"type":"aws:ecs","deployedTaskDefinition":{"revision":8.0,"definition":{"runtimePlatform":null,"family":"cart","cpu":"256",
			"containerDefinitions":[{"image":"cart:8","name":"app","limit":12345678901234567890,"command":["sh","-c","a && b < c"]}]},"arn":"arn:aws:ecs:eu-west-1:111122223333:task-definition/cart:8"}}`: "",
		`{"type":"aws:ecs","triggeredBy":"eve","triggerChannel":""}`:                             "/triggerChannel /triggeredBy",
		`{"type":"aws:ecs","deployedTaskDefinition":{"revision":8}}`:                             "",
		`{"type":"aws:ecs","deployedTaskDefinition":{"revision":9},"previousTaskDefinition":{}}`: "/deployedTaskDefinition /previousTaskDefinition",
	} {
		var places []string
		for _, v := range d.Unchanged(decoded(t, []byte(text))) {
			if places = append(places, v.Pointer); v.Rule != "read_only" {
				t.Errorf("%s: the rule %s", text, v.Rule)
			}
		}
		if got := strings.Join(places, " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestWhatTheReleaseLeavesOpenOfTheTaskDefinitionIsAddedOnce(t *testing.T) {
	t.Parallel()
	d := decoded(t, []byte(`{"type":"aws:ecs","deployedTaskDefinition":{"definition":{"family":"cart"}}}`))
	for _, c := range []struct{ report, refused, want string }{
		{`{"deployedTaskDefinition":{"definition":{"family":"other"},"arn":"td:3"}}`, "/deployedTaskDefinition", `{"definition":{"family":"cart"}}`},
		{`{"deployedTaskDefinition":{"arn":"td:3","revision":3}}`, "", `{"arn":"td:3","definition":{"family":"cart"},"revision":3}`},
		{`{"deployedTaskDefinition":{"definition":{"family":"cart"},"arn":"td:4","revision":3}}`, "/deployedTaskDefinition", `{"arn":"td:3","definition":{"family":"cart"},"revision":3}`},
		{`{"clusterArn":"c"}`, "", `{"arn":"td:3","definition":{"family":"cart"},"revision":3}`},
	} {
		patch, violations := ecs.DecodePatch(strictjson.MustParse(c.report))
		if len(violations) > 0 {
			t.Fatal(violations)
		}
		refused := ""
		for _, v := range d.Unchanged(patch) {
			refused += v.Pointer
		}
		if refused == "" {
			d.Merge(patch)
		}
		if got := string(strictjson.Encode(d.DeployedTaskDefinition)); refused != c.refused || got != c.want {
			t.Errorf("%s: refused at %q, and it is %s, want %s", c.report, refused, got, c.want)
		}
	}
}
