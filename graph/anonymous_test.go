package graph_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

// showcase is the catalogue that everybody sees, and the ids of what nobody sees without a token.
type showcase struct {
	definition, version               string
	hiddenDefinitions, hiddenVersions []string
}

// publish makes a global ACTIVE module with every variant of input; and what is hidden: a global draft, a global
// module that was withdrawn, and an organization's own. Every text of these has the word Hidden.
func publish(t *testing.T, w *worldtest.World) showcase {
	t.Helper()
	raw, err := os.ReadFile("../internal/pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte("12345678901234567890"), []byte("1234567890"), 1) // which a version may have as a default
	var p showcase
	root := actor.With(t.Context(), &actor.Actor{Name: "root", Role: actor.Superadmin, Globally: true})
	for name, status := range map[string]moduledefinition.Status{
		"Public": moduledefinition.StatusACTIVE, "Hidden-draft": moduledefinition.StatusDRAFT, "Hidden-withdrawn": moduledefinition.StatusACTIVE,
		"Hidden-own": moduledefinition.StatusACTIVE,
	} {
		ctx := root
		if name == "Hidden-own" {
			ctx = w.Acme.As(actor.Admin)
		}
		d, _, err := w.Catalog.CreateDefinition(ctx, catalog.NewDefinition{Name: name, Type: name, Description: &name, Status: status})
		if err != nil {
			t.Fatal(err)
		}
		text := raw
		if name != "Public" {
			text = []byte(`[{"id":"Hidden","label":"Hidden","type":"boolean","default":true}]`)
		}
		inputs, err := strictjson.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := w.Catalog.PublishVersion(ctx, module.NewVersion{DefinitionID: d.ID, Version: "1.0.0", Kind: module.DeploymentTypeTerraform, Inputs: inputs, SourceURL: new("https://git.example.com/" + name), SourceRef: &name})
		if err != nil {
			t.Fatal(err)
		}
		if name == "Public" {
			p.definition, p.version = d.ID, v.ID
			continue
		}
		p.hiddenDefinitions, p.hiddenVersions = append(p.hiddenDefinitions, d.ID), append(p.hiddenVersions, v.ID)
		if name == "Hidden-withdrawn" {
			draft := moduledefinition.StatusDRAFT
			if _, _, err := w.Catalog.UpdateDefinition(ctx, d.ID, catalog.DefinitionPatch{Status: &draft}); err != nil {
				t.Fatal(err)
			}
		}
	}
	hidden := inputprop.NewRawProperty(must(t, `{"id":"Hidden","label":"Hidden","type":"string"}`))
	if _, _, err := w.Defaults.Create(w.Acme.As(actor.Admin), defaults.New{GivenID: "Hidden", Name: "Hidden", Schema: hidden}); err != nil {
		t.Fatal(err)
	}
	w.Fixture(t, w.Acme, "Hidden-place").Succeeded(t)
	return p
}

func must(t *testing.T, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// leaves selects the fields of a type that have none of their own.
func leaves(name string) string {
	def := schema.Types[name]
	if def.IsAbstractType() {
		text := "__typename "
		for _, member := range schema.GetPossibleTypes(def) {
			text += "... on " + member.Name + " { " + leaves(member.Name) + "} "
		}
		return text
	}
	text := "__typename "
	for _, field := range def.Fields {
		if !strings.HasPrefix(field.Name, "__") && schema.Types[field.Type.Name()].IsLeafType() {
			text += field.Name + " "
		}
	}
	return text
}

// reach finds every type that leads from one, each with a way to it: a document with one %s for a selection of the
// type. It calls visit for every field that leads to a type with fields.
func reach(way, from string, seen map[string]bool, visit func(way, field, to string)) {
	seen[from] = true
	def := schema.Types[from]
	members := []*ast.Definition{def}
	if def.IsAbstractType() {
		members = schema.GetPossibleTypes(def)
	}
	for _, member := range members {
		in := way
		if member != def {
			in = fmt.Sprintf(way, "... on "+member.Name+" { %s }")
			seen[member.Name] = true
		}
		for _, field := range member.Fields {
			to := field.Type.Name()
			if strings.HasPrefix(field.Name, "__") || schema.Types[to].IsLeafType() {
				continue
			}
			visit(in, field.Name, to)
			if !seen[to] {
				reach(fmt.Sprintf(in, field.Name+" { %s }"), to, seen, visit)
			}
		}
	}
}

func TestCallersWithoutATokenSeeTheGlobalActiveCatalogueWithItsVersionsAndInputsOnly(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := publish(t, w)
		seen := map[string]bool{}
		ask := func(way, selection string) {
			r := w.GraphQL(t, "", fmt.Sprintf(way, selection), nil)
			body := string(r.Body)
			if r.At(t, "errors") != nil || strings.Contains(body, "Hidden") || strings.Contains(body, w.Acme.ID) {
				t.Errorf("%.300s: %.300s", fmt.Sprintf(way, selection), body)
			}
		}
		for way, to := range map[string]string{
			"{ moduleDefinitions(first: 5) { %s } }":                           "ModuleDefinitionConnection",
			"{ moduleDefinitions(filter: {status: ACTIVE}, first: 5) { %s } }": "ModuleDefinitionConnection",
			"{ moduleDefinitions(filter: {status: DRAFT}, last: 5) { %s } }":   "ModuleDefinitionConnection",
			"{ moduleDefinitions(filter: {search: \"i\"}, first: 5) { %s } }":  "ModuleDefinitionConnection",
			fmt.Sprintf("{ moduleDefinition(id: %q) { %%s } }", p.definition):  "ModuleDefinition",
			fmt.Sprintf("{ moduleVersion(id: %q) { %%s } }", p.version):        "ModuleVersion",
		} {
			ask(way, leaves(to))
			// Null for callers without a token, and what leads on for those who may read tokens.
			within := map[string]bool{"DeploymentConnection": true, "ModuleInstanceConnection": true, "Token": true}
			reach(way, to, within, func(way, field, to string) { ask(way, field+" { "+leaves(to)+"}") })
			delete(within, "DeploymentConnection")
			delete(within, "ModuleInstanceConnection")
			maps.Copy(seen, within)
		}
		for name := range seen {
			if !ofCatalogue(name) {
				t.Errorf("the catalogue leads to %s, which is no part of it", name)
			}
		}
	})
}

