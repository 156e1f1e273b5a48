package delivery_test

import (
	"errors"
	"testing"

	"github.com/vektah/gqlparser/v2/gqlerror"

	delivery "slipway/conformance/genqlient"
	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestTheGeneratedClientReadsWhatFailed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	failed := w.Fixture(t, w.Acme, "orders").Failed(t)
	r, err := delivery.Failures(t.Context(), delivery.New(w.URL+"/graphql", w.Acme.Tokens[actor.Viewer]), 5)
	if err != nil {
		t.Fatal(err)
	}
	if nodes := r.Deployments.Nodes; len(nodes) != 1 || nodes[0].Id != failed.ID || nodes[0].CompletedAt == nil || nodes[0].Error == nil {
		t.Errorf("%+v", nodes)
	}
}

func TestARefusalHasItsCode(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	_, err := delivery.Failures(t.Context(), delivery.New(w.URL+"/graphql", w.Acme.Tokens[actor.Viewer]), -1)
	list, ok := errors.AsType[gqlerror.List](err)
	if !ok || list[0].Extensions["code"] == nil {
		t.Errorf("%T: %v", err, err)
	}
}
