package paritytest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

// spellings are keys and how REST may spell them.
var spellings = []struct{ key, header string }{
	{"7f2c1f1e", `7f2c1f1e`},
	{"7f2c1f1e", `"7f2c1f1e"`},
	{`a "b" \c\\`, `"a \"b\" \\c\\\\"`},
	{`a"b\c`, `a"b\c`},
	{`"open`, `"open`},
	{`"a\b"`, `"a\b"`},
	{`"a"b"`, `"a"b"`},
	{"with, commas; and=signs", `with, commas; and=signs`},
	{strings.Repeat("~", 255), `"` + strings.Repeat("~", 255) + `"`},
	{strings.Repeat("~", 255), strings.Repeat("~", 255)},
}

// answered is the record that a surface answers with.
func (o operation) answered(t *testing.T, w *worldtest.World, surface, token, id string) map[string]any {
	t.Helper()
	if surface == "GraphQL" {
		record, _ := o.record(t, o.graphQL(t, w, token, id, "")).(map[string]any)
		return record
	}
	r := o.rest(t, w, token, id, "")
	record, _ := r.At(t, "data").(map[string]any)
	if location := r.Header.Get("Location"); r.Status != o.status || location != fmt.Sprint("/deployments/", record["id"]) {
		t.Errorf("%s: status %d, Location %q: %s", o.name, r.Status, location, r.Body)
	}
	return record
}

// caller returns a token of a developer of its own: keys belong to it.
func caller(t *testing.T, w *worldtest.World, o *worldtest.Org) string {
	t.Helper()
	system := actor.With(t.Context(), (&actor.Actor{Name: "test", Role: actor.System}).In(o.ID))
	_, secret, err := w.Accounts.CreateToken(system, account.NewToken{Name: "caller", Role: actor.Developer})
	if err != nil {
		t.Fatal(err)
	}
	return secret.Reveal()
}

var surfaces = []string{"REST", "GraphQL"}

func TestAKeyUsedOverOneSurfaceIsKnownOverTheOther(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		source := p.Succeeded(t)
		for _, first := range surfaces {
			for _, s := range spellings {
				for _, o := range replays {
					token, o := caller(t, w, w.Acme), o.with(terms{key: &s.key, header: s.header})
					made := o.answered(t, w, first, token, source.ID)
					for _, again := range surfaces {
						if diff := cmp.Diff(made, o.answered(t, w, again, token, source.ID)); diff != "" {
							t.Errorf("%s with %.30s, first over %s, then over %s: %s", o.name, s.header, first, again, diff)
						}
					}
					end(t, w, p)
				}
			}
		}
		made, rows := len(surfaces)*len(spellings)*len(replays), w.Rows(t)
		if rows["deployments"] != 1+made || rows["idempotency_keys"] != made {
			t.Errorf("%d deployments of %d keys, want the source's and %d", rows["deployments"], rows["idempotency_keys"], made)
		}
	})
}

func TestARepeatAnswersWithTheDeploymentAsItIsNow(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		source := p.Succeeded(t)
		for _, o := range replays {
			token, o := caller(t, w, w.Acme), o.with(terms{key: new("k"), live: &source.ID})
			made := o.answered(t, w, "REST", token, source.ID)
			end(t, w, p)
			next := running(t, p)
			// What the request would be refused for now does not matter: it was carried out.
			for _, surface := range surfaces {
				now := o.answered(t, w, surface, token, source.ID)
				if now["id"] != made["id"] || made["completedAt"] != nil || now["completedAt"] == nil || now["error"] == nil {
					t.Errorf("%s over %s: made %v, then answered %v", o.name, surface, made, now)
				}
				sameAsRead(t, w, o, now)
			}
			w.Cancel(t, w.Acme, next.ID)
		}
	})
}

func TestAKeyIsForOneRequestOfOneCaller(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, token, key := w.Fixture(t, w.Acme, "web"), caller(t, w, w.Acme), "k"
		one := p.Succeeded(t)
		two := deploy(t, p, "2")
		with := terms{key: &key, header: `"k"`}
		made := rollback.with(with).answered(t, w, "GraphQL", token, one.ID)
		want := object{"code": string(fault.RequestIdempotencyReused), "metadata": object{"idempotencyKey": key, "deploymentId": made["id"]}}
		for name, other := range map[string]struct {
			operation
			source string
			terms
		}{
			"another source":         {rollback, two.ID, with},
			"another operation":      {redeploy, one.ID, with},
			"expecting what is live": {rollback, one.ID, terms{key: &key, live: &two.ID}},
		} {
			wants(t, name, want, other.with(other.terms).refused(t, w, token, other.source, "", fault.RequestIdempotencyReused))
		}
		// To another caller the key is new, and the instance busy; to another organization all is new.
		rollback.with(with).refused(t, w, caller(t, w, w.Acme), one.ID, "", fault.DeploymentInProgress)
		theirs := w.Fixture(t, w.Globex, "web").Succeeded(t)
		elsewhere := rollback.with(with).answered(t, w, "REST", w.Globex.Tokens[actor.Developer], theirs.ID)
		if elsewhere["id"] == made["id"] || elsewhere["rollbackToDeploymentId"] != theirs.ID {
			t.Errorf("another organization was answered with %v", elsewhere)
		}
	})
}

func TestARefusalDoesNotUseAKeyUp(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, token := w.Fixture(t, w.Acme, "web"), caller(t, w, w.Acme)
		source := p.Succeeded(t)
		for _, o := range replays {
			o := o.with(terms{key: new(o.name)})
			running(t, p)
			o.refused(t, w, token, source.ID, "", fault.DeploymentInProgress)
			end(t, w, p)
			made := o.answered(t, w, "REST", token, source.ID)
			if made["id"] == nil {
				t.Errorf("%s: the key of a refusal is spent", o.name)
			}
			end(t, w, p)
		}
	})
}

func TestKeysThatAreNoneAreRefusedAlike(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		source := w.Fixture(t, w.Acme, "web").Succeeded(t)
		for _, bad := range []struct{ key, header string }{
			{"", `""`},
			{" a", `" a"`},
			{"a ", `"a "`},
			{" ", `" "`},
			{"é", "é"},
			{"a\tb", "a\tb"},
			{strings.Repeat("a", 256), strings.Repeat("a", 256)},
			{strings.Repeat("a", 256), `"` + strings.Repeat("a", 256) + `"`},
		} {
			for _, o := range replays {
				found := o.with(terms{key: &bad.key, header: bad.header}).refused(t, w, w.Acme.Tokens[actor.Developer], source.ID, "", fault.RequestInvalid)
				if !strings.Contains(fmt.Sprint(found), "must be 1 to 255 printable ASCII characters") {
					t.Errorf("%s with %.30q: %v", o.name, bad.key, found)
				}
			}
		}
	})
}
