// Package plantest looks at how the databases carry out every statement of the program if there is much history: those of
// every list, and those of all else that it does.
package plantest_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"slipway/ent/chore"
	"slipway/ent/organization"
	"slipway/internal/base/actor"
	"slipway/internal/data/record"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

const (
	// mostSorted bounds the rows of one sort.
	mostSorted = 1000
	// mostRead bounds the rows that the tables are read for, for a page or for the pages of fifty lists.
	mostRead = 5000
)

// plan is a node of PostgreSQL's plan, carried out, in its JSON.
type plan struct {
	Type    string  `json:"Node Type"`
	Table   string  `json:"Relation Name"`
	Index   string  `json:"Index Name"`
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Plans   []plan
}

// faults returns what is wrong with the plan of a statement. The rows of a count are not bounded: it reads all that it
// counts, and sorts those of several values that a search looks through. Without statistics, which PostgreSQL has by itself a
// minute after rows have come, it may take the wrong of two indexes for as good, which no statement can keep it from; but it
// has to take one.
func (p plan) faults(s statement, statistics bool) []string {
	sorted := math.Inf(1)
	if statistics && !s.counts() {
		sorted = mostSorted
		if s.searches() {
			sorted = record.SearchLimit
		}
	}
	found := p.faultsOfNodes(sorted)
	if read := p.read(); statistics && !s.counts() && read > s.mostRead() {
		found = append(found, fmt.Sprintf("reads %.0f rows, at most %.0f", read, s.mostRead()))
	}
	return found
}

// few are the tables that have few rows, however much has been.
var few = []string{chore.Table, organization.Table}

// faultsOfNodes returns what is wrong with the nodes of a plan, which may sort so many rows.
func (p plan) faultsOfNodes(sorted float64) (found []string) {
	if p.Type == "Seq Scan" && !slices.Contains(few, p.Table) && p.Rows+p.Removed > mostSorted {
		found = append(found, "Seq Scan over "+p.Table)
	}
	if strings.HasSuffix(p.Type, "Sort") && p.Plans[0].Rows > sorted {
		found = append(found, fmt.Sprintf("%s of %.0f rows, at most %.0f", p.Type, p.Plans[0].Rows, sorted))
	}
	for _, below := range p.Plans {
		found = append(found, below.faultsOfNodes(sorted)...)
	}
	return found
}

// read is how many rows are read from tables.
func (p plan) read() (rows float64) {
	if p.Table != "" {
		rows = (p.Rows + p.Removed) * p.Loops
	}
	for _, below := range p.Plans {
		rows += below.read()
	}
	return rows
}

// follows reports whether an index is read.
func (p plan) follows(index string) bool {
	return p.Index == index || slices.ContainsFunc(p.Plans, func(below plan) bool { return below.follows(index) })
}

// String is the plan on one line: each node with its table and its index, what it gave, what it threw away and
// how often it ran.
func (p plan) String() string {
	text := strings.Join(strings.Fields(p.Type+" "+p.Table+" "+p.Index), " ")
	text += fmt.Sprintf(" (%.0f-%.0f)x%.0f", p.Rows, p.Removed, p.Loops)
	for _, below := range p.Plans {
		text += " [" + below.String() + "]"
	}
	return text
}

