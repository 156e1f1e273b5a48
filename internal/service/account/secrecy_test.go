package account_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"slipway/ent/auditevent"
	entmigrate "slipway/ent/migrate"
	"slipway/internal/base/actor"
	"slipway/internal/edge/auth"
	"slipway/internal/server"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// dump is every row of every table as text.
func dump(t *testing.T, w *worldtest.World) string {
	t.Helper()
	var text strings.Builder
	db := w.Raw(t, w.Acme)
	for _, table := range entmigrate.Tables {
		rows, err := db.QueryContext(t.Context(), `SELECT * FROM "`+table.Name+`"`)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				fmt.Fprintf(&text, "%s.%s=%s\n", table.Name, columns[i], *v.(*any))
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

func TestTheSecretIsToldOnceAndKeptNowhere(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		log := &testkit.Log{}
		// The log of serve takes secrets out; this one would show them.
		w = w.Serving(t, func(c *server.Config) {
			c.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		p := w.Fixture(t, w.Acme, "web")
		admin := w.Acme.Tokens[actor.Admin]
		r := create(t, w, admin, map[string]any{"name": "canary", "role": "RUNNER", "scope": map[string]any{"environmentIds": []string{p.Environment.ID}}})
		secret, id := r.Text(t, "data", "createToken", "secret"), r.Text(t, "data", "createToken", "token", "id")
		parsed, ok := auth.Parse(secret)
		if !ok || strings.Count(string(r.Body), secret) != 1 {
			t.Fatalf("%s", r.Body)
		}
		for _, document := range []string{"{ viewer { tokenId } }", "{ tokens { totalCount } }", "{ nonsense }"} {
			w.GraphQL(t, secret, document, nil)
		}
		list := w.GraphQL(t, admin, `{ tokens { nodes { `+tokenFields+` } } auditEvents { nodes { changes } } }`, nil)
		w.GraphQL(t, admin, revokeToken, map[string]any{"id": id})
		w.GraphQL(t, secret, "{ viewer { tokenId } }", nil)

		rows := dump(t, w)
		if !strings.Contains(rows, "tokens.hash="+parsed.Hash()) || !strings.Contains(log.String(), "canary") && !strings.Contains(log.String(), id) {
			t.Errorf("neither the table nor the log knows the token:\n%s", log)
		}
		// The prefix tells the first four characters of the body, and lastFour the last.
		hidden := secret[len(parsed.Prefix()) : len(secret)-4]
		for name, text := range map[string]string{"the database": rows, "the log": log.String(), "the lists": string(list.Body)} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s has the secret", name)
			}
		}
		for name, text := range map[string]string{
			"the database": strings.ReplaceAll(rows, "tokens.hash="+parsed.Hash(), ""), "the log": log.String(), "the lists": string(list.Body),
		} {
			if strings.Contains(text, parsed.Hash()) {
				t.Errorf("%s has the digest beside its place", name)
			}
		}
	})
}

func TestTheAuditSaysWhichTokenWasMadeAndRevoked(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin := w.Acme.Tokens[actor.Admin]
		r := create(t, w, admin, map[string]any{"name": "ci", "role": "RUNNER", "scope": map[string]any{"environmentIds": []string{p.Environment.ID}}})
		id, end := r.Text(t, "data", "createToken", "token", "id"), r.Text(t, "data", "createToken", "token", "expiresAt")
		for range 2 { // the second changes nothing
			w.GraphQL(t, admin, revokeToken, map[string]any{"id": id})
		}
		events := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(id)).Order(auditevent.ByCreatedAt()).AllX(system(w.Acme.ID))
		want := fmt.Sprintf(`{"name":"ci","role":"runner","expiresAt":%q,"scope":{"projectIds":[],"environmentIds":[%q]}}`, end, p.Environment.ID)
		var told []string
		for _, e := range events {
			var compact bytes.Buffer
			if err := json.Compact(&compact, e.Changes); err != nil {
				t.Fatal(err)
			}
			told = append(told, e.Action+" "+e.ActorName+" "+compact.String())
		}
		if got := fmt.Sprint(told); got != fmt.Sprintf("[createToken admin %s revokeToken admin %s]", want, want) {
			t.Errorf("%s, want twice %s", got, want)
		}
		org := w.In(actor.Global).GraphQL(t, w.Superadmin, `mutation { createOrganization(input: {name: "Initech", slug: "initech"}) { organization { id } } }`, nil).
			Text(t, "data", "createOrganization", "organization", "id")
		made := w.Store.Client.AuditEvent.Query().OnlyX(system(org))
		if made.Action != "createOrganization" || made.ObjectID != org || made.ActorRole != "superadmin" || !strings.Contains(string(made.Changes), "initech") {
			t.Errorf("%v", made)
		}
	})
}
