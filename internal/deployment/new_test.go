package deployment_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"slipway/ent/auditevent"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/deployment"
	"slipway/internal/fault"
	"slipway/internal/strictjson"
	"slipway/internal/test/worldtest"
)

// newMembers are two values for each member of New, of which the first stands in what is stored. A member that is added to
// New has to be added here.
func newMembers(t *testing.T, w *worldtest.World, p *worldtest.Fixture) map[string][2]any {
	t.Helper()
	version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), catalog.NewVersion{
		DefinitionID: p.Definition.ID, Version: "1.5.0", Kind: catalog.DeploymentTypeECS, Inputs: strictjson.MustParse(worldtest.Inputs),
	})
	if err != nil {
		t.Fatal(err)
	}
	cluster := func(name string) *strictjson.Node {
		return strictjson.MustParse(`{"clusterArn":"arn:aws:ecs:eu-west-1:123456789012:cluster/` + name + `"}`)
	}
	return map[string][2]any{
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
		"Reason":          {new("a stored reason"), new("another reason")},
		"PipelineRunID":   {new("a-stored-run"), new("another-run")},
		"StepExecutionID": {new("a-stored-step"), new("another-step")},
		"ExpectedLiveID":  {new(p.Succeeded(t).ID), new("dep_other")},
		"IdempotencyKey":  {new("stored-key"), new("other-key")},
		"ExpectedPlan":    {(*string)(nil), new(strings.Repeat(".0123456789abcdef", 6)[1:])},
		"OverrideReason":  {(*string)(nil), new("the site is down")},
	}
}

// newWith returns the request of the first values, but for one member.
func newWith(t *testing.T, members map[string][2]any, changed string, value any) (in deployment.New) {
	t.Helper()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[deployment.New]()) {
		name := field.Name
		if field.Anonymous || !field.IsExported() {
			continue
		}
		values, known := members[name]
		if !known {
			t.Fatalf("say what the member %s of New may be", name)
		}
		given := values[0]
		if name == changed {
			given = value
		}
		reflect.ValueOf(&in).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(given))
	}
	return in
}

func TestEveryMemberOfANewDeploymentIsStored(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Developer)
		members := newMembers(t, w, w.Fixture(t, w.Acme, "web"))
		created, err := w.Deploy.Create(ctx, newWith(t, members, "", nil))
		if err != nil {
			t.Fatal(err)
		}
		stored := w.Store.Client.Deployment.GetX(ctx, created.ID)
		text, err := json.Marshal([]any{
			stored, stored.Data.JSON(),
			w.Store.Client.Release.GetX(ctx, *stored.ReleaseID), w.Store.Client.IdempotencyKey.Query().OnlyX(ctx),
			w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(created.ID)).OnlyX(w.Acme.As(actor.Admin)),
		})
		if err != nil {
			t.Fatal(err)
		}
		delete(members, "ExpectedLiveID") // a condition, which nothing keeps
		delete(members, "WithoutInputs")  // what is stored lacks them
		delete(members, "ExpectedPlan")   // a condition
		delete(members, "OverrideReason") // of which nothing is kept where all rules are met
		for name, values := range members {
			if want := strings.Trim(inner(values[0]), "{}"); !strings.Contains(unescaped(string(text)), want) {
				t.Errorf("%s: %s is stored nowhere in %s", name, want, text)
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

func TestEveryMemberOfANewDeploymentMakesAnotherRequest(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Developer)
		members := newMembers(t, w, w.Fixture(t, w.Acme, "web"))
		first, err := w.Deploy.Create(ctx, newWith(t, members, "", nil))
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.Deploy.Create(ctx, newWith(t, members, "", nil))
		if err != nil || again.ID != first.ID {
			t.Errorf("the same request: %v, %v", again, err)
		}
		for name, values := range members {
			if name == "IdempotencyKey" {
				continue
			}
			changed := []any{values[1]}
			if kind := reflect.TypeOf(values[1]).Kind(); kind == reflect.Pointer && name != "Inputs" && name != "Artifact" && !reflect.ValueOf(values[0]).IsNil() {
				changed = append(changed, reflect.Zero(reflect.TypeOf(values[1])).Interface())
			}
			for _, value := range changed {
				_, err := w.Deploy.Create(ctx, newWith(t, members, name, value))
				if !fault.Is(err, fault.RequestIdempotencyReused) {
					t.Errorf("%s is %v, under the same key: %v", name, value, err)
				}
			}
		}
	})
}

func TestEveryTextOfANewDeploymentIsJudged(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		members := newMembers(t, w, w.Fixture(t, w.Acme, "web"))
		judged := 0
		for name, values := range members {
			if _, isText := values[0].(*string); !isText || name == "InputsFrom" || strings.HasSuffix(name, "ID") {
				continue
			}
			judged++
			_, err := w.Deploy.Create(w.Acme.As(actor.Developer), newWith(t, members, name, new("rings\u0007")))
			if violations := violationsOf(err); len(violations) != 1 || !strings.EqualFold(violations[0].Pointer, "/"+name) {
				t.Errorf("%s with U+0007: %v", name, err)
			}
		}
		if judged < 4 {
			t.Errorf("only %d texts", judged)
		}
	})
}

// A request that was made before an upgrade is the same request after it.
func TestAFingerprintStaysWhatItWas(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	_, err := w.Deploy.Create(w.Acme.As(actor.Developer), deployment.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID, Description: new("first"), Request: deployment.Request{IdempotencyKey: new("key")},
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
