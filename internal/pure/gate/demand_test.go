package gate_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/pure/gate"
)

// stored are demands of each kind, as they are stored.
var stored = map[string]string{
	"approvals": `{"approvals":{"count":2,"role":"admin","holders":["ann","bob"]}}`,
	"hours":     `{"hours":{"timeZone":"Europe/Berlin","spans":[{"days":["MONDAY"],"from":"09:00","to":"17:00"}]}}`,
	"freeze":    `{"freeze":{"from":"2026-12-20T00:00:00Z","until":"2027-01-04T00:00:00Z"}}`,
	"liveIn":    `{"liveIn":{"environmentIds":["env_1"],"minutes":30}}`,
}

func TestEachKindOfDemandIsStoredUnderItsName(t *testing.T) {
	t.Parallel()
	names := gate.Names()
	for _, name := range names {
		if stored[name] == "" {
			t.Errorf("say how a demand for %s is stored", name)
		}
	}
	for name, text := range stored {
		var d gate.Demand
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if written, err := json.Marshal(d); err != nil || string(written) != text {
			t.Errorf("%s is written as %s, %v", text, written, err)
		}
		if d.Unknown() != "" || !slices.Contains(names, name) || len(d.Check(d.DefaultOperations())) > 0 {
			t.Errorf("%s: %v, unknown %q", name, d.Check(d.DefaultOperations()), d.Unknown())
		}
	}
}

func TestTheHoldersOfARuleOfBeforeStillCount(t *testing.T) {
	t.Parallel()
	var d gate.Demand
	if err := json.Unmarshal([]byte(`{"approvals":{"count":1,"role":"admin","by":["ann"]}}`), &d); err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(d); err != nil || string(text) != `{"approvals":{"count":1,"role":"admin","holders":["ann"]}}` {
		t.Errorf("%s, %v", text, err)
	}
}

// Each struct of the package that has the methods of a kind is among kinds, but for what nobody knows.
func TestEveryKindOfDemandIsListed(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "restrict" {
				declared++
			}
		}
	}
	if listed := len(gate.Names()); declared != listed+1 {
		t.Errorf("%d kinds are declared, with the unknown one, and %d are listed", declared, listed)
	}
}

func TestADemandOfANewerProgramIsKeptAndNeverMet(t *testing.T) {
	t.Parallel()
	const text = `{"moon":{"phase":"FULL"}}`
	var d gate.Demand
	if err := json.Unmarshal([]byte(text), &d); err != nil || d.Unknown() != "moon" {
		t.Fatalf("%v, %q", err, d.Unknown())
	}
	if written, err := json.Marshal(d); err != nil || string(written) != text {
		t.Errorf("it is written as %s, %v", written, err)
	}

	r := gate.Rule{ID: "rule_1", Name: "R", Operations: gate.Operations, Demand: d}
	facts := gate.Facts{Operation: gate.Create, Approvals: []gate.Approval{{Role: actor.Admin}}, SucceededHere: true}
	all, err := gate.Judge(t.Context(), []gate.Rule{r}, facts, time.Now())
	if err != nil || len(all) != 1 || all[0].Met || all[0].Message != `Rule "R": this server does not know its demand, moon.` {
		t.Errorf("%+v, %v", all, err)
	}
	if opens := gate.Opens(all, time.Now()); opens != nil {
		t.Errorf("it opens at %s", opens)
	}
	if wrong := d.Check(gate.Operations); len(wrong) != 1 || wrong[0].Pointer != "/demand/moon" {
		t.Errorf("%v", wrong)
	}
	for _, text := range []string{`{"freeze":{"from":"2026-12-20T00:00:00Z"},"hours":{}}`, `[]`, `{"freeze":7}`} {
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