// values are those of every filter: some that many rows have and some that few have.
var values = map[string][]string{
	"deployments.moduleInstanceId":        {`"inst_00000000000000000001000900"`},
	"deployments.environmentId":           {`"env_00000000000000000001000000"`},
	"deployments.projectId":               {`"prj_00000000000000000001000000"`},
	"deployments.moduleDefinitionId":      {`"mod_00000000000000000001000000"`, `"mod_00000000000000000001000003"`},
	"deployments.moduleVersionId":         {`"mver_00000000000000000001000000"`, `"mver_00000000000000000001000053"`},
	"deployments.releaseId":               {`"rel_00000000000000000001000000"`},
	"deployments.statuses":                {"SUCCEEDED", "RUNNING", "[SUCCEEDED, RUNNING, FAILED]", "[PENDING, RUNNING]"},
	"deployments.operations":              {"CREATE", "DESTROY", "[ROLLBACK, DESTROY]", "[CREATE, PROMOTE]"},
	"deployments.external":                {"true", "false"},
	"deployments.createdByPrincipalId":    {`"holder:many"`, `"holder:few"`},
	"deployments.pipelineRunId":           {`"run-7"`},
	"deployments.search":                  {`"Release"`, `"Release 99"`},
	"deployments.orderBy":                 {"LAST_COMPLETED"},
	"deployments.deploymentType":          {`"aws:ecs"`, `"terraform"`},
	"deployments.createdFrom":             {`"2026-01-01T00:00:02Z"`},
	"deployments.overridden":              {"true", "false"},
	"deployments.awaitingMyApproval":      {"true"},
	"rules.ended":                         {"true"},
	"rules.projectId":                     {`"prj_00000000000000000001000000"`},
	"rules.environmentId":                 {`"env_00000000000000000001000000"`},
	"tokens.role":                         {"VIEWER"},
	"tokens.holder":                       {`"many"`},
	"tokens.active":                       {"true", "false"},
	"tokens.search":                       {`"text"`, `"text-55"`},
	"organizations.search":                {`"text"`, `"text-55"`},
	"defaultValueDefinitions.search":      {`"text"`, `"text-55"`},
	"projects.orderBy":                    {"NAME"},
	"environments.orderBy":                {"NAME"},
	"moduleInstances.orderBy":             {"NAME"},
	"moduleDefinitions.orderBy":           {"NAME"},
	"moduleInstances.liveModuleVersionId": {`"mver_00000000000000000001000000"`},
	"deployments.createdBefore":           {`"2026-01-01T13:53:00Z"`},
	"moduleInstances.projectId":           {`"prj_00000000000000000001000000"`},
	"moduleInstances.environmentId":       {`"env_00000000000000000001000000"`},
	"moduleInstances.moduleDefinitionId":  {`"mod_00000000000000000001000000"`},
	"moduleInstances.drift":               {"ROLLED_BACK", "CHANGED_OUTSIDE"},
	"moduleInstances.archived":            {"true", "false"},
	"environments.archived":               {"true"},
	"projects.archived":                   {"true"},
	"projects.search":                     {`"text"`, `"text-55"`},
	"environments.search":                 {`"text"`, `"text-55"`},
	"moduleInstances.search":              {`"text"`, `"text-55"`},
	"moduleDefinitions.status":            {"ACTIVE", "DRAFT"},
	"moduleDefinitions.type":              {`"web"`},
	"moduleDefinitions.search":            {`"text"`, `"text-55"`},
	"defaultValueDefinitions.givenId":     {`"text-0"`},
	"environments.projectId":              {`"prj_00000000000000000001000000"`},
	"auditEvents.tokenId":                 {`"tok_00000000000000000001000000"`},
	"auditEvents.action":                  {`"rollbackDeployment"`, `"createProject"`},
	"auditEvents.objectId":                {`"dep_00000000000000000001000000"`},
	"auditEvents.createdFrom":             {`"2026-01-01T00:00:02Z"`},
	"auditEvents.createdBefore":           {`"2026-01-01T01:30:00Z"`},
	"module_instances.type":               {`"web"`},
	"module_instances.environmentId":      {`"env_00000000000000000001000000"`},
	"default_value_definition.givenId":    {`"text-0"`},
}

// statement is one that the program sends.
type statement struct {
	worldtest.Statement
	// of is what sends it.
	of string
	// isOfList reports whether it reads pages of a list, or of fifty lists at once.
	isOfList bool
	// overAll reports whether it is over all organizations.
	overAll bool
}

func (s statement) counts() bool { return strings.Contains(s.Text, "COUNT(") }

// searches reports whether the statement is of a list that is searched.
func (s statement) searches() bool { return strings.Contains(s.of, "search: ") }

// mostRead is how many rows the statement may read: a search looks through as many as it was charged for.
func (s statement) mostRead() float64 {
	if s.searches() {
		return mostRead + record.SearchLimit
	}
	return mostRead
}

