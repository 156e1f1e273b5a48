package prooftest_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	demand "slipway/internal/pure/gate"
	"slipway/internal/pure/module"
	"slipway/internal/service/account"
	"slipway/internal/service/rule"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestLostAnswersOfTheDatabaseKeepVoicesAndStartOnce(t *testing.T) {
	t.Parallel()
	for name, race := range map[string]struct {
		demanded int32
		run      func(r *contest, instance string)
	}{
		"last approvals at once":         {2, (*contest).approvals},
		"approval against rejection":     {1, (*contest).rejection},
		"start against success":          {1, (*contest).success},
		"starts against urgent creation": {1, (*contest).urgency},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newContest(t, race.demanded)
			begun, rounds := time.Now(), testkit.Often(4, 200)
			for i := range rounds {
				r.round = i
				race.run(r, r.place.NewInstance(t, fmt.Sprint("raced-", i)).ID)
				r.check(t)
			}
			cuts := r.proxies[0].cuts.Load() + r.proxies[1].cuts.Load()
			if int(cuts) < rounds/2 {
				t.Errorf("in %d rounds %d connections were cut", rounds, cuts)
			}
			proved.note(t, begun, "%d rounds, %d connections cut at COMMIT: %s", rounds, cuts, &r.control.kept)
		})
	}
}

func TestKillOfAServerKeepsVoicesAndStartsOnce(t *testing.T) {
	t.Parallel()
	program := built.Path(t)
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
	begun, kills := time.Now(), testkit.Often(2, 10)
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
	if unanswered == 0 && testkit.Proving() {
		t.Error("no request was in flight at any kill")
	}
	proved.note(t, begun, "%d kills, %d requests unanswered: %s", kills, unanswered, &c.kept)
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
		Demand: demand.Demand{Kind: &demand.Approvals{Count: demanded, Role: actor.Developer}},
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
	return mutation{"runner", claimMutation, lease, map[string]any{"deploymentTypes": module.DeploymentTypes, "leaseId": lease}}
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
