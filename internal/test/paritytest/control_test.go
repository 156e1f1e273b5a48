package paritytest_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/approval"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/account"
	"slipway/internal/service/catalog"
	"slipway/internal/service/workspace"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// The table of release control: who, with which scope, does what, under which rule, with or without a reason to go past it.
// Each cell is planned and carried out over GraphQL, and carried out over REST if that has the operation; if no reason
// is given, the eligibility by which the button of the operation is shown is asked as well. All have to say what the oracle
// says, which is written by the words of docs/release-control.md, docs/access.md and the schema, and calls nothing of the
// program.
//
// On SQLite a developer and an admin try everything under all rules, with and without a reason: without a scope, with another
// project as theirs, and in turns with the project or the environment of the table. Viewers and runners, who are refused
// whatever the rule is, take turns by their scopes, and so do a superadmin and nobody. On PostgreSQL, if a cell takes
// longer, a developer and an admin without a scope try everything, and each of the others has at least one rule.

// What comes of a request, besides codes of errors.
const (
	pending     = "PENDING"
	pendingPast = "PENDING, past the rule"
	awaiting    = "AWAITING_APPROVAL"
)

// The codes that are in the table.
const (
	unauthenticated  = "slipway:Request:UNAUTHENTICATED"
	mayNotDeploy     = "slipway:Deployment:FORBIDDEN"
	mayNotDestroy    = "slipway:ModuleInstance:FORBIDDEN"
	notPastIt        = "slipway:Rule:NOT_OVERRIDABLE"
	closed           = "slipway:Environment:CLOSED"
	notPromoted      = "slipway:Deployment:NOT_PROMOTED"
	ownApproval      = "slipway:Deployment:OWN_APPROVAL"
	approvalsMissing = "slipway:Deployment:APPROVALS_MISSING"
	rejected         = "slipway:Deployment:REJECTED"
)

const (
	anOverrideReason     = "The checkout is down."
	overrideReasonMember = "overrideReason"
	// mostFailures is how many cells that differ are named.
	mostFailures = 30
)

// restStatus is the status that REST gives what comes of a request.
var restStatus = map[string]int{
	pending: http.StatusCreated, pendingPast: http.StatusCreated, awaiting: http.StatusCreated,
	unauthenticated: http.StatusUnauthorized, mayNotDeploy: http.StatusForbidden, notPastIt: http.StatusForbidden,
	closed: http.StatusConflict, notPromoted: http.StatusUnprocessableEntity,
}

// someone is who asks.
type someone struct {
	name  string
	role  actor.Role
	token string
	// within is whether the place of the table is within the scope of the token.
	within bool
	// w is the world as the caller addresses it.
	w *worldtest.World
}

// company are those who ask, by their roles: with each scope, none first.
type company map[actor.Role][]someone

// turn returns those whose turn it is under the n-th rule, by whether there is time for many.
func (all company) turn(n int, many bool) (list []someone) {
	developers, admins, viewers, runners := all[actor.Developer], all[actor.Admin], all[actor.Viewer], all[actor.Runner]
	others := slices.Concat(all[actor.Superadmin], all[nobody])
	if many {
		return []someone{
			developers[0], developers[1+n%2], developers[3], admins[0], admins[1+(n+1)%2], admins[3],
			viewers[n%len(viewers)], runners[n%len(runners)], others[n%len(others)],
		}
	}
	others = slices.Concat(others, viewers, runners, developers[1:], admins[1:])
	return []someone{developers[0], admins[0], others[n%len(others)]}
}

// nobody has no role.
const nobody = actor.Role("")

func (c someone) mayDeploy() bool {
	return c.within && slices.Contains([]actor.Role{actor.Developer, actor.Admin, actor.Superadmin}, c.role)
}

func (c someone) mayDestroy() bool { return c.mayDeploy() && c.mayGoPastRules() }

func (c someone) mayGoPastRules() bool {
	return c.within && slices.Contains([]actor.Role{actor.Admin, actor.Superadmin}, c.role)
}

