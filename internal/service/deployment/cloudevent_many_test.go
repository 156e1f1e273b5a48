package deployment_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// crowd is a service with many deployments.
type crowd struct {
	instance    *ent.ModuleInstance
	service     string
	deployments int
	// documents are the events of the deployments, in their order.
	documents []string
}

const (
	crowdServices = 4
	// longest is how many deployments one of the services has in any case: more than are read at once.
	longest = 260
	// between is how long after one deployment the next begins. A runner holds one for a minute.
	between = 4 * time.Minute
)

// crowds makes services, and has a runner carry out every tenth of their deployments; the others are started outside.
func (b *bus) crowds(t *testing.T, p *worldtest.Fixture) []*crowd {
	t.Helper()
	list := make([]*crowd, crowdServices)
	for i := range list {
		first, source, _ := b.instance(t, p, fmt.Sprint("crowd", i), false)
		c := &crowd{instance: first, service: b.service(fmt.Sprint("crowd", i)), deployments: longest}
		if i > 0 {
			c.deployments = testkit.Often(40, longest)
		}
		for k := range c.deployments {
			begun := time.Hour + time.Duration(k)*between
			id := fmt.Sprintf("ecs-svc/%d-%d", i, k)
			if k%10 == 0 {
				b.carryOut(t, source, begun-2*time.Second)
			}
			c.documents = append(c.documents, stateOf(c.service, begun, "IN_PROGRESS", id, ""),
				action(c.service, begun+time.Minute, fmt.Sprint("ACTION_", k), ""), stateOf(c.service, begun+2*time.Minute, "COMPLETED", id, ""))
		}
		list[i] = c
	}
	return list
}

// carryOut has a runner hold one more deployment for a minute.
func (b *bus) carryOut(t *testing.T, source *ent.Deployment, after time.Duration) {
	t.Helper()
	claimed, ended := serviceAt(b.World, at.Add(after)), serviceAt(b.World, at.Add(after+50*time.Second))
	if _, _, err := claimed.Propose.Redeploy(b.Acme.As(actor.Developer), propose.Replay{SourceID: source.ID}); err != nil {
		t.Fatal(err)
	}
	d, lease, err := claimed.Execution.Claim(b.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ended.Execution.End(b.Acme.As(actor.Runner), d.ID, lease.ID, execution.Completion{}); err != nil {
		t.Fatal(err)
	}
}

// TestManyDeploymentsHaveOneRecordEach has the events of many come in any order, and some of them twice, those of the services beside
// each other.
func TestManyDeploymentsHaveOneRecordEach(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b := w.Fixture(t, w.Acme, "web"), newBus(w, "many")
		list := b.crowds(t, p)
		var all sync.WaitGroup
		for i, c := range list {
			random := rand.New(rand.NewPCG(uint64(i), 2))
			documents := slices.Concat(c.documents, c.documents[:len(c.documents)/4])
			random.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
			all.Go(func() { b.receive(t, documents...) })
		}
		all.Wait()
		for i, c := range list {
			b.checkCrowd(t, i, c)
		}
	})
}

// checkCrowd fails unless each deployment of a service has one record, with its own events and no others.
func (b *bus) checkCrowd(t *testing.T, i int, c *crowd) {
	t.Helper()
	list := b.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(c.instance.ID), entdeployment.ExternalDeploymentIDNotNil()).
		AllX(b.Acme.As(actor.Viewer))
	slices.SortFunc(list, func(a, b *ent.Deployment) int { return cmp.Compare(number(t, a), number(t, b)) })
	var want, got []string
	for k := range c.deployments {
		begun := at.Add(time.Hour + time.Duration(k)*between)
		source := "event"
		if k%10 == 0 {
			source = "redeploy"
		}
		want = append(want, fmt.Sprintf("ecs-svc/%d-%d %s SUCCEEDED %s SERVICE_DEPLOYMENT_IN_PROGRESS, %s ACTION_%d, %s SERVICE_DEPLOYMENT_COMPLETED",
			i, k, source, stamp(&begun), stamp(new(begun.Add(time.Minute))), k, stamp(new(begun.Add(2*time.Minute)))))
	}
	for _, d := range list {
		data, err := d.Data.Data()
		if err != nil {
			t.Fatal(err)
		}
		var events []string
		for _, e := range data.Events {
			events = append(events, *e.StartedAt+" "+*e.Message)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", *d.ExternalDeploymentID, d.TriggerSource, d.Status, strings.Join(events, ", ")))
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %d records of %d deployments: want (-), got (+):\n%.3000s", c.service, len(list), c.deployments, diff)
	}
}

// number is that at the end of a deployment's id of the cloud.
func number(t *testing.T, d *ent.Deployment) (n int) {
	t.Helper()
	_, last, _ := strings.Cut(*d.ExternalDeploymentID, "-svc/")
	var service int
	if _, err := fmt.Sscanf(last, "%d-%d", &service, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// manyOpen is more than are looked at together.
const manyOpen = 520

// TestHoweverManyBeganOutsideTheyEnd has many deployments begin outside, without a word of their end. If a later one ends
// those that are left end with the next event; if the service is moved all end with that.
func TestHoweverManyBeganOutsideTheyEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(t *testing.T, p *worldtest.Fixture, b *bus, service, last string)
		want map[string]int
	}{
		"by a later one": {func(t *testing.T, _ *worldtest.Fixture, b *bus, service, last string) {
			b.receive(t, stateOf(service, 20*time.Hour, "COMPLETED", last, ""), action(service, 21*time.Hour, "SERVICE_STEADY_STATE", ""))
		}, map[string]int{"CANCELED": manyOpen - 1, "SUCCEEDED": 1}},
		"as the service is moved": {func(t *testing.T, p *worldtest.Fixture, b *bus, service, _ string) {
			if _, err := b.deploy.CloudEvents.MoveService(b.Acme.As(actor.Admin), service, p.NewInstance(t, "elsewhere").ID); err != nil {
				t.Error(err)
			}
		}, map[string]int{"CANCELED": manyOpen}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
				p, b := w.Fixture(t, w.Acme, "web"), newBus(w, "open")
				instance, _, _ := b.instance(t, p, "open", false)
				service, last := b.service("open"), ""
				for k := range manyOpen {
					last = fmt.Sprintf("ecs-svc/%d", k)
					b.receive(t, stateOf(service, time.Hour+time.Duration(k)*time.Minute, "IN_PROGRESS", last, ""))
				}
				test.end(t, p, b, service, last)
				got := map[string]int{}
				for _, d := range w.Store.Client.Deployment.Query().
					Where(entdeployment.ModuleInstanceID(instance.ID), entdeployment.TriggerSource("event")).AllX(w.Acme.As(actor.Viewer)) {
					got[string(d.Status)]++
				}
				if diff := gocmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
