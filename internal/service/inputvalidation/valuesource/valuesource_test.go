package valuesource_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

func TestEverySourceListsWhatTheOrganizationHas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		one, two := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "two")
		foreign := w.Fixture(t, w.Globex, "theirs")
		more := one.NewInstance(t, "more")
		define(t, w, w.Acme, "zone", `["a",{"value":"b","label":"B"}]`)
		define(t, w, w.Globex, "zone", `["secret"]`)
		viewer := w.Acme.Tokens[actor.Viewer]
		for _, c := range []struct {
			source string
			params params
			want   []string
		}{
			{"module_types", nil, []string{"one", "two"}},
			{"module_instances", nil, []string{one.Instance.ID, two.Instance.ID, more.ID}},
			{"module_instances", params{"type": "one"}, []string{one.Instance.ID, more.ID}},
			{"module_instances", params{"environmentId": two.Environment.ID}, []string{two.Instance.ID}},
			{"module_instances", params{"type": "one", "environmentId": two.Environment.ID}, nil},
			{"module_instances", params{"type": "theirs"}, nil},
			{"module_instances", params{"environmentId": foreign.Environment.ID}, nil},
			{"projects", nil, []string{one.Project.ID, two.Project.ID}},
			{"environments", nil, []string{one.Environment.ID, two.Environment.ID}},
			{"environments", params{"projectId": one.Project.ID}, []string{one.Environment.ID}},
			{"environments", params{"projectId": foreign.Project.ID}, nil},
			{"default_value_definition", params{"givenId": "zone"}, []string{"a", "b"}},
		} {
			wants(t, fmt.Sprint(c.source, c.params), listed(t, w, viewer, c.source, c.params), c.want...)
		}
		wants(t, "the other organization", listed(t, w, w.Globex.Tokens[actor.Viewer], "projects", nil), foreign.Project.ID)
		if label := values(t, w, viewer, "module_types", nil, 0, "").At(t, "data", "dynamicValues", "nodes", 0, "label"); label != "one" && label != "two" {
			t.Errorf("the label is %v", label)
		}
	})
}

func TestEverySourceIsNamed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ dynamicSources { name description params { name required } } }`, nil)
	var names []string
	for i := range r.At(t, "data", "dynamicSources").([]any) {
		names = append(names, r.Text(t, "data", "dynamicSources", i, "name"))
		if r.Text(t, "data", "dynamicSources", i, "description") == "" {
			t.Errorf("%s is not described", names[i])
		}
	}
	want := []string{"default_value_definition", "environments", "module_instances", "module_types", "projects"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestOptionsThatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Fixture(t, w.Acme, "web")
		define(t, w, w.Globex, "theirs", `["secret"]`)
		viewer := w.Acme.Tokens[actor.Viewer]
		for want, r := range map[string]worldtest.Response{
			"unknown_source /source":       values(t, w, viewer, "planets", nil, 0, ""),
			"unknown_param /params/size":   values(t, w, viewer, "projects", params{"size": "1"}, 0, ""),
			"unknown_param /params/a~1b":   values(t, w, viewer, "module_instances", params{"a/b": "1", "type": "web"}, 0, ""),
			"required /params/givenId":     values(t, w, viewer, "default_value_definition", nil, 0, ""),
			"unknown_source /source again": values(t, w, viewer, "", nil, 0, ""),
		} {
			rule, pointer, _ := strings.Cut(strings.TrimSuffix(want, " again"), " ")
			metadata, _ := r.Refusal(t)["metadata"].(map[string]any)
			found, _ := metadata["violations"].([]any)
			if len(found) != 1 || r.Code(t) != string(fault.RequestInvalid) {
				t.Errorf("%s: %s", want, r.Body)
				continue
			}
			v := found[0].(map[string]any)
			if v["rule"] != rule || !strings.HasSuffix(fmt.Sprint(v["pointer"]), pointer) {
				t.Errorf("want %s: %s", want, r.Body)
			}
		}
		for _, p := range []params{{"projectId": 1}, {"projectId": []any{}}} {
			if r := values(t, w, viewer, "environments", p, 0, ""); r.Code(t) != string(fault.RequestInvalid) {
				t.Errorf("%v: %s", p, r.Body)
			}
		}
		if r := w.GraphQL(t, viewer, ask, map[string]any{"source": "projects", "params": []any{}}); r.Code(t) != string(fault.RequestInvalid) {
			t.Errorf("a list of params: %s", r.Body)
		}
		for _, givenID := range []string{"theirs", "absent", ""} {
			if r := values(t, w, viewer, "default_value_definition", params{"givenId": givenID}, 0, ""); r.Code(t) != string(fault.DefaultValueDefinitionNotFound) {
				t.Errorf("%q: %s", givenID, r.Body)
			}
		}
		for _, source := range []string{"module_types", "projects", "environments", "module_instances", "default_value_definition", "planets"} {
			if r := values(t, w, "", source, params{"givenId": "theirs"}, 0, ""); r.Code(t) != string(fault.RequestUnauthenticated) {
				t.Errorf("anonymous, %s: %s", source, r.Body)
			}
		}
		w.Fixture(t, w.Acme, "more")
		cursor := values(t, w, viewer, "projects", nil, 1, "").Text(t, "data", "dynamicValues", "pageInfo", "endCursor")
		for source, token := range map[string]string{"environments": viewer, "projects": w.Globex.Tokens[actor.Viewer]} {
			if r := values(t, w, token, source, nil, 1, cursor); r.Code(t) != string(fault.RequestCursorInvalid) {
				t.Errorf("a cursor of another list: %s", r.Body)
			}
		}
	})
}
