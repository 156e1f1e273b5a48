package document_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"go.yaml.in/yaml/v3"

	"slipway/internal/edge/gqlhttp/document"
)

// differences are the cases of graphql-js that have another result here, by rule or by rule and name.
var differences = map[string]string{
	"NoDeprecatedCustomRule": "the specification has no such rule",
	"KnownTypeNamesRule/references to standard scalars that are missing in schema":                              "the parser adds the standard scalars to every schema",
	"NoSchemaIntrospectionCustomRule/reports error for non-standard introspection fields":                       "fields of a server's own that give introspection types are its own affair",
	"OverlappingFieldsCanBeMergedRule/finds invalid case even with immediately recursive fragment":              "a document with a circle is refused for it, without a look at what may be merged",
	"SingleFieldSubscriptionsRule/skips if not subscription type":                                               "it is refused for the missing type too",
	"UniqueDirectivesPerLocationRule/unknown directives must be ignored":                                        "definitions of types are no part of a request",
	"ValuesOfCorrectTypeRule/Invalid input object value/reports error for custom scalar that returns undefined": "a custom scalar checks a literal when it decodes it",
}

// example is one of graphql-js's cases of validation, which the parser's module has in YAML.
type example struct {
	Name, Rule, Schema, Query string
	Errors                    []any
}

func TestDocumentsAreValidatedAsByGraphQLJS(t *testing.T) {
	t.Parallel()
	var texts []string
	folder := examples(t)
	load(t, filepath.Join(folder, "schemas.yml"), &texts)
	files, err := filepath.Glob(filepath.Join(folder, "*.spec.yml"))
	if err != nil {
		t.Fatal(err)
	}
	invalid, valid := 0, 0
	for _, file := range files {
		var cases []example
		load(t, file, &cases)
		rule := strings.TrimSuffix(filepath.Base(file), ".spec.yml")
		for _, c := range cases {
			if differences[rule] != "" || differences[rule+"/"+c.Name] != "" {
				continue
			}
			if len(c.Errors) > 0 {
				invalid++
			} else {
				valid++
			}
			if refused, got := c.refused(t, texts); refused != (len(c.Errors) > 0) {
				t.Errorf("%s/%s: refused is %t: %v\n%s", rule, c.Name, refused, got, c.Query)
			}
		}
	}
	if invalid < 190 || valid < 200 {
		t.Errorf("there were %d invalid and %d valid cases", invalid, valid)
	}
	t.Logf("%d invalid and %d valid cases", invalid, valid)
}

// refused reports whether the rule of the case, or the parser, has anything against it. What the other
// rules have does not matter, for the cases are made for one.
func (c example) refused(t *testing.T, schemas []string) (bool, error) {
	text := c.Schema
	if i, err := strconv.Atoi(c.Schema); err == nil {
		text = schemas[i]
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: text})
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	err = checker(schema, document.Config{Introspection: c.Rule != "NoSchemaIntrospectionCustom"})(c.text())
	var errs gqlerror.List
	if !errors.As(err, &errs) {
		return false, nil
	}
	return slices.ContainsFunc(errs, func(e *gqlerror.Error) bool {
		return e.Extensions["code"] == errcode.ParseFailed || strings.HasPrefix(e.Rule, c.Rule) || e.Rule == "NoIntrospection" && c.Rule == "NoSchemaIntrospectionCustom"
	}), err
}

// text adds operations to a document of fragments alone: a server validates what can be run, and
// merges fields for operations only.
func (c example) text() string {
	doc, err := parser.ParseQuery(&ast.Source{Input: c.Query})
	if err != nil || len(doc.Operations) > 0 {
		return c.Query
	}
	query := c.Query + " query added { __typename }"
	if c.Rule == "OverlappingFieldsCanBeMerged" {
		for i, f := range doc.Fragments {
			query += fmt.Sprintf(" query added%d { ...%s }", i, f.Name)
		}
	}
	return query
}

func examples(t *testing.T) string {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/vektah/gqlparser/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(folder)), "validator", "imported", "spec")
}

func load(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
