package catalog_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/optional"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/test/worldtest"
)

func inputs(t *testing.T, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func define(t *testing.T, w *worldtest.World, name string) *ent.ModuleDefinition {
	t.Helper()
	d, _, err := w.Catalog.CreateDefinition(w.Acme.As(actor.Admin), catalog.NewDefinition{Name: name, Type: name, Status: "ACTIVE"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func publish(ctx context.Context, w *worldtest.World, definitionID, version string) (*ent.ModuleVersion, error) {
	v, _, err := w.Catalog.PublishVersion(ctx, module.NewVersion{DefinitionID: definitionID, Version: version, Kind: module.DeploymentTypeECS})
	return v, err
}

func latest(t *testing.T, w *worldtest.World, definitionID string) string {
	t.Helper()
	d := w.Store.Client.ModuleDefinition.GetX(w.Acme.As(actor.Viewer), definitionID)
	if d.LatestVersion == nil || d.LatestVersionID == nil {
		return ""
	}
	v := w.Store.Client.ModuleVersion.GetX(w.Acme.As(actor.Viewer), *d.LatestVersionID)
	if v.Version != *d.LatestVersion {
		t.Errorf("the latest version is %s, and its record that of %s", *d.LatestVersion, v.Version)
	}
	return v.Version
}

func TestLatestVersionIsTheHighestRelease(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := define(t, w, "web")
		if got := latest(t, w, d.ID); got != "" {
			t.Errorf("before any: %q", got)
		}
		for _, step := range []struct{ publish, latest string }{
			{"1.0.0-rc.2", "1.0.0-rc.2"},
			{"1.0.0-rc.10", "1.0.0-rc.10"},
			{"1.0.0-rc.9", "1.0.0-rc.10"},
			{"2.0.0-beta", "2.0.0-beta"},
			{"0.9.0", "0.9.0"},
			{"3.0.0-alpha", "0.9.0"},
			{"0.10.0", "0.10.0"},
			{"0.9.9", "0.10.0"},
			{"2.0.0", "2.0.0"},
			{"2.0.0-rc.1", "2.0.0"},
			{"2.0.0+build.7", "2.0.0"},
			{"10.0.0", "10.0.0"},
		} {
			if _, err := publish(w.Acme.As(actor.Admin), w, d.ID, step.publish); err != nil {
				t.Fatalf("%s: %v", step.publish, err)
			}
			if got := latest(t, w, d.ID); got != step.latest {
				t.Errorf("after %s: %s, want %s", step.publish, got, step.latest)
			}
		}
	})
}

func TestLatestVersionIsRightWhateverIsPublishedAtOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := define(t, w, "web")
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				version := semver.New(1, uint64(i*7%24), 0, map[bool]string{true: "rc.1"}[i%4 == 0], "").String()
				if _, err := publish(w.Acme.As(actor.Admin), w, d.ID, version); err != nil {
					t.Errorf("%s: %v", version, err)
				}
			})
		}
		all.Wait()
		if got := latest(t, w, d.ID); got != "1.23.0" {
			t.Errorf("%s, want 1.23.0", got)
		}
	})
}

func TestVersionIsPublishedOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d, other := define(t, w, "web"), define(t, w, "worker")
		if _, err := publish(w.Acme.As(actor.Admin), w, d.ID, "1.0.0"); err != nil {
			t.Fatal(err)
		}
		before := w.Rows(t)
		if v, err := publish(w.Acme.As(actor.Admin), w, d.ID, "1.0.0"); !fault.Is(err, fault.ModuleVersionTaken) || v != nil {
			t.Errorf("%v, %v", v, err)
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
		if _, err := publish(w.Acme.As(actor.Admin), w, other.ID, "1.0.0"); err != nil {
			t.Errorf("of another module: %v", err)
		}
	})
}

