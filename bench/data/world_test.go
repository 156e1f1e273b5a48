package data_test

import (
	"testing"

	"slipway/bench/data"
	"slipway/internal/base/id"
	"slipway/internal/edge/auth"
)

func TestDeploymentsAreFoundByTheirPlace(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 4, 5, 1000, 4999, 100_000} {
		w := data.World{Deployments: n}
		total := 0
		for e := range data.Environments {
			total += w.Of(e)
		}
		if total != n {
			t.Errorf("%d deployments: the environments have %d", n, total)
		}
		for number := 0; number < n; number += 1 + n/1000 {
			d := w.Deployment(number)
			if d.Place >= w.Of(d.Environment) || w.At(d.Environment, d.Place) != d {
				t.Errorf("%d deployments: %d is %+v, of %d", n, number, d, w.Of(d.Environment))
			}
		}
	}
	w := data.World{Deployments: 100_000}
	if large := w.Of(0); large != 20_000 {
		t.Errorf("the large environment has %d", large)
	}
}

func TestRollbacksAreToWhatSucceeded(t *testing.T) {
	t.Parallel()
	w := data.World{Deployments: 100_000}
	rollbacks, failed := 0, 0
	for number := range w.Deployments {
		d := w.Deployment(number)
		if !d.Succeeded() {
			failed++
		}
		to, ok := d.RollbackTo()
		if !ok {
			continue
		}
		rollbacks++
		if _, twice := to.RollbackTo(); twice || !to.Succeeded() || to.Instance() != d.Instance() || to.Number >= d.Number || to.Version() != d.Version() {
			t.Fatalf("%+v is a rollback to %+v", d, to)
		}
	}
	if rollbacks < 12_000 || failed < 10_000 {
		t.Errorf("%d rollbacks and %d failed of %d", rollbacks, failed, w.Deployments)
	}
}

func TestEveryInstanceCanBeRolledBack(t *testing.T) {
	t.Parallel()
	w := data.World{Deployments: 100_000}
	for number := range data.Instances {
		i := data.InstanceOf(number)
		first, ok := w.First(i)
		live, isLive := w.Live(i)
		if !ok || !isLive || !first.Succeeded() || first.Instance() != i || live.Instance() != i || live.Number < first.Number {
			t.Fatalf("%+v: the first is %+v, %t, the live one %+v, %t", i, first, ok, live, isLive)
		}
	}
}

func TestTokensAndIDsHaveTheirForm(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for o := range data.Organizations {
		for n := range 2 {
			secret := data.Token(o, n)
			if _, ok := auth.Parse(secret.Reveal()); !ok || seen[secret.Hash()] || data.Token(o, n).Hash() != secret.Hash() {
				t.Errorf("token %d of organization %d is malformed, or not its own", n, o)
			}
			seen[secret.Hash()] = true
		}
	}
	if found := data.ID(id.Deployment, 999_999); !id.Of(id.Deployment, found) {
		t.Errorf("%s is no id", found)
	}
}
