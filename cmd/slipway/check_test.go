package main_test

import (
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

func TestCheckSaysWhatTodaysRulesWouldRefuse(t *testing.T) {
	t.Parallel()
	for name, database := range worldtest.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, database(t))
			w.Fixture(t, w.Globex, "web")
			if got := must(t, "check", "--database", w.DatabaseURL); got != "0 of 1 would be refused now" {
				t.Errorf("with nothing to be found: %q", got)
			}
			schema, err := strictjson.Parse([]byte(`{"id":"mode","label":"Mode","type":"string","values":["a"],"default":"a"}`))
			if err != nil {
				t.Fatal(err)
			}
			d, _, err := w.Defaults.Create(w.Acme.As(actor.Admin), defaults.New{GivenID: "mode", Name: "Mode", Schema: inputprop.NewRawProperty(schema)})
			if err != nil {
				t.Fatal(err)
			}
			const older = `{"id":"mode","label":"Mode","type":"string","values":["a"],"default":""}`
			if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE default_value_definitions SET schema = $1 WHERE id = $2`, older, d.ID); err != nil {
				t.Fatal(err)
			}
			o := run(t, nil, "check", "--database", w.DatabaseURL)
			want := "acme: definition " + d.ID + ` (mode): /schema/default: not_in_values: must be one of "a", found ""` + "\n1 of 2 would be refused now\n"
			if o.code != 3 || o.stdout != want || o.stderr != "" {
				t.Errorf("got  %d %q %q\nwant 3 %q", o.code, o.stdout, o.stderr, want)
			}
		})
	}
}

func TestCheckNeedsADatabase(t *testing.T) {
	t.Parallel()
	mustFail(t, 1, "there is no database", "check", "--database", file(t))
	if o := run(t, nil, "check", "--nothing"); o.code != 2 || !strings.Contains(o.stderr, "nothing") {
		t.Errorf("%d %q", o.code, o.stderr)
	}
}
