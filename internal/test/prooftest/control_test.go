package prooftest_test

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"slipway/internal/account"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/fault"
	demand "slipway/internal/gate"
	"slipway/internal/rule"
	"slipway/internal/store"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestLostAnswersOfTheDatabaseKeepVoicesAndStartOnce(t *testing.T) {
	t.Parallel()
	for name, race := range map[string]struct {
		demanded int32
		run      func(r *lossyRaces, instance string)
	}{
		"last approvals at once":         {2, (*lossyRaces).approvals},
		"approval against rejection":     {1, (*lossyRaces).rejection},
		"start against success":          {1, (*lossyRaces).success},
		"starts against urgent creation": {1, (*lossyRaces).urgency},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLossyRaces(t, race.demanded)
			begun, rounds := time.Now(), size(4, 50)
			for i := range rounds {
				r.round = i
				race.run(r, r.place.NewInstance(t, fmt.Sprint("raced-", i)).ID)
				r.check(t)
			}
			cuts := r.proxies[0].cuts.Load() + r.proxies[1].cuts.Load()
			if int(cuts) < rounds/2 {
				t.Errorf("in %d rounds %d connections were cut", rounds, cuts)
			}
			wantNoDeadlocks(t, r.w)
			proved.note(t, begun, "%d rounds, %d connections cut at COMMIT: %s, no deadlock", rounds, cuts, &r.control.kept)
		})
	}
}

func TestKillOfAServerKeepsVoicesAndStartsOnce(t *testing.T) {
	t.Parallel()
	program := build(t)
	t.Run("sqlite, one server", func(t *testing.T) {
		t.Parallel()
		killedInControl(t, program, worldtest.SQLite(t), 1)
	})
	t.Run("postgres, two servers", func(t *testing.T) {
		t.Parallel()
		killedInControl(t, program, worldtest.Postgres(t), 2)
	})
}

// killedInControl kills one of several servers on a database again and again while crews create, approve, reject and start.
func killedInControl(t *testing.T, program, database string, servers int) {
	t.Helper()
	chance := seeded(t)
	c := newControl(t, worldtest.New(t, database), 1)
	crews := make([]*crew, 4)
	for i := range crews {
		crews[i] = &crew{control: c, instance: c.place.NewInstance(t, fmt.Sprint("crew-", i)).ID, number: i,
			chance: rand.New(rand.NewPCG(chance.Uint64(), chance.Uint64()))}
	}
	// The file is to be the killed process's alone.
	if err := c.w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	running := make([]*testkit.Server, servers)
	for i := range running {
		running[i] = serve(t, program, database)
	}
	begun, kills := time.Now(), size(2, 10)
	for range kills {
		victim := chance.IntN(servers)
		round(t, crews, running, victim, 10+chance.Int32N(40), time.Duration(chance.Int64N(int64(20*time.Millisecond))))
		c.check(t)
		running[victim] = serve(t, program, database)
	}
	unanswered := 0
	for _, one := range crews { // what was never answered is asked for once more
		unanswered += one.unanswered
		if !one.repeat(t, []string{running[0].API}) {
			t.Errorf("crew %d is not answered", one.number)
		}
	}
	c.check(t)
	if unanswered == 0 && full() {
		t.Error("no request was in flight at any kill")
	}
	deadlocks := ""
	if !strings.HasPrefix(database, "sqlite:") {
		for _, s := range running {
			s.Kill()
		}
		wantNoDeadlocks(t, c.w)
		deadlocks = ", no deadlock"
	}
	proved.note(t, begun, "%d kills, %d requests unanswered: %s%s", kills, unanswered, &c.kept, deadlocks)
}

// control is a place whose deployments wait for approvals, with those who make them, approve of them and carry them out.
type control struct {
	w        *worldtest.World
	place    *worldtest.Fixture
	demanded int
	people   map[string]*client
	// kept is what the last check has found.
	kept kept

	mu sync.Mutex
	// made are the deployments whose creation was acknowledged, by their keys; started those whose start was.
	made    map[string]string
	started map[string]bool
	// voices are those that were acknowledged, and whether they approve; unanswered those of which nobody knows.
	voices, unanswered map[voice]bool
}