// ofCatalogue reports whether a type is one of those that the catalogue may lead to.
func ofCatalogue(name string) bool {
	return slices.Contains([]string{
		"ModuleDefinitionConnection", "ModuleDefinitionEdge", "ModuleDefinition", "ModuleVersionConnection", "ModuleVersionEdge",
		"ModuleVersion", "ModuleVersionDeprecation", "ModuleOutput", "PageInfo", "InputProperty", "InputValues", "StaticValues", "DynamicValuesRef", "InputOption",
		"ValidationPattern", "ItemTitle", "MapKey",
		"Actor", "Token", // by who deprecated a version, which is null for callers without a token
	}, name) || strings.HasSuffix(name, "Property")
}

func TestNothingCountsWhatCallersWithoutATokenDoNotSee(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := publish(t, w)
		r := w.GraphQL(t, "", `{ all: moduleDefinitions { totalCount nodes { id latestModuleVersion { id moduleDefinition { id } } versions { totalCount nodes { id } } } }
			drafts: moduleDefinitions(filter: {status: DRAFT}) { totalCount nodes { id } } hidden: moduleDefinitions(filter: {search: "hidden"}) { totalCount } }`, nil)
		want := fmt.Sprintf(`map[all:map[nodes:[map[id:%s latestModuleVersion:map[id:%s moduleDefinition:map[id:%s]] versions:map[nodes:[map[id:%s]] totalCount:1]]] totalCount:1]`+
			` drafts:map[nodes:[] totalCount:0] hidden:map[totalCount:0]]`, p.definition, p.version, p.definition, p.version)
		if got := fmt.Sprint(r.At(t, "data")); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestWhatIsHiddenIsAsIfAbsentToCallersWithoutAToken(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := publish(t, w)
		for field, ids := range map[string][]string{"moduleDefinition": p.hiddenDefinitions, "moduleVersion": p.hiddenVersions} {
			ask := func(id string) string {
				r := w.GraphQL(t, "", `query($id: ID!) { `+field+`(id: $id) { id } }`, map[string]any{"id": id})
				return strings.ReplaceAll(strings.ReplaceAll(string(r.Body), r.Header.Get("X-Request-Id"), "REQUEST"), id, "ID")
			}
			prefix, _, _ := strings.Cut(ids[0], "_")
			nothing := ask(prefix + "_01h455vb4pex5vsknk084sn02q")
			if !strings.Contains(nothing, ":NOT_FOUND") {
				t.Errorf("%s", nothing)
			}
			for _, id := range ids {
				if got := ask(id); got != nothing {
					t.Errorf("%s %s: %s, want %s", field, id, got, nothing)
				}
			}
		}
	})
}

func TestTheCatalogueIsAllThatCallersWithoutATokenMayAskFor(t *testing.T) {
	t.Parallel()
	public := []string{"viewer", "moduleDefinitions", "moduleDefinition", "moduleVersion", "dynamicSources", "errorCodes"}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := publish(t, w)
		documents := map[string]string{
			"node": `{ node(id: "` + p.definition + `") { id } }`, "nodes": `{ nodes(ids: ["` + p.version + `"]) { id } }`,
			"compareDeployments": `{ compareDeployments(fromId: "x", toId: "x") { sameRelease } }`,
			"validateInputs":     `{ validateInputs(input: {moduleVersionId: "` + p.version + `", values: {}}) { valid } }`,
			"resolveInputs":      `{ resolveInputs(input: {moduleVersionId: "` + p.version + `", values: {}}) { values } }`,
			"deploymentPlan":     `{ deploymentPlan(input: {rollback: {id: "x"}}) { status } }`,
			"dynamicValues":      `{ dynamicValues(source: "projects") { totalCount } }`,
		}
		for _, field := range schema.Query.Fields {
			if strings.HasPrefix(field.Name, "__") || slices.Contains(public, field.Name) {
				continue
			}
			document, ok := documents[field.Name]
			if !ok {
				arguments := ""
				if field.Arguments.ForName("id") != nil {
					arguments = `(id: "x")`
				} else {
					arguments = needed(field)
				}
				document = "{ " + field.Name + arguments + " { __typename } }"
			}
			if r := w.GraphQL(t, "", document, nil); r.Code(t) != string(fault.RequestUnauthenticated) {
				t.Errorf("%s: %s", document, r.Body)
			}
		}
		for _, call := range []string{
			`updateModuleDefinition(input: {id: "` + p.definition + `", name: "x"})`,
			`publishModuleVersion(input: {moduleDefinitionId: "` + p.definition + `", version: "9.0.0", deploymentType: "terraform", inputs: []})`,
			`createModuleInstance(input: {environmentId: "x", moduleDefinitionId: "` + p.definition + `", name: "x"})`,
		} {
			if r := w.GraphQL(t, "", "mutation { "+call+" { __typename } }", nil); r.Code(t) != string(fault.RequestUnauthenticated) {
				t.Errorf("%s: %s", call, r.Body)
			}
		}
	})
}
