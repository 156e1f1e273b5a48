package deployment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

const comparisonFields = `{ from { id } to { id } sameRelease fromVersion { version } toVersion { version }
	inputs { pointer kind before after immutable masked } artifact { pointer kind before after masked } }`

func TestChangesFromLiveAreTheComparisonWithTheLiveDeployment(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := publish(t, w, w.Fixture(t, w.Acme, "shop"), "2.0.0", shop)
		viewer := w.Acme.Tokens[actor.Viewer]
		deploy := func(inputs string) *ent.Deployment { return p.Finish(t, p.Deploy(t, p.Instance.ID, inputs), nil) }
		first := deploy(`{"name":"a","size":1}`)
		second := deploy(`{"name":"a","size":2}`)
		failed := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"name":"a","size":3}`), notStarted)
		live := deploy(`{"name":"a","size":4}`)
		other := p.NewInstance(t, "other")
		waits := p.Deploy(t, other.ID, `{"name":"b","size":9}`)

		list := w.GraphQL(t, viewer, `{ deployments(first: 10) { nodes { id changesFromLive `+comparisonFields+` } } }`, nil)
		got := map[string]any{}
		for i := range 5 {
			node := list.At(t, "data", "deployments", "nodes", i).(map[string]any)
			got[fmt.Sprint(node["id"])] = node["changesFromLive"]
		}
		for _, d := range []*ent.Deployment{first, second, failed, live} {
			r := w.GraphQL(t, viewer, `query($a: ID!, $b: ID!) { compareDeployments(fromId: $a, toId: $b) `+comparisonFields+` }`,
				map[string]any{"a": live.ID, "b": d.ID})
			want := r.At(t, "data", "compareDeployments")
			if diff := cmp.Diff(want, got[d.ID]); diff != "" || want == nil {
				t.Errorf("%s: %s\n%s", d.ID, r.Body, diff)
			}
		}
		if same := got[live.ID].(map[string]any); same["sameRelease"] != true || len(same["inputs"].([]any)) != 0 {
			t.Errorf("the live one: %v", same)
		}

		// Where nothing is live, all of it is added.
		all, _ := got[waits.ID].(map[string]any)
		if all == nil || all["from"] != nil || all["fromVersion"] != nil || all["sameRelease"] != false ||
			fmt.Sprint(all["inputs"]) != "[map[after:b before:<nil> immutable:true kind:ADDED masked:false pointer:/name] map[after:9 before:<nil> immutable:false kind:ADDED masked:false pointer:/size]]" ||
			len(all["artifact"].([]any)) == 0 {
			t.Errorf("%v", all)
		}
	})
}

func TestChangesFromLiveAreReadOnceForAPage(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "shop")
		viewer := w.Acme.Tokens[actor.Viewer]
		const query = `{ deployments(first: 50) { nodes { changesFromLive { from { createdBy { name } } toVersion { version } fromVersion { version } inputs { pointer } } } } }`
		count := func() int { return len(w.Statements(func() { w.GraphQL(t, viewer, query, nil) })) }
		p.Succeeded(t)
		p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), nil)
		w.GraphQL(t, viewer, query, nil) // reads the caller's own token too
		few := count()
		for i := range 6 {
			other := w.Fixture(t, w.Acme, fmt.Sprint("shop-", i))
			other.Succeeded(t)
			other.Finish(t, other.Deploy(t, other.Instance.ID, fmt.Sprintf(`{"image":"web:%d"}`, i)), nil)
		}
		// The page, its instances, what is live in them, the releases, the inputs of their versions, and either version.
		if many := count(); many != few || few != 7 {
			t.Errorf("%d statements for 2 deployments, %d for 14", few, many)
		}
	})
}

func TestAReleaseThatCannotBeProvedSpoilsItsOwnComparisonAlone(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "shop"), w.Fixture(t, w.Acme, "other")
		bad, good := p.Succeeded(t), other.Succeeded(t)
		p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), nil)
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE releases SET digest = 'sha256:00' WHERE id = $1`, *bad.ReleaseID); err != nil {
			t.Fatal(err)
		}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Deployment { changesFromLive { sameRelease } } } }`,
			map[string]any{"ids": []string{bad.ID, good.ID}})
		if got := fmt.Sprint(r.At(t, "data", "nodes")); got != "[map[changesFromLive:<nil>] map[changesFromLive:map[sameRelease:true]]]" || r.Code(t) != string(fault.ReleaseDigestMismatch) ||
			!strings.Contains(string(r.Body), `"path":["nodes",0,"changesFromLive"]`) {
			t.Errorf("%s", r.Body)
		}
	})
}
