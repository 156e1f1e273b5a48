package paritytest_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// refusal is an error in REST's form, without what differs by right: the request id, and the root of the
// input in JSON Pointers.
func refusal(t testing.TB, r worldtest.Response) map[string]any {
	t.Helper()
	found := maps.Clone(r.Refusal(t))
	if id, _ := found["requestId"].(string); id != r.Header.Get("X-Request-Id") {
		t.Errorf("requestId %q is not that of the header, %q: %s", id, r.Header.Get("X-Request-Id"), r.Body)
	}
	delete(found, "requestId")
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	// The key is a header over REST, which has no root.
	text = bytes.ReplaceAll(text, []byte(`"/input/idempotencyKey`), []byte(`"/idempotencyKey`))
	// A pointer stands alone, or at the end of a message that names another place.
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`"/input/`), []byte(`"/data/`)), []byte(` /input/`), []byte(` /data/`))
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var same map[string]any
	if err := d.Decode(&same); err != nil {
		t.Fatal(err)
	}
	return same
}

// refused asks both surfaces and wants one refusal of the code, the status of the code over REST, and
// nothing changed. It gives the refusal.
func (o operation) refused(t *testing.T, w *worldtest.World, token, id, data string, code fault.Code) map[string]any {
	t.Helper()
	before := state(t, w)
	overREST, overGraphQL := o.rest(t, w, token, id, data), o.graphQL(t, w, token, id, data)
	if overREST.Status != code.Status() {
		t.Errorf("REST answered %d, want %d: %s", overREST.Status, code.Status(), overREST.Body)
	}
	if got := overREST.Code(t); got != string(code) {
		t.Errorf("REST refused with %s, want %s: %s", got, code, overREST.Body)
	}
	found := refusal(t, overGraphQL)
	if diff := cmp.Diff(refusal(t, overREST), found); diff != "" {
		t.Errorf("REST (-) and GraphQL (+) differ: %s", diff)
	}
	if diff := cmp.Diff(before, state(t, w)); diff != "" {
		t.Errorf("a refusal changed something: %s", diff)
	}
	return found
}

// state is everything of both organizations that an operation might change.
func state(t testing.TB, w *worldtest.World) map[string]string {
	t.Helper()
	all := map[string]string{}
	add := func(id string, record any, err error) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		all[id] = string(text)
	}
	for _, o := range []*worldtest.Org{w.Acme, w.Globex} {
		ctx, c := o.As(actor.Admin), w.Store.Client
		deployments, err := c.Deployment.Query().Order(deployment.ByID()).All(ctx)
		add(o.Slug+" deployments", deployments, err)
		definitions, err := c.DefaultValueDefinition.Query().All(ctx)
		add(o.Slug+" definitions", definitions, err)
		releases, err := c.Release.Query().Count(ctx)
		add(o.Slug+" releases", releases, err)
		events, err := c.AuditEvent.Query().Count(ctx)
		add(o.Slug+" audit events", events, err)
	}
	return all
}

// writesNothing wants f to leave every table with as many rows as it had.
func writesNothing(t testing.TB, w *worldtest.World, f func()) {
	t.Helper()
	before := w.Rows(t)
	f()
	if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
		t.Errorf("something was written: %s", diff)
	}
}

// absent returns an id that nothing has, of the kind of another.
func absent(id string) string {
	prefix, _, _ := strings.Cut(id, "_")
	return prefix + "_01h455vb4pex5vsknk084sn02q"
}
