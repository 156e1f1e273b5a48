package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/internal/test/truth"
)

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
