package cloud_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
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

// contract returns the properties of an event's detail in the contract of REST: their formats, or their types.
func contract(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../../rest/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas struct {
				EcsEventDetail struct {
					Properties map[string]struct {
						Format string
						Type   any
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for name, p := range document.Components.Schemas.EcsEventDetail.Properties {
		all[name] = cmp.Or(p.Format, strings.Fields(strings.Trim(fmt.Sprint(p.Type), "[]"))[0])
	}
	return all
}

var detailMember = regexp.MustCompile("`json:\"(\\w+)\"")

func TestEveryDetailOfAnEventIsInTheContractAndRead(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	_, members, _ := strings.Cut(string(code), "\ntype detail struct {")
	members, _, _ = strings.Cut(members, "\n}")
	var declared []string
	for _, found := range detailMember.FindAllStringSubmatch(members, -1) {
		declared = append(declared, found[1])
	}
	slices.Sort(declared)
	properties := contract(t)
	if documented := slices.Sorted(maps.Keys(properties)); !slices.Equal(declared, documented) {
		t.Errorf("event.go reads %q, the contract has %q", declared, documented)
	}

	decoded := func(other string) cloud.Event {
		detail := map[string]any{}
		for name, kind := range properties {
			digit := map[bool]string{true: "2", false: "1"}[name == other]
			switch {
			case name == "serviceArn":
				detail[name] = service + digit
			case name == "updatedAt" && other == "createdAt": // which is read where this is not
			case kind == "date-time":
				detail[name] = "2026-03-05T15:54:4" + digit + "Z"
			case kind == "integer":
				detail[name] = json.Number(digit)
			default:
				detail[name] = "x" + digit
			}
		}
		text, err := json.Marshal(map[string]any{
			"id": "e1", "detail-type": cloud.HookStateChange, "time": "2026-03-05T15:54:41Z", "detail": detail,
		})
		if err != nil {
			t.Fatal(err)
		}
		e, violations := cloud.Decode(strictjson.MustParse(string(text)))
		if len(violations) > 0 {
			t.Errorf("%s: %v", other, violations)
		}
		return e
	}
	for name := range properties {
		if reflect.DeepEqual(decoded(name), decoded("")) {
			t.Errorf("%s is accepted, and not in the event", name)
		}
	}
}