// company makes a token of each role with each scope. holder is whose they are, "" for a person of its own each.
func (s *stage) company(t *testing.T, holder string) company {
	t.Helper()
	list := company{
		actor.Superadmin: {{"the superadmin", actor.Superadmin, s.w.Superadmin, true, s.w.In(s.w.Acme.Slug)}},
		nobody:           {{"nobody", nobody, "", false, s.w}},
	}
	scopes := []struct {
		name   string
		scope  *actor.Scope
		within bool
	}{
		{"without a scope", nil, true},
		{"for the project", &actor.Scope{Projects: []string{s.Project.ID}}, true},
		{"for the environment", &actor.Scope{Environments: []string{s.Environment.ID}}, true},
		{"for another project", &actor.Scope{Projects: []string{s.elsewhere.Project.ID}}, false},
	}
	for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Admin, actor.Runner} {
		for _, has := range scopes {
			name := fmt.Sprintf("the %s %s", role, has.name)
			in := account.NewToken{Name: name, Role: role, Scope: has.scope}
			if holder != "" {
				in.Holder = &holder
			}
			list[role] = append(list[role], someone{name, role, s.w.Token(t, s.w.Acme, in), has.within, s.w})
		}
	}
	return list
}

// act is one operation on something of its own.
type act struct {
	name      string
	operation string
	// mutation is what does it, and planned the member of the input of deploymentPlan that has it planned.
	mutation, planned string
	input             map[string]any
	// button is the query for the eligibility, "" for none.
	button string
	// path is REST's, for a source of its own; "" where REST does not have the operation.
	path string
	// wasLive is whether it meets the demand to have been live in staging: by a promotion from there, or as a redeployment of
	// what has succeeded in the instance before.
	wasLive bool
}

// stage is where the table is played.
type stage struct {
	*worldtest.Fixture
	w                  *worldtest.World
	staging, elsewhere *worldtest.Fixture
	acts               []act
}

func newStage(t *testing.T, w *worldtest.World) *stage {
	t.Helper()
	here, elsewhere := w.Fixture(t, w.Acme, "here"), w.Fixture(t, w.Acme, "elsewhere")
	staging := *here
	var err error
	if staging.Environment, err = w.Workspace.CreateEnvironment(w.Acme.As(actor.Admin), workspace.NewEnvironment{
		ProjectID: here.Project.ID, Name: "Staging", Slug: "staging",
	}); err != nil {
		t.Fatal(err)
	}
	s := &stage{Fixture: here, w: w, staging: &staging, elsewhere: elsewhere}
	s.acts = []act{s.create(t), s.promote(t, "promoteFromStaging", &staging), s.promote(t, "promoteFromElsewhere", elsewhere)}
	s.acts = append(s.acts, s.replay(t, "redeploy", false), s.replay(t, "redeployOfAFailure", true), s.replay(t, "rollback", false), s.destroy(t))
	return s
}

