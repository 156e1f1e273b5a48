package deployment_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// locked is a running deployment of a service, and one that waits for an approval, both of an instance.
type locked struct {
	*bus
	place          *worldtest.Fixture
	deploy, second *deployment.Services
	author, other  context.Context
}

// moment is after the start of what runs, and before its lease runs out.
const moment = 10 * time.Second

func newLocked(t *testing.T) *locked {
	t.Helper()
	w := worldtest.New(t, worldtest.Postgres(t))
	return &locked{
		bus: newBus(w, "locks"), place: w.Fixture(t, w.Acme, "web"),
		deploy: serviceAt(w, at.Add(moment)), second: serviceAt(worldtest.Another(t, w.DatabaseURL), at.Add(moment)),
		author: holder(t, w, w.Acme, actor.Developer, "ann"), other: holder(t, w, w.Acme, actor.Developer, "bob"),
	}
}

// waits makes a deployment of an instance that waits for an approval.
func (l *locked) waits(t *testing.T, instanceID, image string) *ent.Deployment {
	t.Helper()
	in := newOf(l.World, l.place, image)
	in.InstanceID, in.Data = instanceID, nil
	d, _, err := l.deploy.Propose.Create(l.author, in)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// hold locks a row until release is called.
func (l *locked) hold(t *testing.T, table, id string) (release func()) {
	t.Helper()
	tx, err := l.Raw(t, l.Acme).BeginTx(t.Context(), nil)
	if err == nil {
		err = lockNow(t, tx, table, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// isFree reports whether nobody holds a row.
func (l *locked) isFree(t *testing.T, table, id string) bool {
	t.Helper()
	tx, err := l.Raw(t, l.Acme).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	err = lockNow(t, tx, table, id)
	if err != nil && pq.As(err, pqerror.LockNotAvailable) == nil {
		t.Fatal(err)
	}
	return err == nil
}

func lockNow(t *testing.T, tx *sql.Tx, table, id string) error {
	t.Helper()
	var found string
	return tx.QueryRowContext(t.Context(), "SELECT id FROM "+table+" WHERE id = $1 FOR NO KEY UPDATE NOWAIT", id).Scan(&found)
}

// later calls a function, and returns what waits for its end.
func later(t *testing.T, call func() error) (wait func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	return func() {
		t.Helper()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A completion writes what waits, the instance and its own row, in this order; an event of the cloud the instance and then the
// rows of deployments; and a start nothing that waits for the instance. So none of them waits for one that waits for it.
func TestCompletionsEventsAndStartsLockInOneOrder(t *testing.T) {
	t.Parallel()
	l := newLocked(t)
	i, running, lease := l.instance(t, l.place, "web", true)
	demand(t, l.World, l.place, approvals(1))
	first, last := l.waits(t, i.ID, "web:2"), l.waits(t, i.ID, "web:3")

	release := l.hold(t, "deployments", running.ID)
	wait := later(t, func() error {
		return l.deploy.CloudEvents.ReceiveECSEvent(l.Acme.As(actor.Runner), strictjson.MustParse(stateOf(l.service("web"), time.Second, "IN_PROGRESS", "ecs-svc/1", "")))
	})
	testkit.Eventually(t, "the event has the instance", func() bool { return !l.isFree(t, "module_instances", i.ID) })
	if !l.isFree(t, "deployments", first.ID) {
		t.Error("an event locks what waits")
	}
	release()
	wait()

	release = l.hold(t, "module_instances", i.ID)
	if _, err := l.second.Waiting.Approve(l.other, first.ID, nil, true); err != nil {
		t.Errorf("an approval while the instance is held: %v", err)
	}
	wait = later(t, func() error {
		_, err := l.deploy.Execution.End(l.Acme.As(actor.Runner), running.ID, lease, execution.Completion{})
		return err
	})
	testkit.Eventually(t, "the completion has what waits", func() bool {
		return !l.isFree(t, "deployments", first.ID) && !l.isFree(t, "deployments", last.ID)
	})
	if !l.isFree(t, "deployments", running.ID) {
		t.Error("a completion locks its own row before the instance")
	}
	release()
	wait()
}

// All that touches an instance at once, with two servers; that no transactions waited for each other is held for every test.
func TestCompletionsBesideEventsOfTheSameServiceEnd(t *testing.T) {
	t.Parallel()
	l := newLocked(t)
	for round := range raceRounds() {
		name := fmt.Sprint("web-", round)
		i, running, lease := l.instance(t, l.place, name, true)
		rule := demand(t, l.World, l.place, approvals(1))
		approved, another := l.waits(t, i.ID, "web:2"), l.waits(t, i.ID, "web:3")
		if _, err := l.deploy.Waiting.Approve(l.other, approved.ID, nil, false); err != nil {
			t.Fatal(err)
		}
		receive := func(s *deployment.Services, after time.Duration, status, id string) func() error {
			return func() error {
				return s.CloudEvents.ReceiveECSEvent(l.Acme.As(actor.Runner), strictjson.MustParse(stateOf(l.service(name), after, status, fmt.Sprint("ecs-svc/", round, id), "")))
			}
		}
		errs := together(
			func() error {
				_, err := l.deploy.Execution.End(l.Acme.As(actor.Runner), running.ID, lease, execution.Completion{})
				return err
			},
			receive(l.second, time.Second, "IN_PROGRESS", "1"),
			receive(l.deploy, 2*time.Second, "COMPLETED", "1"),
			receive(l.second, 3*time.Second, "IN_PROGRESS", "2"),
			func() error {
				_, _, err := l.second.Waiting.Start(l.author, waiting.Start{DeploymentID: approved.ID})
				return err
			},
			func() error {
				_, err := l.deploy.Waiting.Approve(l.other, another.ID, nil, true)
				return err
			},
		)
		if err := unexpected(errs, fault.DeploymentInProgress, fault.DeploymentSuperseded, fault.DeploymentResourceTaken); err != nil || errs[0] != nil {
			t.Fatalf("round %d: %v", round, errs)
		}
		if now := l.Store.Client.Deployment.GetX(l.author, approved.ID); now.Status != state.StatusCanceled {
			t.Errorf("round %d: %s is %s", round, now.ID, now.Status)
		}
		if _, err := l.Rules.End(l.Acme.As(actor.Admin), rule.ID, nil); err != nil {
			t.Fatal(err)
		}
	}
}