// voice is what somebody says of a deployment.
type voice struct{ deployment, by string }

// newControl makes a place that demands so many approvals.
func newControl(t *testing.T, w *worldtest.World, demanded int32) *control {
	t.Helper()
	c := &control{
		w: w, place: w.Fixture(t, w.Acme, "web"), demanded: int(demanded), people: map[string]*client{},
		made: map[string]string{}, started: map[string]bool{}, voices: map[voice]bool{}, unanswered: map[voice]bool{},
	}
	for _, name := range []string{"ann", "bob", "cyd", "dan", "boss"} {
		role := actor.Developer
		if name == "boss" {
			role = actor.Admin
		}
		c.people[name] = newClient(t, w.Token(t, w.Acme, account.NewToken{Name: name, Role: role, Holder: &name}), 16)
	}
	c.people["runner"] = newClient(t, w.Acme.Tokens[actor.Runner], 16)
	if _, _, err := w.Rules.Create(w.Acme.As(actor.Admin), rule.New{
		Name: "approvals", EnvironmentID: &c.place.Environment.ID, Overridable: true,
		Demand: demand.Demand{Approvals: &demand.Approvals{Count: demanded, Role: actor.Developer}},
	}); err != nil {
		t.Fatal(err)
	}
	return c
}

// mutation is one of those that release control is about, asked for by somebody.
type mutation struct {
	by, name string
	// about is the id of the deployment, the key of one that is to be made, or the lease of one that is to be claimed.
	about string
	input map[string]any
}

const (
	createMutation  = "createDeployment"
	approveMutation = "approveDeployment"
	rejectMutation  = "rejectDeployment"
	claimMutation   = "claimDeployment"
)

func approve(by, id string, start bool) mutation {
	return mutation{by, approveMutation, id, map[string]any{"id": id, "start": start}}
}

func reject(by, id string) mutation {
	return mutation{by, rejectMutation, id, map[string]any{"id": id}}
}

func start(by, id string) mutation {
	return mutation{by, "startDeployment", id, map[string]any{"id": id}}
}

func cancel(by, id string) mutation {
	return mutation{by, "cancelDeployment", id, map[string]any{"id": id}}
}

func claim(lease string) mutation {
	return mutation{"runner", claimMutation, lease, map[string]any{"deploymentTypes": catalog.DeploymentTypes, "leaseId": lease}}
}

func complete(id, lease string) mutation {
	return mutation{"runner", "completeDeployment", id, map[string]any{"id": id, "leaseId": lease}}
}

// create makes a deployment of an instance that waits.
func (c *control) create(by, instance, key string) mutation {
	return mutation{by, createMutation, key, map[string]any{
		"moduleInstanceId": instance, "moduleVersionId": c.place.Version.ID, "idempotencyKey": key,
		"inputs": map[string]any{"image": "web:" + key}, "artifact": map[string]any{"revision": 2},
	}}
}

// createUrgently makes one that waits for nobody.
func (c *control) createUrgently(instance, key string) mutation {
	m := c.create("boss", instance, key)
	m.input["overrideReason"] = "it cannot wait for that"
	return m
}

// reply is what a mutation was answered with.
type reply struct {
	// code is that of the refusal, "" for none.
	code string
	body string

	Deployment struct{ ID, Status string }
	// Started is whether an approval has started it, Refusal why not.
	Started bool
	Refusal struct{ Code string }
}

// ask asks a server for a mutation, and keeps what it acknowledges. The error is the network's: no answer came. A server
// that answers is to say what has come of it.
func (c *control) ask(t *testing.T, url string, m mutation) (reply, error) {
	more := ""
	if m.name == approveMutation {
		more = " started refusal { code }"
	}
	document := fmt.Sprintf("mutation($input: %sInput!) { %s(input: $input) { deployment { id status }%s } }",
		strings.ToUpper(m.name[:1])+m.name[1:], m.name, more)
	a, err := c.people[m.by].post(t.Context(), url+"/graphql", mustJSON(map[string]any{"query": document, "variables": map[string]any{"input": m.input}}))
	if err != nil {
		if isUnanswered(err) {
			c.doubt(m)
		}
		return reply{}, err
	}
	var body struct{ Data map[string]reply }
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Errorf("%s was answered %d: %s", m.name, a.status, a.body)
	}
	r := body.Data[m.name]
	r.code, r.body = a.code, a.body
	for _, code := range []string{r.code, r.Refusal.Code} {
		switch fault.Code(code) {
		case fault.ServerInternal, fault.ServerUnavailable:
			t.Errorf("%s by %s was answered: %s", m.name, m.by, a.body)
		}
	}
	if r.code == "" {
		c.acknowledge(t, m, r)
	}
	return r, nil
}