// ended makes a deployment of a new instance of the stage's module in the environment of a place, and has it end.
func (s *stage) ended(t *testing.T, name string, in *worldtest.Fixture, failure *fault.Data) *ent.Deployment {
	t.Helper()
	i, err := s.w.Catalog.CreateInstance(s.w.Acme.As(actor.Admin), catalog.NewInstance{
		EnvironmentID: in.Environment.ID, DefinitionID: s.Definition.ID, Name: name,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Finish(t, s.Deploy(t, i.ID, `{"image":"web:1"}`), failure)
}

func (s *stage) create(t *testing.T) act {
	t.Helper()
	return act{
		name: "create", operation: "CREATE", mutation: "createDeployment", planned: "create",
		input: map[string]any{
			"moduleInstanceId": s.NewInstance(t, "create").ID, "moduleVersionId": s.Version.ID, "inputs": map[string]any{"image": "web:1"},
			"artifact": json.RawMessage(worldtest.Artifact),
		},
	}
}

func (s *stage) promote(t *testing.T, name string, from *worldtest.Fixture) act {
	t.Helper()
	return act{
		name: name, operation: "PROMOTE", mutation: "promoteDeployment", planned: "promote", wasLive: from == s.staging,
		input: map[string]any{"id": s.ended(t, name+"-source", from, nil).ID, "moduleInstanceId": s.NewInstance(t, name).ID},
	}
}

// replay is a rollback to, or a redeployment of, what has succeeded or failed.
func (s *stage) replay(t *testing.T, name string, failed bool) act {
	t.Helper()
	var failure *fault.Data
	if failed {
		failure = &fault.Data{Code: "x:y:Z", Message: "broken"}
	}
	source, overREST := s.ended(t, name, s.Fixture, failure), s.ended(t, name+"-rest", s.Fixture, failure)
	verb := "redeploy"
	if name == "rollback" {
		verb = name
	}
	return act{
		name: name, operation: strings.ToUpper(verb), mutation: verb + "Deployment", planned: verb, wasLive: !failed,
		input:  map[string]any{"id": source.ID},
		button: fmt.Sprintf(`deployment(id: %q) { says: %sEligibility { allowed refusal { code } } }`, source.ID, verb),
		path:   "/deployments/" + overREST.ID + "/" + verb,
	}
}

func (s *stage) destroy(t *testing.T) act {
	t.Helper()
	id := s.ended(t, "destroy", s.Fixture, nil).ModuleInstanceID
	return act{
		name: "destroy", operation: "DESTROY", mutation: "destroyModuleInstance", planned: "destroy", input: map[string]any{"id": id},
		button: fmt.Sprintf(`moduleInstance(id: %q) { says: destroyEligibility { allowed refusal { code } } }`, id),
	}
}

// ruling is a rule that is in force at the stage, and there alone.
type ruling struct {
	// demand is the member of its demand, "" for no rule, and says what that has.
	demand string
	says   map[string]any
	// isMet is whether that is met whatever is done.
	isMet bool
	// operations are those that it names; nil for none, so that it is for those that the guide names.
	operations []string
	// overridable is nil if that is left out.
	overridable *bool
}

func (r ruling) isOverridable() bool { return r.overridable == nil || *r.overridable }

func (r ruling) String() string {
	if r.demand == "" {
		return "no rule"
	}
	of, can := "the usual operations", "not overridable"
	if r.operations != nil {
		of = strings.Join(r.operations, ", ")
	}
	if r.isOverridable() {
		can = "overridable"
	}
	says, _ := json.Marshal(r.says)
	return fmt.Sprintf("%s %s for %s, %s", r.demand, says, of, can)
}

func (r ruling) binds(operation string) bool {
	switch {
	case r.demand == "":
		return false
	case r.operations != nil:
		return slices.Contains(r.operations, operation)
	case r.demand == "liveIn" && operation == "DESTROY":
		return false
	}
	return operation != "ROLLBACK"
}

// rulings are all rules of the table: of each demand one that leaves out what may be, and pairs that name some operations and
// the others.
func (s *stage) rulings() []ruling {
	now := time.Now().UTC() // as the API takes times
	daily := func(days ...time.Time) map[string]any {
		var names []string
		for _, day := range days {
			names = append(names, strings.ToUpper(day.Weekday().String()))
		}
		return map[string]any{"timeZone": "UTC", "spans": []any{map[string]any{"days": names, "from": "00:00", "to": "24:00"}}}
	}
	demands := []ruling{
		{demand: "approvals", says: map[string]any{"count": 1}},
		{demand: "approvals", says: map[string]any{"count": 1, "role": "ADMIN"}},
		{demand: "hours", says: daily(now.AddDate(0, 0, 3))},
		{demand: "freeze", says: map[string]any{"from": now.Add(-time.Hour)}},
		{demand: "liveIn", says: map[string]any{"environmentIds": []string{s.staging.Environment.ID}}},
	}
	list := []ruling{
		{},
		{demand: "hours", says: daily(now, now.AddDate(0, 0, 1)), isMet: true},
		{demand: "freeze", says: map[string]any{"from": now.Add(-2 * time.Hour), "until": now.Add(-time.Hour)}, isMet: true},
	}
	for _, r := range demands {
		list = append(list, r)
		named := [][]string{{"CREATE", "ROLLBACK"}, {"PROMOTE", "REDEPLOY", "DESTROY"}}
		if r.demand == "liveIn" {
			named = [][]string{{"CREATE"}, {"PROMOTE", "REDEPLOY"}}
		}
		for _, r.operations = range named {
			for _, can := range []bool{true, false} {
				r.overridable = &can
				list = append(list, r)
			}
		}
	}
	return list
}

// enforce makes a rule, and returns what ends it.
func (s *stage) enforce(t *testing.T, r ruling) (end func()) {
	t.Helper()
	if r.demand == "" {
		return func() {}
	}
	admin := s.w.Acme.Tokens[actor.Admin]
	made := s.w.GraphQL(t, admin, `mutation($input: CreateRuleInput!) { createRule(input: $input) { rule { id } } }`, map[string]any{"input": map[string]any{
		"name": "R", "environmentId": s.Environment.ID, "operations": r.operations, "overridable": r.overridable,
		"demand": map[string]any{r.demand: r.says},
	}})
	id := made.Text(t, "data", "createRule", "rule", "id")
	if t.Failed() {
		t.FailNow()
	}
	return func() {
		if _, err := s.w.Rules.End(s.w.Acme.As(actor.Admin), id, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// cell is one of the table.
type cell struct {
	by     someone
	act    act
	rule   ruling
	reason bool
}

func (c cell) String() string {
	with := "without a reason to go past rules"
	if c.reason {
		with = "with a reason to go past rules"
	}
	return fmt.Sprintf("%s by %s, %s; %s", c.act.name, c.by.name, with, c.rule)
}

// expected is the oracle.
func (c cell) expected() string {
	may, forbidden := c.by.mayDeploy(), mayNotDeploy
	if c.act.operation == "DESTROY" {
		may, forbidden = c.by.mayDestroy(), mayNotDestroy
	}
	switch {
	case c.by.role == nobody:
		return unauthenticated
	case !may:
		return forbidden
	case c.reason && !c.by.mayGoPastRules(): // "For admins", whatever the rules come to
		return mayNotDeploy
	case !c.rule.binds(c.act.operation), c.rule.isMet, c.rule.demand == "liveIn" && c.act.wasLive:
		return pending
	case c.reason && c.rule.isOverridable():
		return pendingPast
	case c.reason:
		return notPastIt
	}
	return map[string]string{"approvals": awaiting, "hours": closed, "freeze": closed, "liveIn": notPromoted}[c.rule.demand]
}

// answers is what GraphQL answers, by the names of the fields.
type answers struct {
	Data   map[string]json.RawMessage
	Errors []struct {
		Path       []any
		Extensions struct{ Code string }
	}
}

// read returns what a field was answered with, in the form of out, and the code of its error.
func (a answers) read(t *testing.T, name string, out any) (code string) {
	t.Helper()
	for _, e := range a.Errors {
		if len(e.Path) == 0 || e.Path[0] == name {
			return e.Extensions.Code
		}
	}
	if err := json.Unmarshal(a.Data[name], out); err != nil {
		t.Errorf("%s: %v in %s", name, err, a.Data[name])
	}
	return ""
}

func (c someone) ask(t *testing.T, document string, variables map[string]any) (a answers) {
	t.Helper()
	r := c.w.GraphQL(t, c.token, document, variables)
	if err := json.Unmarshal(r.Body, &a); err != nil || r.Status != http.StatusOK && c.role != nobody {
		t.Fatalf("%v: %d %s", err, r.Status, r.Body)
	}
	return a
}

// documents are what has all acts carried out, planned, and planned and asked about.
type documents struct{ carryOut, plan, planAndAsk string }

func (s *stage) documents() (d documents) {
	var variables, mutations, plans, buttons string
	for _, a := range s.acts {
		variables += fmt.Sprintf("$%s: %s%sInput! ", a.name, strings.ToUpper(a.mutation[:1]), a.mutation[1:])
		mutations += fmt.Sprintf("%s: %s(input: $%[1]s) { deployment { id status } }\n", a.name, a.mutation)
		plans += fmt.Sprintf("%s: deploymentPlan(input: {%s: $%[1]s}) { status refusal { code } }\n", a.name, a.planned)
		if a.button != "" {
			buttons += a.name + "Button: " + a.button + "\n"
		}
	}
	return documents{
		"mutation(" + variables + ") {\n" + mutations + "}", "query(" + variables + ") {\n" + plans + "}",
		"query(" + variables + ") {\n" + plans + buttons + "}",
	}
}

// table is the table as it is gone through.
type table struct {
	*stage
	documents
	company
	cells, failures int
}

// differs notes that something differs from the oracle.
func (all *table) differs(t *testing.T, c fmt.Stringer, where, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	t.Errorf("%s: %s says %s, want %s", c, where, got, want)
	if all.failures++; all.failures == mostFailures {
		t.Fatal("and perhaps others")
	}
}

func TestTheTableOfReleaseControl(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		all := &table{stage: s, documents: s.documents()}
		all.company = s.company(t, "")
		rulings := s.rulings()
		all.isWhole(t, rulings)
		for n, r := range rulings {
			end := s.enforce(t, r)
			for _, by := range all.turn(n, testkit.Proving() && !w.Store.Postgres()) {
				all.row(t, by, r, false)
				all.row(t, by, r, true)
			}
			all.settle(t, nil) // what a refusal has left, where the last rows were refused
			end()
		}
		t.Logf("%d cells", all.cells)
	})
}

// isWhole fails the test if there are operations, demands or roles that the table does not have.
func (all *table) isWhole(t *testing.T, rulings []ruling) {
	t.Helper()
	schema := schemaOf(t)
	for _, operation := range schema.Types["DeploymentOperation"].EnumValues {
		if !slices.ContainsFunc(all.acts, func(a act) bool { return a.operation == operation.Name }) {
			t.Errorf("nothing is a %s", operation.Name)
		}
	}
	for _, demand := range schema.Types["RuleDemandInput"].Fields {
		if !slices.ContainsFunc(rulings, func(r ruling) bool { return r.demand == demand.Name }) {
			t.Errorf("no rule demands %s", demand.Name)
		}
	}
	for _, role := range actor.Roles {
		if len(all.company[role]) == 0 {
			t.Errorf("nobody is a %s", role)
		}
	}
}

// row tries all acts of a caller under a rule.
func (all *table) row(t *testing.T, by someone, r ruling, reason bool) {
	t.Helper()
	variables, headers := map[string]any{}, map[string]string{}
	for _, a := range all.acts {
		variables[a.name] = a.input
		if reason {
			input := maps.Clone(a.input)
			input[overrideReasonMember] = anOverrideReason
			variables[a.name] = input
			headers["Slipway-Override-Reason"] = anOverrideReason
		}
	}
	plan := all.plan
	if !reason {
		plan = all.planAndAsk
	}
	plans := by.ask(t, plan, variables)
	for _, a := range all.acts {
		all.foretold(t, cell{by, a, r, reason}, plans)
	}
	made := map[string]made{}
	done := by.ask(t, all.carryOut, variables)
	for _, a := range all.acts {
		c := cell{by, a, r, reason}
		all.cells++
		all.carriedOut(t, c, done, made)
		if a.path != "" {
			all.carriedOutOverREST(t, c, headers, made)
		}
	}
	if len(made) > 0 {
		all.settle(t, made)
	}
}

// eligibility is whether something could be done.
type eligibility struct {
	Allowed bool
	Refusal struct{ Code string }
}

func (e eligibility) String() string {
	if e.Allowed {
		return "allowed" + e.Refusal.Code
	}
	return e.Refusal.Code
}

// foretold compares what the plan and the eligibility say.
func (all *table) foretold(t *testing.T, c cell, plans answers) {
	t.Helper()
	want := c.expected()
	var plan struct {
		Status  string
		Refusal struct{ Code string }
	}
	code := plans.read(t, c.act.name, &plan)
	planned := want
	if planned == pendingPast {
		planned = pending
	}
	all.differs(t, c, "the plan", code+plan.Status+plan.Refusal.Code, planned)
	if c.reason || c.act.button == "" {
		return
	}
	var asked struct{ Says eligibility }
	code = plans.read(t, c.act.name+"Button", &asked)
	could := want
	if want == pending || want == awaiting {
		could = "allowed"
	}
	if code == "" {
		code = asked.Says.String()
	}
	all.differs(t, c, "the eligibility", code, could)
}

// made is where a deployment was made.
type made struct {
	cell  cell
	where string
}

// carriedOut compares what came of the mutation.
func (all *table) carriedOut(t *testing.T, c cell, done answers, as map[string]made) {
	t.Helper()
	var payload struct{ Deployment struct{ ID, Status string } }
	code := done.read(t, c.act.name, &payload)
	all.came(t, made{c, "GraphQL"}, code+payload.Deployment.Status, payload.Deployment.ID, as)
}

// carriedOutOverREST does the same over REST, and compares what comes of it.
func (all *table) carriedOutOverREST(t *testing.T, c cell, headers map[string]string, as map[string]made) {
	t.Helper()
	r := c.by.w.REST(t, http.MethodPost, c.act.path, c.by.token, "", headers)
	var body struct {
		Code string
		Data struct{ ID string }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatalf("%s: %v: %s", c, err, r.Body)
	}
	all.came(t, made{c, "REST"}, body.Code+r.Header.Get("Slipway-Status"), body.Data.ID, as)
	all.differs(t, c, "REST's status", fmt.Sprint(r.Status), fmt.Sprint(restStatus[c.expected()]))
}

// came compares what came of an act, and notes the deployment.
func (all *table) came(t *testing.T, m made, got, id string, as map[string]made) {
	t.Helper()
	want := m.cell.expected()
	if want == pendingPast {
		want = pending // see settle
	}
	all.differs(t, m.cell, m.where, got, want)
	if id != "" {
		as[id] = m
	}
}

// settle compares what there is now with what was answered, and cancels it.
func (all *table) settle(t *testing.T, as map[string]made) {
	t.Helper()
	for _, d := range all.w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(all.w.Acme.As(actor.Viewer)) {
		m, isKnown := as[d.ID]
		if !isKnown {
			t.Errorf("a refusal has left a %s of %s by %s in the state %s", d.TriggerSource, d.ModuleInstanceID, d.CreatedBy, d.Status)
		}
		delete(as, d.ID)
		all.w.Cancel(t, all.w.Acme, d.ID)
		if !isKnown {
			continue
		}
		is := string(d.Status)
		if d.Override != nil {
			is += ", past the rule"
		}
		all.differs(t, m.cell, "what "+m.where+" has made", is, m.cell.expected())
	}
	for _, m := range as {
		t.Errorf("%s: %s has made nothing", m.cell, m.where)
	}
}

// The second table is of what waits: who, with which scope, of the same person as the author or not, approves of it, rejects
// or starts it, if a role is demanded of whoever approves. It is gone through whole on both databases, over GraphQL, which
// alone has these. Beforehand the eligibility to approve and to start is asked, and the list of what awaits the
// caller's approval.

// What comes of a voice, besides codes of errors and states.
const (
	endedBy = "CANCELED with " + rejected
	isKept  = "AWAITING_APPROVAL, not started for "
)

// says is what somebody does to what waits.
type says struct {
	name, mutation string
	// isApproved is whether it was approved by a third person, an admin, before.
	isApproved bool
	// reason is whether a reason is given to go past the rule, and holds whether the rule holds in any case.
	reason, holds bool
}

var everySaying = []says{
	{name: "approve", mutation: "approveDeployment"},
	{name: "reject", mutation: "rejectDeployment"},
	{name: "start without approvals", mutation: "startDeployment"},
	{name: "start what is approved", mutation: "startDeployment", isApproved: true},
	{name: "start past the rule", mutation: "startDeployment", reason: true},
	{name: "start past a rule that holds in any case", mutation: "startDeployment", reason: true, holds: true},
}

// voice is a cell of the second table.
type voice struct {
	by       someone
	isAuthor bool
	says     says
	// operation is what waits, and demanded the role that the rule demands.
	operation string
	demanded  actor.Role
}

func (v voice) String() string {
	who := "another than the author"
	if v.isAuthor {
		who = "the author"
	}
	return fmt.Sprintf("%s, a %s, where the approval of a %s is demanded, by %s as %s", v.says.name, v.operation, v.demanded, who, v.by.name)
}

// mayApprove returns why the voice would not be taken, "" if it would.
func (v voice) mayApprove() string {
	switch {
	case !v.by.mayDeploy():
		return mayNotDeploy
	case v.isAuthor:
		return ownApproval
	}
	return ""
}

// counts is whether the voice, once it is taken, is one that is demanded.
func (v voice) counts() bool { return v.demanded == actor.Developer || v.by.role == actor.Admin }

// mayStart returns why it would not be started without going past rules, "" if it would: who may make it starts it.
func (v voice) mayStart(isApproved bool) string {
	switch {
	case v.operation == "DESTROY" && !v.by.mayDestroy(), !v.by.mayDeploy():
		return mayNotDeploy
	case !isApproved:
		return approvalsMissing
	}
	return ""
}

// expected is the oracle.
func (v voice) expected() string {
	switch v.says.mutation {
	case "rejectDeployment":
		if v.by.mayDeploy() {
			return endedBy
		}
		return mayNotDeploy
	case "approveDeployment":
		if why := v.mayApprove(); why != "" {
			return why
		}
		if why := v.mayStart(v.counts()); why != "" {
			return isKept + why
		}
		return pending
	}
	why := v.mayStart(v.says.isApproved)
	switch {
	case why == mayNotDeploy, why == "":
		return cmp.Or(why, pending)
	case v.says.reason && !v.by.mayGoPastRules():
		return mayNotDeploy
	case v.says.reason && v.says.holds:
		return notPastIt
	case v.says.reason:
		return pendingPast
	}
	return why
}

// hearing is where the second table is gone through, under one rule.
type hearing struct {
	*stage
	demanded      actor.Role
	author, third string
	made          act
	// waits has what waits and was approved, or was not.
	waits map[bool]string
	cells *int
}

func TestTheTableOfVoicesOnWhatWaits(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		token := func(holder string) string {
			return w.Token(t, w.Acme, account.NewToken{Name: holder, Role: actor.Admin, Holder: &holder})
		}
		author, third, cells := token("ann"), token("cid"), 0
		people := map[bool]company{true: s.company(t, "ann"), false: s.company(t, "bob")}
		for _, demanded := range []actor.Role{actor.Developer, actor.Admin} {
			for _, holds := range []bool{false, true} {
				end := s.enforce(t, ruling{
					demand: "approvals", says: map[string]any{"count": 1, "role": strings.ToUpper(string(demanded))}, overridable: new(!holds),
				})
				for _, made := range s.acts {
					// On PostgreSQL a quick test leaves out the destroys: who may say what is not its to decide.
					if made.name == "create" || made.name == "destroy" && (testkit.Proving() || !w.Store.Postgres()) {
						h := &hearing{s, demanded, author, third, made, map[bool]string{}, &cells}
						h.all(t, people, holds)
					}
				}
				end()
			}
		}
		t.Logf("%d cells", cells)
	})
}

// all has everybody say everything that depends on whether the rule holds in any case.
func (h *hearing) all(t *testing.T, people map[bool]company, holds bool) {
	t.Helper()
	for isAuthor, list := range people {
		for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Admin, actor.Runner} {
			for _, by := range list[role] {
				for _, what := range everySaying {
					if what.holds == holds {
						h.try(t, voice{by, isAuthor, what, h.made.operation, h.demanded})
					}
				}
			}
		}
	}
	for _, id := range h.waits {
		h.w.Cancel(t, h.w.Acme, id)
	}
}

