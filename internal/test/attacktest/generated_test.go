package attacktest_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway"
	"slipway/graph/generated"
	"slipway/graph/scalar"
	"slipway/internal/base/actor"
	gqldocument "slipway/internal/edge/gqlhttp/document"
)

// schema is what attacks are generated from.
var schema = gqlparser.MustLoadSchema(&ast.Source{Input: string(slipway.Schema)})

// attackable is a field that has a resolver or an argument.
type attackable struct {
	on    *ast.Definition
	field *ast.FieldDefinition
}

func (f attackable) String() string { return f.on.Name + "." + f.field.Name }

// attackables are all such fields of the schema, by their names.
func attackables() map[string]attackable {
	all := map[string]attackable{}
	for _, on := range schema.Types {
		for _, f := range on.Fields {
			if on.Kind == ast.Object && !strings.HasPrefix(on.Name, "__") && !strings.HasPrefix(f.Name, "__") && len(f.Arguments) > 0 {
				all[on.Name+"."+f.Name] = attackable{on, f}
			}
		}
	}
	for object := range reflect.TypeFor[generated.ResolverRoot]().Methods() {
		on := schema.Types[object.Name]
		for resolver := range object.Type.Out(0).Methods() {
			for _, f := range on.Fields {
				if strings.EqualFold(f.Name, resolver.Name) {
					all[on.Name+"."+f.Name] = attackable{on, f}
				}
			}
		}
	}
	return all
}

// ways are the widest lists in which the fields of a type stand, by its name. The field stands in the place of <>.
var ways = map[string][]string{
	"Query":                  {"<>"},
	"Mutation":               {"<>"},
	"Actor":                  {"deployments(first: 100) { nodes { createdBy { <> } } }", "auditEvents(first: 100) { nodes { actor { <> } } }"},
	"ApprovalsDemand":        {"rules(last: 10) { nodes { demand { ... on ApprovalsDemand { <> } } } }"},
	"Approval":               {waitingOnes + "{ approvals(first: 100) { nodes { <> } } } }"},
	"AuditEvent":             {"auditEvents(first: 100) { nodes { <> } }"},
	"DefaultValueDefinition": {"defaultValueDefinitions(first: 100) { nodes { <> } }"},
	"Deployment":             {"deployments(first: 100) { nodes { <> } }", waitingOnes + "{ <> } }", failedOnes + "{ <> } }"},
	"DeploymentComparison": {
		"deployments(first: 100) { nodes { changesFromLive { <> } } }", "compareDeployments(fromId: $former, toId: $live) { <> }",
	},
	"DeploymentPlan":           {"deploymentPlan(input: {rollback: {id: $former}}) { <> }"},
	"DeploymentReference":      {"deployment(id: $referring) { references(first: 100) { nodes { <> } } }"},
	"Drift":                    {"moduleInstances(first: 100) { nodes { drift { <> } } }"},
	"Eligibility":              {"deployments(first: 100) { nodes { rollbackEligibility { <> } } }", waitingOnes + "{ startEligibility { <> } } }"},
	"Environment":              {"environments(first: 100) { nodes { <> } }"},
	"ErrorCode":                {"errorCodes { <> }"},
	"ErrorSection":             {"deployments(first: 100, filter: {statuses: CANCELED}) { nodes { error { details { <> } } } }"},
	"LiveInDemand":             {"rules(first: 100) { nodes { demand { ... on LiveInDemand { <> } } } }"},
	"LogLine":                  {"deployments(first: 100) { nodes { logs(first: 100) { nodes { <> } } } }"},
	"ModuleDefinition":         {"moduleDefinitions(first: 100) { nodes { <> } }"},
	"ModuleInstance":           {"moduleInstances(first: 100) { nodes { <> } }", `moduleInstances(first: 100, filter: {search: "previous"}) { nodes { <> } }`},
	"ModuleVersion":            {"moduleDefinition(id: $tiny) { versions(first: 100) { nodes { <> } } }"},
	"ModuleVersionDeprecation": {"moduleDefinition(id: $tiny) { versions(first: 100) { nodes { deprecation { <> } } } }"},
	"OutdatedReference":        {"moduleInstances(first: 100) { nodes { outdatedReferences(first: 100) { nodes { <> } } } }"},
	"Override":                 {"deployments(first: 100, filter: {overridden: true}) { nodes { override { <> } } }"},
	"Project":                  {"projects(first: 100) { nodes { <> } }"},
	"Quarantine":               {"deployments(first: 100) { nodes { release { quarantines(first: 100) { nodes { <> } } } } }"},
	"Release":                  {"deployments(first: 100) { nodes { release { <> } } }", failedOnes + "{ release { <> } } }"},
	"Requirement":              {"environments(first: 100) { nodes { requirements { <> } } }", waitingOnes + "{ requirements { <> } } }"},
	"Rule":                     {"rules(first: 100) { nodes { <> } }"},
	"Runner":                   {"runners(first: 100) { nodes { <> } }"},
	"Token":                    {"tokens(first: 100) { nodes { <> } }"},
	"TokenScope":               {"tokens(first: 100) { nodes { scope { <> } } }"},
	"UserFacingErrorData":      {"deployments(first: 100, filter: {statuses: CANCELED}) { nodes { error { <> } } }"},
	"Viewer":                   {"viewer { <> }"},
	"Waiting":                  {"deployments(first: 100, filter: {statuses: PENDING}) { nodes { waitingFor { <> } } }", waitingOnes + "{ waitingFor { <> } } }"},
	"WantedOptions":            {`resolveInputs(input: {moduleVersionId: $wide, values: {}}) { options { <> } }`},
}

