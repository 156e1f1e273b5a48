package cloud_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/ecs/cloud"
)

// kinds returns the constants of the type Kind.
func kinds(t *testing.T) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Kind" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, text)
			}
		}
		return true
	})
	return all
}

func TestEveryKindOfEventIsTakenAndDocumented(t *testing.T) {
	t.Parallel()
	all := kinds(t)
	if len(all) < 3 {
		t.Fatalf("found %q", all)
	}
	for _, kind := range all {
		_, violations := cloud.Decode(strictjson.MustParse(`{"id":"e1","detail-type":"` + kind +
			`","time":"2026-03-05T15:54:41Z","resources":["` + service + `"],` +
			`"detail":{"eventName":"SERVICE_STEADY_STATE","deploymentId":"ecs-svc/1"}}`))
		if len(violations) > 0 {
			t.Errorf("an event of the kind %q is refused: %v", kind, violations)
		}
		for _, file := range []string{"docs/ecs.md", "rest/openapi.json"} {
			text, err := os.ReadFile("../../../../" + file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), `"`+kind+`"`) {
				t.Errorf("%s lacks the kind %q", file, kind)
			}
		}
	}
}
