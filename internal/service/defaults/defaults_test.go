package defaults_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

const region = `{"id":"region","type":"string","label":"Region"}`

func parsed(t *testing.T, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func create(t *testing.T, w *worldtest.World, o *worldtest.Org, givenID string) *ent.DefaultValueDefinition {
	t.Helper()
	d, _, err := w.Defaults.Create(o.As(actor.Admin), defaults.New{GivenID: givenID, Name: givenID, Schema: inputprop.NewRawProperty(parsed(t, region))})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestGivenIDIsTakenOncePerOrganization(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		create(t, w, w.Acme, "region")
		create(t, w, w.Globex, "region")
		before := w.Rows(t)
		d, _, err := w.Defaults.Create(w.Acme.As(actor.Admin), defaults.New{GivenID: "region", Name: "Other", Schema: inputprop.NewRawProperty(parsed(t, region))})
		if !fault.Is(err, fault.DefaultValueDefinitionGivenIDTaken) || d != nil {
			t.Errorf("%v, %v", d, err)
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUpdateChangesTheFieldsGivenAndRaisesTheVersion(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		d := create(t, w, w.Acme, "region")
		name, description, nothing := "Home", "Where it runs.", ""
		schema := inputprop.NewRawProperty(parsed(t, `{"id":"region","type":"number","label":"Number"}`))
		for i, p := range []defaults.Patch{{Name: &name}, {Description: &description}, {Schema: &schema}, {Description: &nothing}} {
			got, err := updated(w.Defaults.Update(admin, d.ID, p))
			if err != nil || got.Version != d.Version+int32(i)+1 || got.UpdatedAt.Before(d.UpdatedAt) || !got.CreatedAt.Equal(d.CreatedAt) {
				t.Fatalf("%d: %v, %v", i, got, err)
			}
		}
		got, err := w.Defaults.Definition(admin, d.ID)
		if err != nil || got.Name != name || got.Description != nil || got.GivenID != "region" || !strings.Contains(string(got.Schema.JSON()), `"number"`) {
			t.Errorf("%v, %v", got, err)
		}
		before := w.Rows(t)
		if same, err := updated(w.Defaults.Update(admin, d.ID, defaults.Patch{})); err != nil || same.Version != got.Version {
			t.Errorf("a patch of nothing: %v, %v", same, err)
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Errorf("a patch of nothing: %s", diff)
		}
	})
}

func TestOfUpdatesOfOneVersionOneIsCarriedOut(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := create(t, w, w.Acme, "region")
		var done atomic.Int32
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				name := "Home"
				_, err := w.Defaults.Update(w.Acme.As(actor.Admin), d.ID, defaults.Patch{Name: &name, Version: &d.Version})
				if err == nil {
					done.Add(1)
				} else if !fault.Is(err, fault.RequestPreconditionFailed) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		got, err := w.Defaults.Definition(w.Acme.As(actor.Admin), d.ID)
		if done.Load() != 1 || err != nil || got.Version != d.Version+1 {
			t.Errorf("%d were carried out: %v, %v", done.Load(), got, err)
		}
	})
}

func TestDefinitionsThatCannotBeChanged(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		mine, theirs := create(t, w, w.Acme, "mine"), create(t, w, w.Globex, "theirs")
		before := w.Rows(t)
		nothing, name := "", "New"
		malformed := inputprop.NewRawProperty(parsed(t, `{"id":"a","type":"text"}`))
		broken := inputprop.NewRawProperty(parsed(t, `{"id":"a","type":"number","label":"A","min":5,"max":1}`))
		for call, c := range map[string]struct {
			role  actor.Role
			id    string
			patch defaults.Patch
			code  fault.Code
			at    string
		}{
			"foreign":            {actor.Admin, theirs.ID, defaults.Patch{Name: &name}, fault.DefaultValueDefinitionNotFound, ""},
			"foreign, by viewer": {actor.Viewer, theirs.ID, defaults.Patch{Name: &name}, fault.DefaultValueDefinitionNotFound, ""},
			"absent":             {actor.Admin, id.New(id.DefaultValueDefinition), defaults.Patch{Name: &name}, fault.DefaultValueDefinitionNotFound, ""},
			"another kind of id": {actor.Admin, w.Acme.ID, defaults.Patch{Name: &name}, fault.DefaultValueDefinitionNotFound, ""},
			"by a developer":     {actor.Developer, mine.ID, defaults.Patch{Name: &name}, fault.DefaultValueDefinitionForbidden, ""},
			"no name":            {actor.Admin, mine.ID, defaults.Patch{Name: &nothing}, fault.RequestInvalid, "/name"},
			"malformed schema":   {actor.Admin, mine.ID, defaults.Patch{Schema: &malformed}, fault.RequestInvalid, "/schema"},
			"broken rule":        {actor.Admin, mine.ID, defaults.Patch{Schema: &broken}, fault.DefaultValueDefinitionRuleBroken, "/schema"},
		} {
			d, err := updated(w.Defaults.Update(w.Acme.As(c.role), c.id, c.patch))
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != c.code || d != nil {
				t.Errorf("%s: %v, %v, want %s", call, d, err, c.code)
			} else if c.at != "" && (len(f.Violations) == 0 || !strings.HasPrefix(f.Violations[0].Pointer, c.at)) {
				t.Errorf("%s: %v, want it at %s", call, f.Violations, c.at)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
		if got, err := w.Defaults.Definition(w.Globex.As(actor.Viewer), theirs.ID); err != nil || got.Version != 1 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestDefinitionThatAVersionNamesIsNotDeleted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		used, free, theirs := create(t, w, w.Acme, "region"), create(t, w, w.Acme, "zone"), create(t, w, w.Globex, "region")
		p := w.Fixture(t, w.Acme, "web")
		var versions []string
		for _, number := range []string{"2.0.0", "2.1.0"} {
			v, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{DefinitionID: p.Definition.ID, Version: number, Kind: module.DeploymentTypeECS,
				Inputs: parsed(t, `[{"id":"places","type":"object_array","label":"Places","item_inputs":[{"id":"region","type":"string","label":"Region",
					"values":{"source":"default_value_definition","params":{"givenId":"region"}}}]}]`)})
			if err != nil {
				t.Fatal(err)
			}
			versions = append(versions, v.ID)
		}
		before := w.Rows(t)
		_, err := w.Defaults.Delete(w.Acme.As(actor.Admin), used.ID)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.DefaultValueDefinitionInUse {
			t.Fatalf("%v", err)
		}
		if diff := cmp.Diff([]fault.Section{{Title: "Module versions", Render: fault.RenderList, Items: versions}}, f.Details); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
		if _, err := w.Defaults.Delete(w.Acme.As(actor.Admin), free.ID); err != nil {
			t.Errorf("one that none names: %v", err)
		}
		if _, err := w.Defaults.Delete(w.Globex.As(actor.Admin), theirs.ID); err != nil {
			t.Errorf("one that only another's versions name: %v", err)
		}
	})
}

func TestDeletionIsForAdminsAndForOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		mine, theirs := create(t, w, w.Acme, "mine"), create(t, w, w.Globex, "theirs")
		for name, c := range map[string]struct {
			role actor.Role
			id   string
			code fault.Code
		}{
			"developer": {actor.Developer, mine.ID, fault.DefaultValueDefinitionForbidden},
			"foreign":   {actor.Admin, theirs.ID, fault.DefaultValueDefinitionNotFound},
		} {
			if _, err := w.Defaults.Delete(w.Acme.As(c.role), c.id); !fault.Is(err, c.code) {
				t.Errorf("%s: %v", name, err)
			}
		}
		deleted, err := w.Defaults.Delete(w.Acme.As(actor.Admin), mine.ID)
		if err != nil {
			t.Fatal(err)
		}
		if deleted.ID != mine.ID || deleted.GivenID != mine.GivenID || deleted.Name != mine.Name {
			t.Errorf("it was %v, and is told as %v", mine, deleted)
		}
		if _, err := w.Defaults.Delete(w.Acme.As(actor.Admin), mine.ID); !fault.Is(err, fault.DefaultValueDefinitionNotFound) {
			t.Errorf("again: %v", err)
		}
		list, err := w.Defaults.Definitions(w.Globex.As(actor.Viewer), defaults.Filter{GivenID: &theirs.GivenID}, page.Args{})
		if err != nil || len(list.Edges) != 1 {
			t.Errorf("%v, %v", list, err)
		}
		got := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(mine.ID)).
			Order(ent.Asc(auditevent.FieldCreatedAt)).Select(auditevent.FieldAction).StringsX(w.Acme.As(actor.Admin))
		if diff := cmp.Diff([]string{"createDefaultValueDefinition", "deleteDefaultValueDefinition"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// updated is the definition that an update left.
func updated(o *defaults.Outcome, err error) (*ent.DefaultValueDefinition, error) {
	if err != nil {
		return nil, err
	}
	return o.Definition, nil
}

func TestSchemaThatIsChangedMeanwhileIsNotTakenForTheSame(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin, d := w.Acme.As(actor.Admin), create(t, w, w.Acme, "region")
		other, same, name := inputprop.NewRawProperty(parsed(t, `{"id":"zone","type":"string","label":"Zone"}`)), inputprop.NewRawProperty(parsed(t, region)), "Home"
		var meanwhile sync.Once
		late := *w.Defaults
		late.Journal = journal.New(w.Store, func() time.Time {
			meanwhile.Do(func() {
				if _, err := w.Defaults.Update(admin, d.ID, defaults.Patch{Schema: &other}); err != nil {
					t.Error(err)
				}
			})
			return store.Now()
		}, id.New)
		o, err := late.Update(admin, d.ID, defaults.Patch{Name: &name, Schema: &same})
		if err != nil || o.Definition.Version != 3 || o.Definition.Name != name || !o.Definition.Schema.Equal(d.Schema) || len(o.Changes) != 2 {
			t.Errorf("%+v, %v, want the name and the schema of the last patch", o, err)
		}
	})
}