func TestVersionsThatCannotBePublished(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	d := define(t, w, "web")
	theirs := w.Fixture(t, w.Globex, "web")
	before := w.Rows(t)
	for name, c := range map[string]struct {
		role actor.Role
		in   module.NewVersion
		code fault.Code
		at   string
	}{
		"no version":         {actor.Admin, module.NewVersion{DefinitionID: d.ID, Version: "1.0", Kind: module.DeploymentTypeECS}, fault.RequestInvalid, "/version"},
		"v in front":         {actor.Admin, module.NewVersion{DefinitionID: d.ID, Version: "v1.0.0", Kind: module.DeploymentTypeECS}, fault.RequestInvalid, "/version"},
		"unknown kind":       {actor.Admin, module.NewVersion{DefinitionID: d.ID, Version: "1.0.0", Kind: "aws:lambda"}, fault.RequestInvalid, "/deploymentType"},
		"malformed input":    {actor.Admin, module.NewVersion{DefinitionID: d.ID, Version: "1.0.0", Kind: module.DeploymentTypeECS, Inputs: inputs(t, `[{"id":"a"}]`)}, fault.RequestInvalid, "/inputs/0"},
		"equal ids":          {actor.Admin, module.NewVersion{DefinitionID: d.ID, Version: "1.0.0", Kind: module.DeploymentTypeECS, Inputs: inputs(t, `[{"id":"a","type":"string","label":"A"},{"id":"a","type":"text","label":"B"}]`)}, fault.ModuleVersionRuleBroken, "/inputs/1"},
		"developer":          {actor.Developer, module.NewVersion{DefinitionID: d.ID, Version: "1.0.0", Kind: module.DeploymentTypeECS}, fault.ModuleDefinitionForbidden, ""},
		"foreign definition": {actor.Admin, module.NewVersion{DefinitionID: theirs.Definition.ID, Version: "1.0.0", Kind: module.DeploymentTypeECS}, fault.ModuleDefinitionNotFound, ""},
	} {
		_, _, err := w.Catalog.PublishVersion(w.Acme.As(c.role), c.in)
		if !fault.Is(err, c.code) || c.at != "" && !hasViolation(err, c.at) {
			t.Errorf("%s: %v, want %s at %q", name, err, c.code, c.at)
		}
	}
	if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
		t.Error(diff)
	}
}

func TestWhoDeprecatesAVersionAnewIsTheOneWhoDid(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		withoutID := *actor.From(w.Acme.As(actor.Admin))
		withoutID.ID, withoutID.Name = "", "other"
		for _, ctx := range []context.Context{w.Acme.As(actor.Admin), actor.With(t.Context(), &withoutID), w.Acme.As(actor.Admin)} {
			a := actor.From(ctx)
			v, err := w.Catalog.DeprecateVersion(ctx, catalog.Deprecate{VersionID: p.Version.ID, Reason: "It leaks, says " + a.Name})
			if err != nil || *v.DeprecatedBy != a.Name || optional.OrZero(v.DeprecatedByActor) != a.ID {
				t.Errorf("%s: %v, %v", a.Name, v, err)
			}
		}
	})
}

func TestADeprecatedVersionIsWarnedOfAndDeployedAllTheSame(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		ctx := w.Acme.As(actor.Admin)
		next, _, err := w.Catalog.PublishVersion(ctx, module.NewVersion{DefinitionID: p.Definition.ID, Version: "1.3.0", Kind: module.DeploymentTypeECS})
		if err != nil {
			t.Fatal(err)
		}
		in := catalog.Deprecate{VersionID: p.Version.ID, Reason: "It leaks", SuccessorID: &next.ID}
		for range 2 { // the second changes nothing
			if _, err := w.Catalog.DeprecateVersion(ctx, in); err != nil {
				t.Fatal(err)
			}
		}
		for _, successor := range []string{p.Version.ID, other.Version.ID} {
			_, err := w.Catalog.DeprecateVersion(ctx, catalog.Deprecate{VersionID: p.Version.ID, Reason: "R", SuccessorID: &successor})
			if !fault.Is(err, fault.RequestInvalid) || !strings.Contains(fmt.Sprintf("%+v", err), "successor") {
				t.Errorf("the successor %s: %+v", successor, err)
			}
		}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!, $instance: ID!) {
			moduleVersion(id: $id) { deprecation { reason createdBy { name } createdAt successor { version } } moduleDefinition { latestVersion } }
			validateInputs(input: {moduleVersionId: $id, moduleInstanceId: $instance, values: {image: "web:1"}}) { valid warnings { pointer rule message } } }`,
			map[string]any{"id": p.Version.ID, "instance": p.Instance.ID})
		for _, want := range []string{`"reason":"It leaks"`, `"createdBy":{"name":"admin"}`, `"successor":{"version":"1.3.0"}`, `"latestVersion":"1.4.0"`,
			`"valid":true`, `"pointer":"/moduleVersionId","rule":"version_deprecated"`} {
			if !strings.Contains(string(r.Body), want) {
				t.Errorf("no %s in %s", want, r.Body)
			}
		}
		p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		for range 2 {
			v, err := w.Catalog.UndeprecateVersion(ctx, p.Version.ID)
			if err != nil || v.DeprecatedAt != nil || v.SuccessorID != nil {
				t.Errorf("%v, %v", v, err)
			}
		}
		told := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(p.Version.ID), auditevent.ActionNEQ("publishModuleVersion")).CountX(ctx)
		if told != 2 {
			t.Errorf("%d events", told)
		}
	})
}
