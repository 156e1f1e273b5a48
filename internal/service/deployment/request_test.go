package deployment_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/ent/idempotencykey"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// requestKind is a type of request for a deployment.
type requestKind struct {
	of reflect.Type
	// members are two values for each member, of which the first stands in what is stored. A member that is added to the type
	// has to be added here.
	members map[string][2]any
	// unkept are the members that nothing keeps.
	unkept []string
	ask    func(in any) (*ent.Deployment, error)
}

// requestKinds are those that there are, each at a place of its own.
func requestKinds(t *testing.T, w *worldtest.World) map[string]requestKind {
	t.Helper()
	developer, admin := w.Acme.As(actor.Developer), w.Acme.As(actor.Admin)
	return map[string]requestKind{
		"creation": {reflect.TypeFor[propose.New](), newMembers(t, w, w.Fixture(t, w.Acme, "web")), []string{"WithoutInputs"}, // what is stored lacks them
			func(in any) (*ent.Deployment, error) {
				return worldtest.Unwarned(w.Deploy.Propose.Create(developer, in.(propose.New)))
			}},
		"promotion": {reflect.TypeFor[propose.Promotion](), promotionMembers(t, w), nil,
			func(in any) (*ent.Deployment, error) {
				d, _, err := w.Deploy.Propose.Promote(developer, in.(propose.Promotion))
				return d, err
			}},
		"replay": {reflect.TypeFor[propose.Replay](), replayMembers(t, w.Fixture(t, w.Acme, "replayed")), nil,
			func(in any) (*ent.Deployment, error) {
				return worldtest.Unwarned(w.Deploy.Propose.Rollback(developer, in.(propose.Replay)))
			}},
		"destroy": {reflect.TypeFor[propose.Destroy](), destroyMembers(t, w.Fixture(t, w.Acme, "destroyed")), nil,
			func(in any) (*ent.Deployment, error) {
				return worldtest.Unwarned(w.Deploy.Propose.Destroy(admin, in.(propose.Destroy)))
			}},
	}
}

// requestMembers are those of Request, with others.
func requestMembers(key, live string, others map[string][2]any) map[string][2]any {
	maps.Copy(others, map[string][2]any{
		"Reason":         {new("a stored reason"), new("another reason")},
		"ExpectedLiveID": {&live, new("dep_other")},
		"IdempotencyKey": {&key, new("other-key")},
		"ExpectedPlan":   {(*string)(nil), new(strings.Repeat(".0123456789abcdef", 6)[1:])},
		"OverrideReason": {(*string)(nil), new("the site is down")},
	})
	return others
}

func newMembers(t *testing.T, w *worldtest.World, p *worldtest.Fixture) map[string][2]any {
	t.Helper()
	version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: p.Definition.ID, Version: "1.5.0", Kind: module.DeploymentTypeECS, Inputs: strictjson.MustParse(worldtest.Inputs),
	})
	if err != nil {
		t.Fatal(err)
	}
	cluster := func(name string) *strictjson.Node {
		return strictjson.MustParse(`{"clusterArn":"arn:aws:ecs:eu-west-1:123456789012:cluster/` + name + `"}`)
	}
	others := map[string][2]any{
		"InstanceID":      {p.Instance.ID, p.NewInstance(t, "other").ID},
		"VersionID":       {p.Version.ID, version.ID},
		"InputsFrom":      {new(p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:0"}`), broken).ID), new(p.Failed(t).ID)},
		"WithoutInputs":   {[]string{"replicas"}, []string{"image"}},
		"Inputs":          {strictjson.MustParse(`{"image":"stored:1"}`), strictjson.MustParse(`{"image":"other:1"}`)},
		"Artifact":        {strictjson.MustParse(`{"revision":777}`), strictjson.MustParse(`{"revision":778}`)},
		"Data":            {cluster("stored"), cluster("other")},
		"Description":     {new("a stored description"), new("another")},
		"ResourceARN":     {new("arn:stored"), new("arn:other")},
		"ResourceName":    {new("stored-name"), new("other")},
		"PipelineRunID":   {new("a-stored-run"), new("another-run")},
		"StepExecutionID": {new("a-stored-step"), new("another-step")},
	}
	return requestMembers("key of a creation", p.Succeeded(t).ID, others)
}

// promotionMembers are of a promotion to an instance that keeps an input and the artifact of its own.
func promotionMembers(t *testing.T, w *worldtest.World) map[string][2]any {
	t.Helper()
	p := w.Fixture(t, w.Acme, "promoted")
	to := p.NewInstance(t, "to")
	raw(t, w, `UPDATE module_instances SET own_inputs = '["replicas","artifact"]' WHERE id = '`+to.ID+`'`)
	live := p.Finish(t, p.Deploy(t, to.ID, `{"image":"web:0"}`), nil)
	return requestMembers("key of a promotion", live.ID, map[string][2]any{
		"SourceID":        {p.Succeeded(t).ID, p.Succeeded(t).ID},
		"InstanceID":      {to.ID, p.NewInstance(t, "other").ID},
		"Inputs":          {strictjson.MustParse(`{"replicas":7}`), strictjson.MustParse(`{"replicas":8}`)},
		"Artifact":        {strictjson.MustParse(`{"revision":777}`), strictjson.MustParse(`{"revision":778}`)},
		"PipelineRunID":   {new("a-stored-run"), new("another-run")},
		"StepExecutionID": {new("a-stored-step"), new("another-step")},
	})
}

func replayMembers(t *testing.T, p *worldtest.Fixture) map[string][2]any {
	t.Helper()
	target, live := p.Succeeded(t), p.Succeeded(t)
	return requestMembers("key of a replay", live.ID, map[string][2]any{"SourceID": {target.ID, live.ID}})
}

func destroyMembers(t *testing.T, p *worldtest.Fixture) map[string][2]any {
	t.Helper()
	return requestMembers("key of a destroy", p.Succeeded(t).ID, map[string][2]any{
		"InstanceID":            {p.Instance.ID, p.NewInstance(t, "other").ID},
		"AcknowledgeDependents": {true, false},
	})
}

// with returns a request of the first values, but for one member.
func (k requestKind) with(t *testing.T, changed string, value any) any {
	t.Helper()
	in := reflect.New(k.of).Elem()
	for _, field := range reflect.VisibleFields(k.of) {
		name := field.Name
		if field.Anonymous {
			continue
		}
		values, known := k.members[name]
		if !known {
			t.Fatalf("say what the member %s of %s may be", name, k.of)
		}
		given := values[0]
		if name == changed {
			given = value
		}
		in.FieldByIndex(field.Index).Set(reflect.ValueOf(given))
	}
	return in.Interface()
}

func TestEveryMemberOfARequestIsStored(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Developer)
		for kind, k := range requestKinds(t, w) {
			created, err := k.ask(k.with(t, "", nil))
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			stored := w.Store.Client.Deployment.GetX(ctx, created.ID)
			text, err := json.Marshal([]any{
				stored, stored.Data.JSON(),
				w.Store.Client.Release.GetX(ctx, *stored.ReleaseID), w.Store.Client.IdempotencyKey.Query().Where(idempotencykey.DeploymentID(created.ID)).OnlyX(ctx),
				w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(created.ID)).OnlyX(w.Acme.As(actor.Admin)),
			})
			if err != nil {
				t.Fatal(err)
			}
			// ExpectedLiveID and ExpectedPlan are conditions, and of OverrideReason nothing is kept if all rules are met.
			unkept := append(k.unkept, "ExpectedLiveID", "ExpectedPlan", "OverrideReason")
			for name, values := range k.members {
				if slices.Contains(unkept, name) {
					continue
				}
				if want := strings.Trim(inner(values[0]), "{}"); !strings.Contains(unescaped(string(text)), want) {
					t.Errorf("%s, %s: %s is stored nowhere in %s", kind, name, want, text)
				}
			}
		}
	})
}

