package gqlhttp_test

import (
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
)

func TestFieldsOfOneNameHaveToAgree(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{})
	for query, want := range map[string]string{
		`{ cat { x: id x: lives } }`:                                    `Fields \"x\" cannot be merged: \"id\" and \"lives\" are different fields.`,
		`{ cat { friend(name: "a") { id } friend(name: "b") { id } } }`: "their arguments differ",
		`{ cat { friend { id } friend(name: "b") { id } } }`:            "their arguments differ",
		`{ take(json: {a: 1, b: [1]}) take(json: {a: 1, b: [2]}) }`:     "their arguments differ",
		`{ pet { ... on Cat { lives } ... on Dog { lives } } }`:         "their types Int and String differ",
		`{ pet { ... on Cat { x: mother { y: id } } ... on Dog { x: friend { y: id z: mother { id } } x: friend { z: friend { id } } } } }`: `\"z\"`,
		`{ pet { ... on Cat { x: name } ... on Dog { x: mother { id } } } }`:                                                                "their types String and Animal differ",
		`{ cat { ...a mother { x: friend { id } } } } fragment a on Animal { mother { x: mother { id } } }`:                                 `\"x\"`,
		`{ cat { mother { ... on Cat { x: lives } x: id } } }`:                                                                              `\"x\"`,
	} {
		a := s.run(t, query, "")
		if a.code() != string(fault.DocumentValidationFailed) || !strings.Contains(a.Body, want) || len(a.Errors[0].Locations) != 2 {
			t.Errorf("%s: %s, want %s", query, a.Body, want)
		}
	}
	for _, query := range []string{
		`{ cat { friend(name: "a") { id } friend(name: "a") { id mother { id } } } }`,
		`{ take(json: {a: 1, b: [1]}) take(json: {b: [1], a: 1}) }`,
		`{ pet { ... on Cat { x: name } ... on Dog { x: lives } } }`,
		`{ pet { ... on Cat { x: mother { id } } ... on Dog { x: friend(name: "a") { id } } } }`,
	} {
		if a := s.run(t, query, ""); a.Status != 200 {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
}

// multiplied is a document whose fields are to be merged with those of three types at each level.
func multiplied(levels int) string {
	inner := "id"
	for range levels {
		inner = "mother { " + inner + " } ... on Cat { mother { id } } ... on Dog { mother { id } } ... on Owl { mother { id } }"
	}
	return "{ cat { friend { " + inner + " } } }"
}

func TestMergingThatMultipliesIsRefused(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{})
	if a := s.run(t, multiplied(4), ""); a.Status != 200 {
		t.Error(a.Body)
	}
	a := s.run(t, multiplied(9), "")
	if a.code() != string(fault.DocumentLimitExceeded) || !strings.Contains(a.Body, `"metadata":{"limit":"merging","value":10000}`) {
		t.Error(a.Body)
	}
}
