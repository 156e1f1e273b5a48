package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/server"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

// fillDisk lets a database have no room for more, and gives what makes room again.
func fillDisk(t *testing.T, w *worldtest.World) (makeRoom func()) {
	t.Helper()
	if strings.HasPrefix(w.DatabaseURL, "postgres") {
		run := func(statements string) {
			t.Helper()
			if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), statements); err != nil {
				t.Fatal(err)
			}
		}
		run(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$;
			CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON default_value_definitions FOR EACH ROW EXECUTE FUNCTION full_disk()`)
		return func() { run("DROP TRIGGER full_disk ON default_value_definitions") }
	}
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	pages := func(most int) {
		t.Helper()
		if err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", most))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	pages(1)
	return func() { pages(1 << 30) }
}

func TestFullDiskIsUnavailableOverBothSurfacesAndLoggedOnceWhileReadsGoOn(t *testing.T) {
	t.Parallel()
	for name, database := range worldtest.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &logged{}
			logger := slog.New(slog.NewJSONHandler(log, nil))
			w := worldtest.New(t, database(t), func(c *store.Config) { c.Log = logger }).
				Serving(t, func(c *server.Config) { c.Log = logger })
			definition := newDefinition(t, w)
			admin := w.Acme.Tokens[actor.Admin]
			health := httptest.NewServer((&server.Health{Ping: w.Store.Ping, WritesFail: w.Store.WritesFail}).Handler())
			defer health.Close()
			n := 0
			writes := func() map[string]worldtest.Response {
				n++
				text := strings.Repeat("x", 9_000+n) // more than the pages that are there have room for
				body, err := json.Marshal(map[string]any{"data": map[string]any{"description": text}})
				if err != nil {
					t.Fatal(err)
				}
				return map[string]worldtest.Response{
					"REST": w.REST(t, http.MethodPatch, "/default-value-definitions/"+definition, admin, string(body), nil),
					"GraphQL": w.GraphQL(t, admin, `mutation($id: ID!, $text: String) {
						updateDefaultValueDefinition(input: {id: $id, description: $text}) { defaultValueDefinition { id } } }`,
						map[string]any{"id": definition, "text": text + "y"}),
				}
			}
			makeRoom := fillDisk(t, w)
			for range 5 {
				for surface, r := range writes() {
					refusal := r.Refusal(t)
					retry, _ := refusal["metadata"].(map[string]any)
					if r.Code(t) != string(fault.ServerUnavailable) || fmt.Sprint(retry["retryAfterSeconds"]) != "5" ||
						!strings.Contains(fmt.Sprint(refusal["message"]), "its disk is full") {
						t.Errorf("%s: %d %s", surface, r.Status, r.Body)
					}
					if surface == "REST" && (r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "5") {
						t.Errorf("%s: %d, Retry-After %q", surface, r.Status, r.Header.Get("Retry-After"))
					}
				}
			}
			if r := w.GraphQL(t, admin, `{ defaultValueDefinitions { nodes { id } } }`, nil); r.Text(t, "data", "defaultValueDefinitions", "nodes", 0, "id") != definition {
				t.Errorf("read: %s", r.Body)
			}
			if resp, text := send(t, "GET", health.URL+"/readyz", ""); resp.StatusCode != 200 || text != "ok\nwrites: failing\n" {
				t.Errorf("/readyz: %d %q", resp.StatusCode, text)
			}
			if n := strings.Count(log.String(), `"level":"ERROR"`); n != 1 {
				t.Errorf("%d lines of errors, want one: %s", n, log)
			}
			makeRoom()
			for surface, r := range writes() {
				if r.Status != http.StatusOK || r.Code(t) != "" {
					t.Errorf("%s, when there is room: %d %s", surface, r.Status, r.Body)
				}
			}
			if resp, text := send(t, "GET", health.URL+"/readyz", ""); resp.StatusCode != 200 || text != "ok\n" {
				t.Errorf("/readyz, when there is room: %d %q", resp.StatusCode, text)
			}
		})
	}
}

// newDefinition makes a default value definition and gives its id.
func newDefinition(t *testing.T, w *worldtest.World) string {
	t.Helper()
	node, err := strictjson.Parse([]byte(`{"id":"region","type":"string","label":"Region"}`))
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := w.Defaults.Create(w.Acme.As(actor.Admin), defaults.New{GivenID: "region", Name: "Region", Schema: inputprop.NewRawProperty(node)})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}