const (
	waitingOnes = "deployments(first: 100, filter: {statuses: AWAITING_APPROVAL}) { nodes "
	failedOnes  = "deployments(first: 100, filter: {statuses: FAILED}) { nodes "
)

// unattacked says why no attack is generated on the fields of a type, or on one field.
var unattacked = map[string]string{
	"Subscription":     "streams, followers and sockets are attacks by subscriptions",
	"LogBatch":         "only a subscription answers with one",
	"DeploymentChange": "only a subscription answers with one",
}

// variable is a value that ways and arguments name, with its type.
type variable struct {
	of    string
	value any
}

// variables are those of a world, by their names.
func variables(s stock) map[string]variable {
	all := map[string]variable{
		"large": {"JSON!", bulk("x")}, "inputs": {"[InputPropertyInput!]!", wrapped(list(200, `{"id":"i%d","label":"L","type":"string"}`))},
		"ids": {"[ID!]!", slices.Repeat([]string{s.ruled.former}, 100)}, "outputs": {"[ModuleOutputInput!]!", raw(list(100, `{"name":"n%d"}`))},
		"events": {"[DeploymentEventInput!]!", raw(list(50, `{"message":"m%d"}`))}, "lines": {"[LogLineInput!]!", raw(list(100, `{"stream":"STDOUT","text":"line %d"}`))},
		"spans": {"[HoursSpanInput!]!", spans(0)}, "values": {"JSON!", object{"t": strings.Repeat("x", 9_000)}},
	}
	for name, id := range map[string]string{
		"former": s.ruled.former, "live": s.ruled.live, "referring": s.referring, "tiny": s.tiny.module, "wide": s.wide, "module": s.ruled.module,
		"version": s.ruled.version, "instance": s.ruled.instance, "packed": s.ruled.packed, "project": s.ruled.project, "bound": s.ruled.bound,
		"awaiting": s.ruled.waits, "rejected": s.ruled.rejected, "idle": s.ruled.idle, "spare": s.ruled.spare, "rule": s.ruled.rule, "definition": s.definition, "doomed": s.tiny.definition,
		"other": s.ruled.overriding,
	} {
		all[name] = variable{"ID!", id}
	}
	for _, n := range textLengths {
		all[fmt.Sprint("text", n)] = variable{"String!", strings.Repeat("x", n)}
	}
	return all
}

// namedVariable is where a variable is named.
var namedVariable = regexp.MustCompile(`\$(\w+)`)

// operation returns an operation with the field in a place under n aliases, and its variables. What has to be new differs by
// the round and the alias.
func (f attackable) operation(way string, n, round int, s stock) (text string, used object) {
	kind, fragment, spread := "query", "", ""
	if f.on.Name == "Mutation" {
		kind = "mutation"
	}
	if of := schema.Types[f.field.Type.Name()]; of.IsCompositeType() {
		fragment, spread = " fragment f on "+of.Name+leavesOf(f.field.Type), " { ...f }"
	}

	field, body := strings.Replace(way, "<>", f.field.Name+arguments(f)+spread, 1), ""
	for i := range n {
		body += fmt.Sprintf(" a%d: ", i) + strings.ReplaceAll(field, "§", fmt.Sprintf("%d-%d", round, i))
	}
	used = object{}
	var declared []string
	all := variables(s)
	for _, found := range namedVariable.FindAllStringSubmatch(field, -1) {
		name := found[1]
		if _, known := used[name]; !known {
			used[name] = all[name].value
			declared = append(declared, "$"+name+": "+all[name].of)
		}
	}
	if len(declared) > 0 {
		kind += "(" + strings.Join(declared, ", ") + ")"
	}
	return kind + " {" + body + " }" + fragment, used
}

