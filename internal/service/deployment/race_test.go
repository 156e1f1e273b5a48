package deployment_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

const racers = 200

func TestOfManyReplaysAtOnceOneStarts(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		servers := []*worldtest.World{w}
		if t.Name() == "TestOfManyReplaysAtOnceOneStarts/postgres" {
			servers = append(servers, worldtest.Another(t, w.DatabaseURL))
		}
		target := w.Fixture(t, w.Acme, "web").Succeeded(t)
		var started, refused sync.Map
		var n atomic.Int32
		var all sync.WaitGroup
		for i := range racers {
			all.Go(func() {
				field := []string{"rollbackDeployment", "redeployDeployment"}[i/2%2]
				query := `mutation($id: ID!) { replay: ` + field + `(input: { id: $id }) { deployment { id } } }`
				r := servers[i%len(servers)].GraphQL(t, w.Acme.Tokens[actor.Developer], query, map[string]any{"id": target.ID})
				if r.Code(t) == "" && r.Status == http.StatusOK {
					started.Store(r.Text(t, "data", "replay", "deployment", "id"), true)
					return
				}
				if r.Code(t) != string(fault.DeploymentInProgress) {
					t.Errorf("%d %s", r.Status, r.Body)
				}
				n.Add(1)
				metadata, _ := r.Refusal(t)["metadata"].(map[string]any)
				by, _ := metadata["blockedBy"].(map[string]any)
				refused.Store(by["deploymentId"], true)
			})
		}
		all.Wait()
		active := w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(w.Acme.As(actor.Viewer))
		if len(active) != 1 || n.Load() != racers-1 {
			t.Fatalf("%d are active, %d were refused; want 1 and %d", len(active), n.Load(), racers-1)
		}
		for name, ids := range map[string]*sync.Map{"started": &started, "blockers": &refused} {
			ids.Range(func(id, _ any) bool {
				if id != active[0].ID {
					t.Errorf("%s: %v, want the active %s only", name, id, active[0].ID)
				}
				return true
			})
		}
	})
}

func TestOfManyRunnersEachTakesAnother(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			p.Deploy(t, p.NewInstance(t, name).ID, `{"image":"web:1"}`)
		}
		var taken sync.Map
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				d, _, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes})
				if err != nil || d == nil {
					t.Errorf("%v, %v", d, err)
					return
				}
				if _, twice := taken.LoadOrStore(d.ID, true); twice {
					t.Errorf("%s was claimed twice", d.ID)
				}
			})
		}
		all.Wait()
		// Nothing runs that nobody has taken.
		for _, d := range w.Store.Client.Deployment.Query().Where(entdeployment.StatusNEQ("PENDING")).AllX(w.Acme.As(actor.Viewer)) {
			if _, ok := taken.Load(d.ID); !ok {
				t.Errorf("%s is %s and was given to nobody", d.ID, d.Status)
			}
		}
	})
}

func TestOfManyEndsAtOnceOneIsWrittenDown(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		// The first round opens the connections, one after the other; the later ones race.
		for range 5 {
			d := states["RUNNING"](t, p, w)
			ended := endAtOnce(t, w, d.ID)
			last := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID)
			// A request does not end it. Its runner may say the end again, and hears of its own end only.
			delete(ended, entdeployment.StatusRUNNING)
			if len(ended) != 1 || ended[last.Status] == 0 {
				t.Errorf("its ends are %v; it is %s", ended, last.Status)
			}
			changes := int32(1)
			if last.CancelRequestedAt != nil {
				changes = 2
			}
			live := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), p.Instance.ID).LiveDeploymentID
			isLive := live != nil && *live == d.ID
			if last.Version != d.Version+changes || isLive != (last.Status == entdeployment.StatusSUCCEEDED) ||
				last.Status == entdeployment.StatusCANCELED && last.CancelRequestedAt == nil {
				t.Errorf("status %s, version %d after %d, requested at %v, live %t", last.Status, last.Version, d.Version, last.CancelRequestedAt, isLive)
			}
		}
	})
}

// endAtOnce lets many cancel and end a RUNNING deployment, each in its own way, and counts by status what they are
// answered.
func endAtOnce(t *testing.T, w *worldtest.World, deploymentID string) map[entdeployment.Status]int {
	t.Helper()
	runner, lease := w.Acme.As(actor.Runner), w.LeaseOf(w.Acme, deploymentID)
	ways := []func() (*ent.Deployment, error){
		func() (*ent.Deployment, error) {
			return w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), deploymentID, nil)
		},
		func() (*ent.Deployment, error) {
			return w.Deploy.Execution.End(runner, deploymentID, lease, execution.Completion{})
		},
		func() (*ent.Deployment, error) {
			return w.Deploy.Execution.End(runner, deploymentID, lease, execution.Completion{Failure: broken})
		},
		func() (*ent.Deployment, error) {
			d, err := w.Deploy.Execution.End(runner, deploymentID, lease, execution.Completion{Canceled: true})
			if fault.Is(err, fault.DeploymentWrongState) {
				return w.Store.Client.Deployment.Get(runner, deploymentID) // it was not requested yet
			}
			return d, err
		},
	}
	refusals := []fault.Code{fault.DeploymentWrongState, fault.DeploymentLeaseLost, fault.DeploymentLeaseLost, fault.DeploymentLeaseLost}
	var mu sync.Mutex
	ended := map[entdeployment.Status]int{}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			d, err := ways[i%4]()
			switch {
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				ended[d.Status]++
			case !fault.Is(err, refusals[i%4]):
				t.Error(err)
			}
		})
	}
	all.Wait()
	return ended
}

func TestEqualReleasesAtOnceAreOne(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		var instances []string
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			instances = append(instances, p.NewInstance(t, name).ID)
		}
		var all sync.WaitGroup
		for _, instance := range instances {
			all.Go(func() { p.Deploy(t, instance, `{"image":"web:1"}`) })
		}
		all.Wait()
		if rows := w.Rows(t); rows["releases"] != 1 || rows["deployments"] != 8 {
			t.Errorf("%d releases, %d deployments", rows["releases"], rows["deployments"])
		}
	})
}

// Each of many changes of one record is made, or is told that others are quicker; none of them waits without end.
func TestOfManyChangesOfOneRecordNoneIsLost(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		services := []*deployment.Services{w.Deploy}
		if strings.HasSuffix(t.Name(), "postgres") {
			services = append(services, worldtest.Another(t, w.DatabaseURL).Deploy)
		}
		before := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID).Version
		var made atomic.Int32
		var all sync.WaitGroup
		for i := range racers {
			all.Go(func() {
				_, _, err := services[i%len(services)].Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{ResourceName: new(fmt.Sprint("web-", i))})
				switch {
				case err == nil:
					made.Add(1)
				case !fault.Is(err, fault.ServerUnavailable):
					t.Error(err)
				}
			})
		}
		all.Wait()
		after := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID).Version
		if after-before != made.Load() || made.Load() < racers/2 {
			t.Errorf("%d of %d changes were made, and the version was raised by %d", made.Load(), racers, after-before)
		}
	})
}