// awaiting returns the id of what waits, which the author has made.
func (h *hearing) awaiting(t *testing.T, isApproved bool) string {
	t.Helper()
	if id := h.waits[isApproved]; id != "" {
		return id
	}
	made := h.w.GraphQL(t, h.author, h.carryOutOne(), map[string]any{"input": h.made.input})
	id := made.Text(t, "data", "made", "deployment", "id")
	if isApproved {
		const approve = `mutation($id: ID!) { approveDeployment(input: {id: $id, start: false}) { started } }`
		if r := h.w.GraphQL(t, h.third, approve, map[string]any{"id": id}); r.At(t, "data", "approveDeployment", "started") != false {
			t.Fatalf("%s", r.Body)
		}
	}
	if t.Failed() && id == "" {
		t.FailNow()
	}
	h.waits[isApproved] = id
	return id
}

func (h *hearing) carryOutOne() string {
	return fmt.Sprintf("mutation($input: %s%sInput!) { made: %s(input: $input) { deployment { id } } }",
		strings.ToUpper(h.made.mutation[:1]), h.made.mutation[1:], h.made.mutation)
}

// try has somebody say something, and compares what comes of it with the oracle, and with what was said beforehand.
func (h *hearing) try(t *testing.T, v voice) {
	t.Helper()
	*h.cells++
	id := h.awaiting(t, v.says.isApproved)
	h.ask(t, v, id)
	input := map[string]any{"id": id}
	if v.says.reason {
		input[overrideReasonMember] = anOverrideReason
	}
	more := ""
	if v.says.mutation == "approveDeployment" {
		more = " refusal { code }"
	}
	done := v.by.ask(t, fmt.Sprintf("mutation($input: %s%sInput!) { said: %s(input: $input) { deployment { status override { createdBy { name } } error { code } }%s } }",
		strings.ToUpper(v.says.mutation[:1]), v.says.mutation[1:], v.says.mutation, more), map[string]any{"input": input})
	var payload struct {
		Deployment struct {
			Status   string
			Override *struct{ By string }
			Error    struct{ Code string }
		}
		Refusal struct{ Code string }
	}
	got := done.read(t, "said", &payload) + payload.Deployment.Status
	switch {
	case payload.Deployment.Override != nil:
		got += ", past the rule"
	case payload.Deployment.Error.Code != "":
		got += " with " + payload.Deployment.Error.Code
	case payload.Refusal.Code != "":
		got += ", not started for " + payload.Refusal.Code
	}
	want := v.expected()
	if got != want {
		t.Errorf("%s: it is %s, want %s", v, got, want)
	}
	h.leave(t, v, id, strings.HasPrefix(want, "slipway:"))
}