// inner returns the text of a member's value, of an object what is in it.
func inner(value any) string {
	switch v := value.(type) {
	case *strictjson.Node:
		return string(strictjson.Canonical(v))
	case *string:
		return *v
	default:
		return fmt.Sprint(v)
	}
}

// unescaped returns JSON in which the JSON of texts can be found.
func unescaped(text string) string { return strings.ReplaceAll(text, `\"`, `"`) }

func TestEveryMemberOfARequestMakesAnotherRequest(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for kind, k := range requestKinds(t, w) {
			first, err := k.ask(k.with(t, "", nil))
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			again, err := k.ask(k.with(t, "", nil))
			if err != nil || again.ID != first.ID {
				t.Errorf("%s, the same request: %v, %v", kind, again, err)
			}
			for name, values := range k.members {
				if name == "IdempotencyKey" {
					continue
				}
				changed := []any{values[1]}
				isOptional := reflect.TypeOf(values[1]).Kind() == reflect.Pointer && name != "Inputs" && name != "Artifact"
				if isOptional && !reflect.ValueOf(values[0]).IsNil() {
					changed = append(changed, reflect.Zero(reflect.TypeOf(values[1])).Interface())
				}
				for _, value := range changed {
					if _, err := k.ask(k.with(t, name, value)); !fault.Is(err, fault.RequestIdempotencyReused) {
						t.Errorf("%s, %s is %v, under the same key: %v", kind, name, value, err)
					}
				}
			}
		}
	})
}

func TestEveryTextOfARequestIsJudged(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for kind, k := range requestKinds(t, w) {
			judged := 0
			for name, values := range k.members {
				if _, isText := values[0].(*string); !isText || name == "InputsFrom" || name == "ExpectedLiveID" {
					continue
				}
				judged++
				_, err := k.ask(k.with(t, name, new("rings\u0007")))
				violations := violationsOf(err)
				if len(violations) == 0 || !strings.EqualFold(violations[0].Pointer, "/"+name) {
					t.Errorf("%s, %s with U+0007: %v", kind, name, err)
				}
			}
			if judged < 4 {
				t.Errorf("%s: only %d texts", kind, judged)
			}
		}
	})
}

// A request that was made before an upgrade is the same request after it.
func TestAFingerprintStaysWhatItWas(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	_, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID, Description: new("first"), Request: admission.Request{IdempotencyKey: new("key")},
		Inputs: strictjson.MustParse(`{"replicas":1.0,"image":"web:1"}`), Artifact: strictjson.MustParse(`{"revision":7}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	request := `{"createDeployment":["` + p.Instance.ID + `","` + p.Version.ID +
		`",{"image":"web:1","replicas":1},{"revision":7},null,"first",null,null]}`
	want := fmt.Sprintf("2:%x", sha256.Sum256([]byte(request)))
	if key := w.Store.Client.IdempotencyKey.Query().OnlyX(w.Acme.As(actor.Viewer)); key.RequestHash != want {
		t.Errorf("the fingerprint is %s, want %s, that of %s", key.RequestHash, want, request)
	}
}
