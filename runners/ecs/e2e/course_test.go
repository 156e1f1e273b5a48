package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"slipway-ecs/internal/test/fake"
	"slipway-ecs/internal/test/truth"
)

// answerPauses lets somebody answer each pause once the program has seen it, and has events delivered as deliver says.
func answerPauses(w *world, goOn func(deployment int) bool, deliver func()) func(fake.Call) fake.Verdict {
	var mu sync.Mutex
	seen := map[string]int{}
	return func(c fake.Call) fake.Verdict {
		mu.Lock()
		defer mu.Unlock()
		if !c.Done {
			return fake.Verdict{}
		}
		deliver()
		all := w.cloud.Deployments()
		for n, d := range all {
			for _, h := range d.LifecycleHookDetails {
				if h.Status != "AWAITING_ACTION" || c.Operation != "DescribeServiceDeployments" {
					continue
				}
				if seen[*h.HookId]++; seen[*h.HookId] == 2 {
					if err := w.cloud.Continue(*d.ServiceDeploymentArn, *h.HookId, goOn(n+1)); err != nil {
						w.t.Error(err)
					}
				}
			}
		}
		return fake.Verdict{}
	}
}

// record is a deployment as Slipway has it in the end, beside what it is to be.
type record struct {
	scenario  string
	got, want truth.Data
}

// course is a service through everything that can become of a deployment.
type course struct {
	w         *world
	records   []record
	delivered int
	// asTheyHappen is whether events are delivered at once, and last what was sent when they are not.
	asTheyHappen bool
	// live is the task definition that is live, nil for none.
	live truth.Data
	// applied are the deployments in which the program has applied something, by what they are called here.
	applied map[string]string
}

// deliver delivers the events that were not delivered yet.
func (c *course) deliver() {
	for _, e := range c.w.cloud.Events()[c.delivered:] {
		c.w.deliver(e)
		c.delivered++
	}
}

// refused is the number of the service deployment whose pause somebody refuses.
const refused = 3

// newCourse carries everything out. The events are delivered as they happen, or afterwards in the order that it is told, or twice,
// or not at all.
func newCourse(t *testing.T, order string) *course {
	t.Helper()
	c := &course{w: newWorld(t), asTheyHappen: order == "as they happen", applied: map[string]string{}}
	w := c.w
	c.w.cloud.Intercept = answerPauses(c.w, func(n int) bool { return n != refused }, func() {
		if c.asTheyHappen {
			c.deliver()
		}
	})
	w.instance("web", shifting)
	c.apply("a first creation", "web", 0)
	c.apply("a canary", "web", 0, "--set", "image=web:2")
	c.apply("a refused pause", "web", 6, "--set", "image=web:3")
	c.apply("blue/green", "web", 0, "--set", "image=web:4", "--set", "strategy=BLUE_GREEN")
	c.apply("linear", "web", 0, "--set", "image=web:5", "--set", "strategy=LINEAR", "--set", "step_percent=40", "--set", "step_minutes=0")
	c.rollback("a rollback", "web", c.applied["a canary"])
	c.rest(order) // the account's time is ahead of the server's, and nothing tells when a destroy begins
	c.destroy("a destroy", "web")
	w.instance("roll", nil)
	c.apply("a first rolling one", "roll", 0)
	c.apply("the circuit breaker", "roll", 6, "--set", "image=roll:broken")
	c.apply("a success after it", "roll", 0, "--set", "image=roll:2")
	c.rest(order)
	return c
}

// rest delivers the events that were not delivered yet in an order.
func (c *course) rest(order string) {
	c.w.t.Helper()
	events := c.w.cloud.Events()[c.delivered:]
	switch order {
	case "afterwards, the last first":
		for _, e := range slices.Backward(events) {
			c.w.deliver(e)
		}
	case "twice":
		for range 2 {
			for _, e := range events {
				c.w.deliver(e)
			}
		}
	case "as they happen":
		for _, e := range events {
			c.w.deliver(e)
		}
	}
	c.delivered += len(events)
}

// apply deploys, and notes what is to become of it.
func (c *course) apply(scenario, name string, code int, args ...string) {
	c.w.t.Helper()
	if out, got := c.w.deploy(name, args...); got != code {
		c.w.t.Fatalf("%s ended with %d: %s; the runner: %s", scenario, got, out, c.w.read("runner.log"))
	}
	c.note(scenario, name, code == 0)
}

func (c *course) rollback(scenario, name, to string) {
	c.w.t.Helper()
	c.w.slipway("rollback", "shop/prod/"+name, "--to", to, "--yes", "--timeout", "60s")
	c.note(scenario, name, true)
}

func (c *course) destroy(scenario, name string) {
	c.w.t.Helper()
	service := *c.w.cloud.Services()[0].ServiceArn
	c.w.slipway("destroy", "shop/prod/"+name, "--yes", "--timeout", "60s")
	id := fmt.Sprint(c.w.last(name)["id"])
	want := c.filled(id)
	maps.Copy(want, truth.Data{
		"clusterArn": fake.Cluster, "serviceArn": service, "ecsModuleDeploymentId": id, "deployedTaskDefinition": truth.Data{},
		"preDeployEnabled": true, "postDeployEnabled": false, // as it was live
	})
	var said []any
	for n, message := range []string{"Scaling the service to 0 tasks.", "Deleting the service.", "Deregistering the task definitions.", "The service is gone."} {
		said = append(said, truth.Data{"currentStep": float64(n + 1), "totalSteps": 4.0, "message": message, "startedAt": truth.ByRunner})
	}
	want["events"] = said
	c.records = append(c.records, record{scenario: scenario, got: truth.Data{"id": id}, want: want})
	c.live = nil
	if services, definitions := c.w.cloud.Services(), c.w.cloud.TaskDefinitions(); len(services)+len(definitions) != 0 {
		c.w.t.Errorf("%d services and %d task definitions are left behind", len(services), len(definitions))
	}
}

// filled are the fields that Slipway itself fills in.
func (c *course) filled(id string) truth.Data {
	d := truth.Data{"type": "aws:ecs", "triggerChannel": "graphql", "triggeredBy": "admin"}
	if c.live != nil {
		d["previousTaskDefinition"] = c.live
	}
	return d
}

// note notes what is to become of the deployment that has just ended.
func (c *course) note(scenario, name string, succeeded bool) {
	c.w.t.Helper()
	id := fmt.Sprint(c.w.last(name)["id"])
	c.applied[scenario] = id
	r := c.of(id)
	want := c.filled(id)
	maps.Copy(want, truth.Reported(r, truth.Known{Inputs: c.w.values(name), CapturedAt: c.w.cloud.Answered("DescribeLoadBalancers")}))
	want["events"] = truth.Said(r)
	c.records = append(c.records, record{scenario: scenario, got: truth.Data{"id": id}, want: want})
	if succeeded {
		c.live = truth.TaskDefinition(r, nil)
	}
}

// of returns the service deployment that a deployment has brought about.
func (c *course) of(id string) *fake.Record {
	c.w.t.Helper()
	for _, r := range c.w.cloud.History() {
		for _, tag := range r.Tags {
			if *tag.Key == "slipway:deployment" && *tag.Value == id {
				return &r
			}
		}
	}
	c.w.t.Fatalf("the account has no service deployment of %s", id)
	return nil
}