// ask compares what is said beforehand.
func (h *hearing) ask(t *testing.T, v voice, id string) {
	t.Helper()
	var asked struct{ Approve, Start eligibility }
	var mine struct{ Nodes []struct{ ID string } }
	answer := v.by.ask(t, `query($id: ID!) {
		deployment(id: $id) { approve: approveEligibility { allowed refusal { code } } start: startEligibility { allowed refusal { code } } }
		deployments(first: 100, filter: {awaitingMyApproval: true}) { nodes { id } } }`, map[string]any{"id": id})
	code := answer.read(t, "deployment", &asked) + answer.read(t, "deployments", &mine)
	isMine := slices.ContainsFunc(mine.Nodes, func(d struct{ ID string }) bool { return d.ID == id })
	if want := v.mayApprove() == "" && v.counts(); isMine != want {
		t.Errorf("%s: among those that await the caller's approval: %v, want %v", v, isMine, want)
	}
	for name, said := range map[string][2]string{
		"approveEligibility": {code + asked.Approve.String(), cmp.Or(v.mayApprove(), "allowed")},
		"startEligibility":   {code + asked.Start.String(), cmp.Or(v.mayStart(v.says.isApproved), "allowed")},
	} {
		if said[0] != said[1] {
			t.Errorf("%s: %s says %q beforehand, want %q", v, name, said[0], said[1])
		}
	}
}

// leave looks at what there is now: a refusal has to leave it as it was, and it waits for the next; all else is canceled.
func (h *hearing) leave(t *testing.T, v voice, id string, isRefused bool) {
	t.Helper()
	viewer := h.w.Acme.As(actor.Viewer)
	d := h.w.Store.Client.Deployment.GetX(viewer, id)
	voices := h.w.Store.Client.Approval.Query().Where(approval.DeploymentID(id)).CountX(viewer)
	before := 0
	if v.says.isApproved {
		before = 1
	}
	if is := d.Status == entdeployment.StatusAWAITING_APPROVAL && voices == before; isRefused {
		if is {
			return
		}
		t.Errorf("%s: the refusal has left it in the state %s with %d voices", v, d.Status, voices)
	}
	delete(h.waits, v.says.isApproved)
	if d.CompletedAt == nil {
		h.w.Cancel(t, h.w.Acme, id)
	}
}