// isUnanswered reports whether a server may have carried out what it was asked for without an answer.
func isUnanswered(err error) bool { return err != nil && !errors.Is(err, syscall.ECONNREFUSED) }

// doubt keeps that a voice may have been taken or not.
func (c *control) doubt(m mutation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.name == approveMutation || m.name == rejectMutation {
		c.unanswered[voice{m.about, m.by}] = true
	}
}

func (c *control) acknowledge(t *testing.T, m mutation, r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := r.Deployment.ID
	switch m.name {
	case createMutation:
		if before := cmp.Or(c.made[m.about], id); before != id {
			t.Errorf("%s was answered with %s and %s", m.about, before, id)
		}
		c.made[m.about] = id
	case approveMutation, rejectMutation:
		c.voices[voice{id, m.by}] = m.name == approveMutation
		if r.Started {
			c.started[id] = true
		}
	case "startDeployment":
		c.started[id] = true
	}
}

// course is what the database has of a deployment.
type course struct {
	instance, status, code, replaces string
	version                          int
	overridden                       bool
	// versions are those of its change rows; queued is how many of these say that it was started.
	versions []int
	queued   int
	// audits are its audit rows but those of an override.
	audits int
	// voices are what was said of it, by whom; spoken are the audit rows of that.
	voices map[string][]bool
	spoken map[string]int
}

// change is one row of the changes.
type change struct{ deployment, kind string }

// kept counts what a check has found.
type kept struct{ deployments, voices, started, rejected, superseded int }

func (k *kept) String() string {
	return fmt.Sprintf("%d deployments, %d voices, %d started, %d rejected, %d superseded", k.deployments, k.voices, k.started, k.rejected, k.superseded)
}

