package graph_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/service/access"
)

// constants returns the texts of the constants that a package declares with a type, in their order.
func constants(t *testing.T, dir, typeName string) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || fmt.Sprint(spec.Type) != typeName {
				return true
			}
			for _, value := range spec.Values {
				if text, err := strconv.Unquote(value.(*ast.BasicLit).Value); err == nil {
					texts = append(texts, text)
				}
			}
			return false
		})
	}
	return texts
}

func TestEnumsOfTheContractsHaveTheConstantsOfTheirTypes(t *testing.T) {
	t.Parallel()
	openAPI, err := os.ReadFile("../rest/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for enum, of := range map[string]struct {
		dir, typeName string
		overREST      bool
	}{
		"DeploymentStatus":       {"../ent/deployment", "Status", false},
		"ModuleDefinitionStatus": {"../ent/moduledefinition", "Status", true},
		"CreatedByType":          {"../ent/defaultvaluedefinition", "CreatedByType", true},
		"ReleaseChangeKind":      {"../internal/pure/release", "ChangeKind", false},
		"ErrorSectionRender":     {"../internal/base/fault", "Render", true},
	} {
		want := constants(t, of.dir, of.typeName)
		var got []string
		for _, value := range schema.Types[enum].EnumValues {
			got = append(got, value.Name)
		}
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("schema.graphql: %s has %v, %s.%s %v", enum, got, of.dir, of.typeName, want)
		}
		if list := `"enum": ["` + strings.Join(want, `", "`) + `"]`; of.overREST && !strings.Contains(string(openAPI), list) {
			t.Errorf("openapi.json has no %s", list)
		}
	}
}

func TestRolesOfTheSchemaAreThoseOfTokens(t *testing.T) {
	t.Parallel()
	var inSchema, ofTokens []string
	for _, value := range schema.Types["Role"].EnumValues {
		inSchema = append(inSchema, strings.ToLower(value.Name))
	}
	for _, role := range actor.Roles {
		ofTokens = append(ofTokens, string(role))
	}
	if !slices.Equal(inSchema, ofTokens) {
		t.Errorf("the schema has %v, tokens %v", inSchema, ofTokens)
	}
	if all := constants(t, "../internal/base/actor", "Role"); !slices.Equal(all, append(ofTokens, string(actor.System))) {
		t.Errorf("package actor has the roles %v; tokens have all but system", all)
	}
}

func TestPermissionsOfTheSchemaAreTheActions(t *testing.T) {
	t.Parallel()
	named, actions := len(schema.Types["Permission"].EnumValues), constants(t, "../internal/service/access", "Action")
	if ruled := access.Permissions(&actor.Actor{Role: actor.System}); named != len(actions) || len(ruled) != len(actions) {
		t.Errorf("the schema has %d, package access %d, and its table %d", named, len(actions), len(ruled))
	}
}
