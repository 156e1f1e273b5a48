package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/fake"
	"slipway-ecs/truth"
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

// check compares what Slipway has of every deployment with the truth.
func (c *course) check(delivered bool) {
	c.w.t.Helper()
	all := append(c.w.all("web"), c.w.all("roll")...)
	for _, r := range c.records {
		at := slices.IndexFunc(all, func(d map[string]any) bool { return d["id"] == r.got["id"] })
		got, _ := all[at]["dataJson"].(truth.Data)
		var sent []any
		if _, applied := c.applied[r.scenario]; applied && delivered {
			sent = truth.Sent(c.of(r.got["id"].(string)).Events)
		}
		events, _ := got["events"].([]any)
		said, err := truth.Split(events, sent)
		if err != nil {
			c.w.t.Errorf("%s: %v", r.scenario, err)
		}
		got["events"] = said
		for _, line := range truth.Difference(got, r.want, "data") {
			c.w.t.Errorf("%s: %s", r.scenario, line)
		}
	}
}

func TestEventsAndReportsMakeOneRecordInAnyOrder(t *testing.T) {
	t.Parallel()
	// The last is the course without events.
	for _, order := range []string{"as they happen", "afterwards, the last first", "twice", "never"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			c := newCourse(t, order)
			c.check(order != "never")
			if order == "as they happen" {
				c.outside()
				c.checkFields()
			}
			checkGone(t, c.w, "roll")
		})
	}
}

// outside has somebody update the service outside of Slipway.
func (c *course) outside() {
	t := c.w.t
	t.Helper()
	first := c.of(c.applied["a first rolling one"]).Definition.TaskDefinitionArn
	err := c.w.cloud.UpdateOutside(&ecs.UpdateServiceInput{Service: aws.String("roll"), TaskDefinition: first, DeploymentConfiguration: &types.DeploymentConfiguration{}})
	if err != nil {
		t.Fatal(err)
	}
	c.deliver()
	newest, history := c.w.last("roll"), c.w.cloud.History()
	r := &history[len(history)-1]
	want := truth.Outside(r)
	for _, line := range truth.Difference(newest["dataJson"], want, "data") {
		t.Errorf("outside: %s", line)
	}
	c.records = append(c.records, record{scenario: "outside", want: want})
	instance := c.w.slipway("api", `query($id: ID!) { moduleInstance(id: $id) { drift { kind } } }`, "--var", "id="+c.w.id("roll"))
	if newest["triggerSource"] != "event" || newest["externalDeploymentId"] != r.ExternalID || !strings.Contains(instance, "CHANGED_OUTSIDE") {
		t.Errorf("the newest is %v, and the instance %s", newest, instance)
	}
}

// checkFields checks that each field that the schema has for data is expected of some deployment.
func (c *course) checkFields() {
	t := c.w.t
	t.Helper()
	expected := map[string]bool{}
	for _, r := range c.records {
		expect(r.want, "", expected)
	}
	var schema struct {
		Data struct {
			Schema struct {
				Types []struct {
					Name   string
					Fields []struct {
						Name string
						Type ofType
					}
				}
			} `json:"__schema"`
		}
	}
	const of = `name ofType { name ofType { name ofType { name } } }`
	if err := json.Unmarshal([]byte(c.w.slipway("api", `{ __schema { types { name fields { name type { `+of+` } } } } }`)), &schema); err != nil {
		t.Fatal(err)
	}
	var walk func(name, path string) (leaf bool)
	walk = func(name, path string) (leaf bool) {
		for _, known := range schema.Data.Schema.Types {
			if known.Name != name {
				continue
			}
			for _, field := range known.Fields {
				at := strings.TrimPrefix(path+"."+field.Name, ".")
				if walk(field.Type.named(), at) && !expected[at] {
					t.Errorf("no deployment is expected to have %s", at)
				}
			}
			return len(known.Fields) == 0
		}
		t.Errorf("the schema has no type %s of %s", name, path)
		return false
	}
	if walk("EcsDeploymentData", "") {
		t.Error("the schema has no fields for data")
	}
}

type ofType struct {
	Name   string
	OfType *ofType
}

// named returns the name of the type within lists and what is never null.
func (o ofType) named() string {
	if o.OfType != nil {
		return o.OfType.named()
	}
	return o.Name
}

// expect notes the paths of what a value has; those of lists are the same for all items.
func expect(value any, path string, found map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			found[at] = true
			expect(member, at, found)
		}
	case []any:
		for _, item := range v {
			expect(item, path, found)
		}
	}
}