// check wants all that release control promises to hold for everything that was done up to now.
func (c *control) check(t *testing.T) {
	t.Helper()
	tx := snapshot(t, c.w)
	defer func() { _ = tx.Rollback() }()
	courses, changes := coursesOf(t, tx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = kept{deployments: len(courses)}
	for id, d := range courses {
		d.checkRows(t, id)
		c.checkVoices(t, id, d)
		c.kept.add(d)
	}
	checkOrder(t, courses, changes)
	var instance string
	var n int
	each(t, tx, `SELECT module_instance_id, count(*) FROM deployments WHERE `+store.InProgress("")+` GROUP BY 1`, func() {
		if n > 1 {
			t.Errorf("%d deployments of %s are in progress", n, instance)
		}
	}, &instance, &n)
	for key, id := range c.made {
		if courses[id] == nil {
			t.Errorf("%s was acknowledged with %s, which is not there", key, id)
		}
	}
	for id := range c.started {
		if d := courses[id]; d == nil || d.starts() != 1 {
			t.Errorf("%s was acknowledged as started: %+v", id, d)
		}
	}
	for v, approves := range c.voices {
		d := courses[v.deployment]
		if d == nil || !slices.Equal(d.voices[v.by], []bool{approves}) {
			t.Errorf("the voice of %s about %s, %v, was acknowledged: %+v", v.by, v.deployment, approves, d)
		} else if !approves && d.code != string(fault.DeploymentRejected) {
			t.Errorf("the rejection of %s was acknowledged: %+v", v.deployment, d)
		}
	}
}

// checkRows wants each change of a deployment to have its version, its change row and its audit row.
func (d *course) checkRows(t *testing.T, id string) {
	t.Helper()
	gaps := len(d.versions) != d.version
	for i, v := range d.versions {
		gaps = gaps || v != i+1
	}
	if gaps || d.audits != d.version {
		t.Errorf("%s has the version %d, the changes %v and %d audit rows", id, d.version, d.versions, d.audits)
	}
}

// starts is how often a deployment was started: at its creation, where that went past the rules, or later.
func (d *course) starts() int {
	if d.overridden {
		return d.queued + 1
	}
	return d.queued
}

// waitsStill is whether a deployment waits, or has ended before it was started.
func (d *course) waitsStill() bool {
	return d.starts() == 0 && (d.status == "AWAITING_APPROVAL" || d.status == "CANCELED")
}

// checkVoices wants each voice about a deployment to be there once and to have been given, and what has started to have as
// many as are demanded.
func (c *control) checkVoices(t *testing.T, id string, d *course) {
	t.Helper()
	approvals := 0
	for by, said := range d.voices {
		v := voice{id, by}
		if _, acknowledged := c.voices[v]; !acknowledged && !c.unanswered[v] {
			t.Errorf("%s has the voice of %s, which was refused", id, by)
		}
		if len(said) != 1 || d.spoken[by] != 1 {
			t.Errorf("%s has %d voices of %s and %d audit rows of that", id, len(said), by, d.spoken[by])
		}
		if said[0] {
			approvals++
		}
	}
	if len(d.spoken) != len(d.voices) {
		t.Errorf("%s has voices of %v and audit rows of %v", id, d.voices, d.spoken)
	}
	if !d.waitsStill() && (d.starts() != 1 || !d.overridden && approvals < c.demanded) {
		t.Errorf("%s was started %d times, with %d approvals of %d", id, d.starts(), approvals, c.demanded)
	}
}

// checkOrder wants the changes, one after the other, to have had at most one deployment of each instance in progress, and to
// have started only what was approved against what was live.
func checkOrder(t *testing.T, courses map[string]*course, changes []change) {
	t.Helper()
	active, live := map[string]string{}, map[string]string{}
	for _, change := range changes {
		id, d := change.deployment, courses[change.deployment]
		begins := change.kind == "QUEUED" || change.kind == "CREATED" && d.overridden
		if begins && active[d.instance] != "" {
			t.Errorf("%s was started while %s was in progress", id, active[d.instance])
		}
		switch {
		case begins && !d.overridden && d.replaces != live[d.instance]:
			t.Errorf("%s was started, which was to replace %q, while %q was live", id, d.replaces, live[d.instance])
		case change.kind == "COMPLETED" && active[d.instance] == id:
			delete(active, d.instance)
		}
		if begins {
			active[d.instance] = id
		}
		if change.kind == "COMPLETED" && d.status == "SUCCEEDED" {
			live[d.instance] = id
		}
	}
}

func (k *kept) add(d *course) {
	k.voices += len(d.voices)
	k.started += d.starts()
	switch fault.Code(d.code) {
	case fault.DeploymentRejected:
		k.rejected++
	case fault.DeploymentSuperseded:
		k.superseded++
	}
}

// coursesOf reads what the database has of the deployments, and their changes in order: those of one instance wait for each
// other, so that their numbers have the order of their commits.
func coursesOf(t *testing.T, tx *sql.Tx) (map[string]*course, []change) {
	t.Helper()
	courses := map[string]*course{}
	var id, by, kind string
	var d course
	each(t, tx, `SELECT id, module_instance_id, status, version, COALESCE(replaces_id, ''), COALESCE(error ->> 'code', ''), override IS NOT NULL FROM deployments`,
		func() {
			one := d
			one.voices, one.spoken = map[string][]bool{}, map[string]int{}
			courses[id] = &one
		}, &id, &d.instance, &d.status, &d.version, &d.replaces, &d.code, &d.overridden)
	of := func(what string) *course {
		if courses[id] == nil {
			t.Errorf("%s has %s and is not there", id, what)
			courses[id] = &course{voices: map[string][]bool{}, spoken: map[string]int{}}
		}
		return courses[id]
	}
	var changes []change
	var version int
	each(t, tx, `SELECT deployment_id, version, kind FROM deployment_changes ORDER BY id`, func() {
		changes = append(changes, change{id, kind})
		one := of("changes")
		one.versions = append(one.versions, version)
		if kind == "QUEUED" {
			one.queued++
		}
	}, &id, &version, &kind)
	var approves bool
	each(t, tx, `SELECT deployment_id, created_by, approved FROM approvals`, func() {
		one := of("a voice")
		one.voices[by] = append(one.voices[by], approves)
	}, &id, &by, &approves)
	each(t, tx, `SELECT object_id, action, actor_name FROM audit_events WHERE object_id LIKE 'dep%' AND action <> 'overrideRules'`, func() {
		one := of("an audit row")
		one.audits++
		if kind == approveMutation || kind == rejectMutation {
			one.spoken[by]++
		}
	}, &id, &kind, &by)
	return courses, changes
}

// wantNoDeadlocks ends all sessions of a world's database, so that each has told what it counted, and wants none of them to
// have met a deadlock.
func wantNoDeadlocks(t *testing.T, w *worldtest.World) {
	t.Helper()
	u, err := url.Parse(w.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	root, name := pgtest.Superuser(t), strings.TrimPrefix(u.Path, "/")
	testkit.Eventually(t, "all sessions have ended", func() bool {
		var left int
		err := root.QueryRowContext(t.Context(), `SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1) AS "ended"`, name).Scan(&left)
		if err != nil {
			t.Error(err)
		}
		return left == 0
	})
	var deadlocks int
	if err := root.QueryRowContext(t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = $1`, name).Scan(&deadlocks); err != nil || deadlocks != 0 {
		t.Errorf("%d deadlocks, %v", deadlocks, err)
	}
}

// lossyRaces are races on two servers, each of which loses COMMITs on their way to one database.
type lossyRaces struct {
	*control
	t       *testing.T
	chance  *rand.Rand
	urls    []string
	proxies []*proxy
	round   int
}

func newLossyRaces(t *testing.T, demanded int32) *lossyRaces {
	t.Helper()
	r := &lossyRaces{t: t, chance: seeded(t), control: newControl(t, worldtest.New(t, worldtest.Postgres(t)), demanded)}
	for range 2 {
		p, through := newProxy(t, r.w.DatabaseURL)
		r.proxies, r.urls = append(r.proxies, p), append(r.urls, worldtest.Another(t, through).URL)
	}
	// The first request of a token also notes that it was used.
	for _, one := range r.people {
		for _, url := range r.urls {
			if a, err := one.post(t.Context(), url+"/graphql", mustJSON(map[string]any{"query": "{ __typename }"})); err != nil || a.code != "" {
				t.Fatalf("%v: %s", err, a.body)
			}
		}
	}
	return r
}

// done asks for a mutation that nothing else happens beside.
func (r *lossyRaces) done(m mutation) reply {
	r.t.Helper()
	got, err := r.ask(r.t, r.w.URL, m)
	if err != nil || got.code != "" {
		r.t.Fatalf("%s: %v, %s", m.name, err, got.body)
	}
	return got
}

// waits makes a deployment that waits.
func (r *lossyRaces) waits(instance, key string) string {
	r.t.Helper()
	return r.done(r.create("ann", instance, fmt.Sprint(key, "-", r.round))).Deployment.ID
}

// race asks for mutations at once, on one server after the other, while each of these loses a COMMIT: the first, or on one of
// them in every other round the second. What is refused is to be so for one of some reasons.
func (r *lossyRaces) race(mutations []mutation, reasons ...fault.Code) []reply {
	r.t.Helper()
	order, passing := r.chance.Perm(len(r.proxies)), int32(0)
	for i, at := range order {
		r.proxies[at].loseAfter(passing, answerLost+loss((r.round+i)%int(late)), r.chance.IntN(2) == 0)
		passing = int32((r.round + r.round/int(late)) % 2)
	}
	replies, first := make([]reply, len(mutations)), r.chance.IntN(len(r.urls))
	var left atomic.Int32
	left.Store(int32(len(mutations)))
	begin := make(chan struct{})
	for i, m := range mutations {
		go func() {
			defer left.Add(-1)
			<-begin
			var err error
			if replies[i], err = r.ask(r.t, r.urls[(first+i)%len(r.urls)], m); err != nil {
				r.t.Errorf("%s: %v", m.name, err)
			}
		}()
	}
	close(begin)
	testkit.Eventually(r.t, "all are answered", func() bool {
		r.letLateArrive()
		return left.Load() == 0
	})
	for i, got := range replies {
		if got.code != "" && !slices.Contains(reasons, fault.Code(got.code)) {
			r.t.Errorf("round %d: %s by %s was answered: %s", r.round, mutations[i].name, mutations[i].by, got.body)
		}
	}
	for _, p := range r.proxies { // there may have been fewer COMMITs
		p.lose(nothing, false)
	}
	return replies
}

// letLateArrive lets a COMMIT that is late arrive when a server waits for the end of its transaction.
func (r *lossyRaces) letLateArrive() {
	var waits bool
	err := r.w.Raw(r.t, r.w.Acme).QueryRowContext(r.t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits)
	if err != nil {
		r.t.Error(err)
	}
	for _, p := range r.proxies {
		if waits {
			p.arrive()
		}
	}
}

// now reads what there is of an instance.
func (r *lossyRaces) now(instance string) (courses map[string]*course, active int) {
	r.t.Helper()
	tx := snapshot(r.t, r.w)
	defer func() { _ = tx.Rollback() }()
	courses, _ = coursesOf(r.t, tx)
	maps.DeleteFunc(courses, func(_ string, d *course) bool { return d.instance != instance })
	for _, d := range courses {
		if d.status == "PENDING" || d.status == "RUNNING" {
			active++
		}
	}
	return courses, active
}

// approvals has three approve of what demands two.
func (r *lossyRaces) approvals(instance string) {
	id := r.waits(instance, "last")
	r.race([]mutation{approve("bob", id, true), approve("cyd", id, true), approve("dan", id, true)}, fault.DeploymentWrongState)
	if courses, active := r.now(instance); active != 1 {
		r.t.Errorf("round %d: not started: %+v", r.round, courses[id])
	}
}

// rejection has one approve and another reject.
func (r *lossyRaces) rejection(instance string) {
	id := r.waits(instance, "against")
	r.race([]mutation{approve("bob", id, true), reject("cyd", id)}, fault.DeploymentRejected, fault.DeploymentWrongState)
	courses, active := r.now(instance)
	if rejected := courses[id].code == string(fault.DeploymentRejected); (active == 1) == rejected {
		r.t.Errorf("round %d: neither or both: %+v", r.round, courses[id])
	}
}

// success has what is in progress succeed while another is started and a third begins to wait.
func (r *lossyRaces) success(instance string) {
	lease := fmt.Sprint("lease-number-", r.round)
	first := r.waits(instance, "first")
	r.done(approve("bob", first, true))
	if got := r.done(claim(lease)); got.Deployment.ID != first {
		r.t.Fatalf("claimed %s", got.body)
	}
	second := r.waits(instance, "second")
	r.done(approve("bob", second, false))
	third := r.create("ann", instance, fmt.Sprint("third-", r.round))
	replies := r.race([]mutation{complete(first, lease), start("ann", second), third}, fault.DeploymentInProgress, fault.DeploymentSuperseded)
	courses, active := r.now(instance)
	if replies[0].code != "" || replies[2].code != "" || active != 0 || courses[second].code != string(fault.DeploymentSuperseded) {
		r.t.Errorf("round %d: %d in progress, %+v: %v", r.round, active, courses[second], replies)
	}
	// The third waits for what was live when it began, or was superseded with the second.
	for id, d := range courses {
		if d.status != "AWAITING_APPROVAL" {
			continue
		}
		if got := r.done(approve("bob", id, true)); got.Started != (d.replaces == first) {
			r.t.Errorf("round %d: what replaces %q: %s", r.round, d.replaces, got.body)
		} else if got.Started {
			r.done(cancel("ann", id)) // the next claim is to find another
		}
	}
}

// urgency starts two deployments while a third is made that waits for nobody.
func (r *lossyRaces) urgency(instance string) {
	var mutations []mutation
	for _, key := range []string{"one", "two"} {
		id := r.waits(instance, key)
		r.done(approve("bob", id, false))
		mutations = append(mutations, start("ann", id))
	}
	r.race(append(mutations, r.createUrgently(instance, fmt.Sprint("urgent-", r.round))), fault.DeploymentInProgress)
	if courses, active := r.now(instance); active != 1 {
		r.t.Errorf("round %d: %d in progress: %v", r.round, active, courses)
	}
}

// crew works on an instance of its own: it makes deployments, speaks about them and carries them out.
type crew struct {
	*control
	instance string
	number   int
	chance   *rand.Rand
	// steps counts what it has begun; unanswered what a kill left without an answer.
	steps, unanswered int
	// pending is what was not answered and is to be asked for again.
	pending []mutation
}

// work goes on step by step until it is to stop or no server answers.
func (c *crew) work(t *testing.T, urls []string, stop <-chan struct{}, acknowledged func()) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if !c.repeat(t, urls) || !c.step(t, urls, acknowledged) {
			return
		}
	}
}

// repeat asks once more for what was not answered, and reports whether it is now.
func (c *crew) repeat(t *testing.T, urls []string) bool {
	for len(c.pending) > 0 {
		m := c.pending[0]
		got, err := c.anywhere(t, urls, m)
		if err != nil {
			return false
		}
		c.pending = c.pending[1:]
		if m.name == claimMutation && got.Deployment.ID != "" {
			c.pending = append(c.pending, complete(got.Deployment.ID, m.about))
		}
	}
	return true
}

// anywhere asks one server for a mutation, and the others where that does not answer.
func (c *crew) anywhere(t *testing.T, urls []string, m mutation) (got reply, err error) {
	err = errors.New("no server")
	for i := 0; i < len(urls) && err != nil; i++ {
		got, err = c.ask(t, urls[(c.number+c.steps+i)%len(urls)], m)
	}
	return got, err
}

// step makes a deployment, has several speak about it at once, and carries out or cancels what started. It reports whether a
// server has answered.
func (c *crew) step(t *testing.T, urls []string, acknowledged func()) bool {
	c.steps++
	key := fmt.Sprintf("crew-%d-%d", c.number, c.steps)
	m := c.create("ann", c.instance, key)
	if c.chance.IntN(4) == 0 {
		m = c.createUrgently(c.instance, key)
	}
	got, ok := c.all(t, urls, acknowledged, m)
	if !ok {
		return false
	}
	id := got[0].Deployment.ID
	if id != "" {
		others := []mutation{approve("dan", id, true), reject("cyd", id), start("ann", id)}
		speak := []mutation{approve("bob", id, c.chance.IntN(4) > 0), others[c.chance.IntN(len(others))]}
		if got, ok = c.all(t, urls, acknowledged, speak...); !ok {
			return false
		}
	}
	if c.chance.IntN(2) == 0 {
		return c.carryOut(t, urls, acknowledged, "lease-of-"+key)
	}
	if id != "" {
		_, ok = c.all(t, urls, acknowledged, cancel("ann", id))
	}
	return ok
}

// carryOut has the runner claim some deployment and report its success.
func (c *crew) carryOut(t *testing.T, urls []string, acknowledged func(), lease string) bool {
	got, ok := c.all(t, urls, acknowledged, claim(lease))
	if ok && got[0].Deployment.ID != "" {
		_, ok = c.all(t, urls, acknowledged, complete(got[0].Deployment.ID, lease))
	}
	return ok
}

// all asks for mutations at once, and reports whether all are answered. What is not will be asked for again.
func (c *crew) all(t *testing.T, urls []string, acknowledged func(), mutations ...mutation) ([]reply, bool) {
	replies, errs := make([]reply, len(mutations)), make([]error, len(mutations))
	var all sync.WaitGroup
	for i, m := range mutations {
		all.Go(func() { replies[i], errs[i] = c.ask(t, urls[(c.number+c.steps+i)%len(urls)], m) })
	}
	all.Wait()
	answered := true
	for i, m := range mutations {
		if isUnanswered(errs[i]) {
			c.unanswered++
		}
		if errs[i] != nil {
			if replies[i], errs[i] = c.anywhere(t, urls, m); errs[i] != nil {
				c.pending, answered = append(c.pending, m), false
				continue
			}
		}
		if replies[i].code == "" {
			acknowledged()
		}
	}
	return replies, answered
}
