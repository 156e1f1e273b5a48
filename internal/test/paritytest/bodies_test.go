package paritytest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestABrokenBodyIsToldAlikeWithItsPlace(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	d := definition(t, w, w.Acme, "image", plainSchema)
	admin := w.Acme.Tokens[actor.Admin]
	for _, c := range []struct{ body, pointer, message string }{
		{" \n", "", "expected a JSON value, found the end (line 2, column 1)"},
		{"hello", "", "expected a JSON value, found 'h' (line 1, column 1)"},
		{"\ufeff{}", "", "expected a JSON value, found '\\ufeff' (line 1, column 1)"},
		{"\n\n  {\n \"data\": {\"name\": tru}}", "/data/name", "expected a JSON value, found 't' (line 4, column 19)"},
		{"{data: 1}", "", "expected a key in double quotes, found 'd' (line 1, column 2)"},
		{`{"data":{"name":"x"`, "/data", "expected ',' or '}', found the end (line 1, column 20)"},
		{`{"data":{},}`, "", "expected a key in double quotes, found '}' (line 1, column 12)"},
		{`{"data":{"list":[1,]}}`, "/data/list/1", "expected a JSON value, found ']' (line 1, column 20)"},
		{`{"data" 1}`, "/data", "expected ':', found '1' (line 1, column 9)"},
		{`{"data":01}`, "", "expected ',' or '}', found '1' (line 1, column 10)"},
		{`{"data":{"n":1.}}`, "/data/n", "expected a digit, found '}' (line 1, column 16)"},
		{`{"é":{"a~/b":nul}}`, "/é/a~0~1b", "expected a JSON value, found 'n' (line 1, column 14)"},
		{`{"data":{}} {}`, "", "expected the end, found '{' (line 1, column 13)"},
		{`{"data":{"name":"a","name":"b"}}`, "/data/name", `duplicate key "name" (line 1, column 21)`},
		{`{"data":{"name":"\ud800"}}`, "/data/name", `lone surrogate \ud800 in a string (line 1, column 18)`},
		{`{"data":{"name":"\x"}}`, "/data/name", `expected one of "\/bfnrtu after a backslash, found 'x' (line 1, column 19)`},
		{"{\"data\":{\"name\":\"\xff\"}}", "/data/name", "byte 0xff in a string is not UTF-8 (line 1, column 18)"},
		{"{\"data\":{\"name\":\"a\nb\"}}", "/data/name", "control character 0x0a in a string, write it as an escape (line 1, column 19)"},
		{`{"data":` + strings.Repeat("[", 96) + strings.Repeat("]", 96) + `}`, "/data" + strings.Repeat("/0", 95), "is nested too deep, at most 96 levels are allowed (line 1, column 104)"},
		{"[]", "", "must be one object, found an array"},
		{"null", "", "must be one object, found null"},
	} {
		overREST := w.REST(t, http.MethodPatch, "/default-value-definitions/"+d.ID, admin, c.body, nil)
		overGraphQL := w.REST(t, http.MethodPost, "/graphql", admin, c.body, map[string]string{"Accept": "application/graphql-response+json"})
		rule := "json"
		if strings.HasPrefix(c.message, "must be") {
			rule = "type"
		}
		want := []any{map[string]any{"pointer": c.pointer, "rule": rule, "message": c.message}}
		first, again := overREST.Refusal(t), overGraphQL.Refusal(t)
		if first == nil || again == nil || overREST.Status != 400 || overGraphQL.Status != 400 {
			t.Errorf("%.60q: %d %s, %d %s", c.body, overREST.Status, overREST.Body, overGraphQL.Status, overGraphQL.Body)
			continue
		}
		metadata, _ := first["metadata"].(map[string]any)
		if diff := cmp.Diff(any(want), metadata["violations"]); diff != "" || first["code"] != "slipway:Request:MALFORMED" {
			t.Errorf("%.60q: want (-), got (+): %s", c.body, diff)
		}
		delete(first, "requestId")
		delete(again, "requestId")
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("%.60q: REST (-) and GraphQL (+) differ: %s", c.body, diff)
		}
	}
}