// claims reports whether a runner claims by the statement.
func (s statement) claims() bool {
	return strings.HasPrefix(s.Text, "UPDATE ") && strings.Contains(s.Text, "SKIP LOCKED")
}

// everyStatement returns every statement that the program sends, at a place with a long history, but those that only insert.
func everyStatement(t *testing.T, w *worldtest.World, p *worldtest.Fixture, r *recorder) []statement {
	t.Helper()
	all := statements(t, w, w.Acme)
	seen := map[string]bool{}
	for _, s := range append(w.Recorded(newTour(t, w, p).run), claim(t, w, w.Acme)) {
		if !seen[s.Text] && !strings.HasPrefix(s.Text, "INSERT ") && !strings.HasPrefix(s.Text, `WITH "insert_`) {
			seen[s.Text] = true
			all = append(all, statement{Statement: s, of: "the tour"})
		}
	}
	everyStatementWasSent(t, w, r.sites)
	for _, s := range r.system {
		all = append(all, statement{Statement: s, of: "the system", overAll: true})
	}
	return all
}

// statements returns what the services send for every list of an organization, each once.
func statements(t *testing.T, w *worldtest.World, o *worldtest.Org) []statement {
	t.Helper()
	token := o.Tokens[actor.Admin]
	for _, token := range []string{token, w.Superadmin} {
		request(t, w, token, "{ viewer { tokenId } }")
	}
	var all []statement
	seen := map[string]bool{}
	for _, l := range lists(t, w, token) {
		tokens := []string{token}
		switch l.field {
		case "organizations":
			tokens = []string{w.Superadmin}
		case "tokens": // a superadmin has others
			tokens = []string{token, w.Superadmin}
		}
		var parents []string
		if l.parent != "Query" {
			parents = oldest(t, w, o, l.parent)
		}
		for _, s := range w.Recorded(func() {
			for _, token := range tokens {
				l.ask(t, w, token, parents)
			}
		}) {
			if key := fmt.Sprint(s.Text, s.Args); !seen[key] {
				seen[key] = true
				all = append(all, statement{Statement: s, of: l.String(), isOfList: true})
			}
		}
	}
	return all
}

// claim returns what a runner sends that claims within a scope of as many projects and environments as there may be.
func claim(t *testing.T, w *worldtest.World, o *worldtest.Org) worldtest.Statement {
	t.Helper()
	scope := &actor.Scope{}
	for i := range 100 {
		scope.Projects = append(scope.Projects, fmt.Sprintf("prj_%026d", 1000+i))
		scope.Environments = append(scope.Environments, fmt.Sprintf("env_%026d", 1000000+i))
	}
	ctx := actor.With(t.Context(), &actor.Actor{Name: "runner", Role: actor.Runner, OrganizationID: o.ID, Scope: scope})
	lease := "lease_of_the_plan"
	for _, s := range w.Recorded(func() {
		if _, _, err := w.Deploy.Execution.Claim(ctx, execution.Claim{Kinds: module.DeploymentTypes, LeaseID: &lease}); err != nil {
			t.Fatal(err)
		}
	}) {
		if strings.Contains(s.Text, "lease_expires_at") && strings.HasPrefix(s.Text, "UPDATE") {
			s.Args[slices.Index(s.Args, any(lease))] = lease + "_again" // the first has a deployment now
			return s
		}
	}
	t.Fatal("no claim was sent")
	return worldtest.Statement{}
}

// oldest returns the ids of an organization's oldest records of a type of the schema, fifty at most.
func oldest(t *testing.T, w *worldtest.World, o *worldtest.Org, entity string) (ids []string) {
	t.Helper()
	rows, err := w.Raw(t, o).QueryContext(t.Context(), `SELECT id FROM `+tableOf(t, entity)+
		` WHERE organization_id = '`+o.ID+`' ORDER BY created_at LIMIT 50`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if rows.Err() != nil || len(ids) == 0 {
		t.Fatalf("%d of %s, %v", len(ids), entity, rows.Err())
	}
	return ids
}
