package paritytest_test

import (
	"crypto/rand"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/auth"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/account"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

const plainSchema = `{"id":"image","label":"Image","type":"string","required":true}`

// definition makes an organization a default value definition.
func definition(t testing.TB, w *worldtest.World, o *worldtest.Org, givenID, schema string) *ent.DefaultValueDefinition {
	t.Helper()
	n, err := strictjson.Parse([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	about := "For tests"
	d, _, err := w.Defaults.Create(o.As(actor.Admin), defaults.New{
		GivenID: givenID, Name: "Image", Description: &about, Schema: inputprop.NewRawProperty(n),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// records are one of each kind that the operations are on.
type records struct {
	definition *ent.DefaultValueDefinition
	deployment *ent.Deployment
	place      *worldtest.Fixture
}

func recordsOf(t testing.TB, w *worldtest.World, o *worldtest.Org) records {
	t.Helper()
	p := w.Fixture(t, o, "web")
	return records{definition: definition(t, w, o, "image", plainSchema), deployment: p.Succeeded(t), place: p}
}

// id returns the id of the record that an operation is on.
func (r records) id(o operation) string {
	if o.name == update.name {
		return r.definition.ID
	}
	return r.deployment.ID
}

// tamper runs a statement that no service would run, in an organization.
func tamper(t testing.TB, w *worldtest.World, o *worldtest.Org, statement string, args ...any) {
	t.Helper()
	ctx := o.As(actor.Admin)
	tx, err := w.Store.Client.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// badTokens are tokens that no request may be made with.
func badTokens(t testing.TB, w *worldtest.World) map[string]string {
	t.Helper()
	system := actor.With(t.Context(), (&actor.Actor{Name: "test", Role: actor.System}).In(w.Acme.ID))
	issue := func(expiresIn time.Duration) (string, string) {
		made, secret, err := w.Accounts.CreateToken(system, account.NewToken{Name: "bad", Role: actor.Admin, ExpiresIn: expiresIn})
		if err != nil {
			t.Fatal(err)
		}
		return made.ID, secret.Reveal()
	}
	id, revoked := issue(0)
	if _, err := w.Accounts.RevokeToken(system, id); err != nil {
		t.Fatal(err)
	}
	_, expired := issue(time.Microsecond)
	unknown, err := auth.Generate(actor.Admin, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"malformed": "nonsense", "unknown": unknown.Reveal(), "revoked": revoked, "expired": expired}
}
