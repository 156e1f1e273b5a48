package prooftest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// contest are races on two servers, each of which loses COMMITs on their way to one database.
type contest struct {
	*control
	t       *testing.T
	chance  *rand.Rand
	urls    []string
	proxies []*proxy
	round   int
}

func newContest(t *testing.T, demanded int32) *contest {
	t.Helper()
	r := &contest{t: t, chance: seeded(t), control: newControl(t, worldtest.New(t, worldtest.Postgres(t)), demanded)}
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
func (r *contest) done(m mutation) reply {
	r.t.Helper()
	got, err := r.ask(r.t, r.w.URL, m)
	if err != nil || got.code != "" {
		r.t.Fatalf("%s: %v, %s", m.name, err, got.body)
	}
	return got
}

// waits makes a deployment that waits.
func (r *contest) waits(instance, key string) string {
	r.t.Helper()
	return r.done(r.create("ann", instance, fmt.Sprint(key, "-", r.round))).Deployment.ID
}

// race asks for mutations at once, on one server after the other, while each of these loses a COMMIT: the first, or on one of
// them in every other round the second. What is refused is to be so for one of some reasons.
func (r *contest) race(mutations []mutation, reasons ...fault.Code) []reply {
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
func (r *contest) letLateArrive() {
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
func (r *contest) now(instance string) (courses map[string]*course, active int) {
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
func (r *contest) approvals(instance string) {
	id := r.waits(instance, "last")
	r.race([]mutation{approve("bob", id, true), approve("cyd", id, true), approve("dan", id, true)}, fault.DeploymentWrongState)
	if courses, active := r.now(instance); active != 1 {
		r.t.Errorf("round %d: not started: %+v", r.round, courses[id])
	}
}

// rejection has one approve and another reject.
func (r *contest) rejection(instance string) {
	id := r.waits(instance, "against")
	r.race([]mutation{approve("bob", id, true), reject("cyd", id)}, fault.DeploymentRejected, fault.DeploymentWrongState)
	courses, active := r.now(instance)
	if rejected := courses[id].code == string(fault.DeploymentRejected); (active == 1) == rejected {
		r.t.Errorf("round %d: neither or both: %+v", r.round, courses[id])
	}
}

// success has what is in progress succeed while another is started and a third begins to wait.
func (r *contest) success(instance string) {
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
func (r *contest) urgency(instance string) {
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