// priced are documents as servers price them.
var priced = gqldocument.New(schema, gqldocument.Config{Scalars: scalar.Checks(), Limits: gqldocument.Limits{FreeInputs: []string{"InputPropertyInput"}, Large: []string{"JSON"}}})

// most returns under how many aliases the field may stand in a place and be paid for, at most.
func (f attackable) most(way string) int {
	for n := 29; n > 1; n-- {
		text, used := f.operation(way, n, 0, stock{})
		doc, refused := priced.Parse(text)
		if refused == nil && len(text) < 16<<10 && priced.Cost(doc, doc.Operations[0], used).Total <= 10_000 {
			return n
		}
	}
	return 1
}

// leavesOf selects the leaves of a type, but for JSON, whose own fields are attacked: of a connection those of its nodes.
func leavesOf(of *ast.Type) string {
	object := schema.Types[of.Name()]
	switch {
	case !object.IsCompositeType():
		return ""
	case object.IsAbstractType():
		return " { __typename }"
	case strings.HasSuffix(object.Name, "Connection"):
		return " { totalCount nodes" + leavesOf(object.Fields.ForName("nodes").Type) + " }"
	}
	leaves := ""
	for _, f := range object.Fields {
		if of := f.Type.Name(); !schema.Types[of].IsCompositeType() && of != "JSON" {
			leaves += " " + f.Name
		}
	}
	if leaves == "" {
		leaves = " __typename"
	}
	return " {" + leaves + " }"
}

// attacks are those on the field in each of its ways, under as many aliases as a document may have, or else as it can pay for.
func (f attackable) attacks() (all []attack) {
	who := actor.Admin
	switch {
	case slices.Contains([]string{"claimDeployment", "renewLease", "reportDeployment", "completeDeployment"}, f.field.Name):
		who = actor.Runner
	case f.field.Name == "createOrganization" || f.field.Name == "organizations" && f.on.Name == "Query":
		who = actor.Superadmin
	}
	for i, way := range ways[f.on.Name] {
		name := f.String()
		if i > 0 {
			name += fmt.Sprintf(" in another list, %d", i)
		}
		n := f.most(way)
		a := attack{name: name, want: within + "|200 .+", run: func(ctx context.Context, c *caller) (string, error) {
			query, used := f.operation(way, n, c.round, c.stock)
			got, err := c.as(who).post(ctx, query, used)
			return unmeant(got), err
		}}
		if f.on.Name != "Mutation" {
			a = allowed(a)
		}
		all = append(all, a)
	}
	return all
}

// unmeant makes a verdict one that no attack wants, if it tells that the attack is written wrong.
func unmeant(verdict string) string {
	for _, code := range []string{"UNAUTHENTICATED", "FORBIDDEN", "Request:INVALID", "VARIABLES_INVALID", "VALIDATION_FAILED"} {
		if strings.Contains(verdict, code) {
			return "meant otherwise: " + verdict
		}
	}
	return verdict
}

// everyField are the attacks on every mutation, and on every field with a resolver or an argument.
func everyField() (all []attack) {
	fields := attackables()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		all = append(all, fields[name].attacks()...)
	}
	return all
}

func TestEveryMutationAndEveryFieldWithAResolverIsAttacked(t *testing.T) {
	t.Parallel()
	fields := attackables()
	if len(fields) < 150 {
		t.Errorf("found only %d fields", len(fields))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f := fields[name]
		why := unattacked[f.on.Name] + unattacked[name]
		if (len(ways[f.on.Name]) == 0) == (why == "") {
			t.Errorf("%s stands in %d lists, and is left out for the reason %q", f, len(ways[f.on.Name]), why)
		}
		for _, way := range ways[f.on.Name] {
			text, _ := f.operation(way, 1, 0, stock{})
			if _, refused := priced.Parse(text); refused != nil {
				t.Errorf("%s: %v", f, refused)
			}
		}
	}
}
