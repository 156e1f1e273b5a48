package deployment_test

import (
	"fmt"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// links is how long the chain is.
const links = 200

// taken is what a request has taken.
type taken struct {
	statements int
	cost       string
}

// took sends an operation about an instance, and returns what it took.
func took(t *testing.T, w *worldtest.World, query, instanceID string) (it taken) {
	t.Helper()
	it.statements = len(w.Statements(func() {
		r := w.GraphQL(t, w.Acme.Tokens[actor.Developer], query, map[string]any{"id": instanceID})
		if r.At(t, "errors") != nil {
			t.Fatalf("%s", r.Body)
		}
		it.cost = fmt.Sprint(r.At(t, "extensions", "cost", "used"))
	}))
	return it
}

// Each instance of a chain reads an output of the one before it. What one of them takes does not depend on how many there
// are before or behind it, and neither does it if the first reads the last.
func TestAChainOfReferencesCostsWhatItsOwnLevelDoes(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "link")
		v := newVersion(t, w, p, "2.0.0", `[{"id":"of","type":"$ref:link","label":"Of","mapped_inputs":[
			{"id":"at","type":"string","label":"At","default":"${{ ref.stack.output.at }}"}]}]`)
		deploy := func(i *ent.ModuleInstance, of string) {
			t.Helper()
			d := create(t, w, i.ID, v.ID, `{"of":`+of+`}`)
			if _, err := ended(w, d, p.Claim(t, d), `{"at":"`+i.ID+`"}`); err != nil {
				t.Fatal(err)
			}
		}
		chain := []*ent.ModuleInstance{p.Instance}
		deploy(p.Instance, "null")
		for n := range links {
			next := p.NewInstance(t, fmt.Sprint("link-", n))
			deploy(next, `"`+chain[n].ID+`"`)
			chain = append(chain, next)
		}
		for what, query := range map[string]string{
			"who reads it, and what it has read": `query($id: ID!) { moduleInstance(id: $id) {
				outdatedReferences { nodes { pointer readDeployment { id } liveDeployment { id } } } dependents { nodes { id } } liveDeployment { references { nodes { pointer moduleInstance { id } } } } } }`,
			"whether it can be destroyed": `query($id: ID!) { moduleInstance(id: $id) { destroyEligibility { allowed refusal { code } } } }`,
			"what would be deployed":      fmt.Sprintf(`query($id: ID!) { validateInputs(input: { moduleVersionId: %q, moduleInstanceId: $id, values: { of: %q } }) { valid warnings { rule } } }`, v.ID, chain[0].ID),
		} {
			took(t, w, query, chain[2].ID) // the first request of its kind looks up the token, too
			first, middle, last := took(t, w, query, chain[2].ID), took(t, w, query, chain[links/2].ID), took(t, w, query, chain[links-1].ID)
			if first != middle || middle != last {
				t.Errorf("%s: the first takes %v, the middle one %v, the last but one %v", what, first, middle, last)
			}
		}
		before := took(t, w, `query($id: ID!) { moduleInstance(id: $id) { dependents { nodes { id } } } }`, chain[links-1].ID)
		deploy(chain[0], `"`+chain[links].ID+`"`)
		if circle := took(t, w, `query($id: ID!) { moduleInstance(id: $id) { dependents { nodes { id } } } }`, chain[links].ID); circle != before {
			t.Errorf("in a circle the dependents take %v, in a chain %v", circle, before)
		}
		if got := outdated(t, w, chain[1].ID); got != "" {
			t.Errorf("the next is outdated by the same output: %s", got)
		}
	})
}
