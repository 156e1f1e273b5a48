package main_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"

	"slipway-ecs/internal/test/fake"
)

// counted returns the desired count of the one service, and what Slipway has noted of it.
func counted(w *world) string {
	service := w.cloud.Services()[0]
	noted := "nothing"
	for _, t := range service.Tags {
		if aws.ToString(t.Key) == "slipway:desired-count" {
			noted = aws.ToString(t.Value)
		}
	}
	return fmt.Sprintf("%d of %s", service.DesiredCount, noted)
}

// scale sets the desired count as autoscaling does.
func (w *world) scale(n int32) {
	w.t.Helper()
	if err := w.cloud.UpdateOutside(&ecs.UpdateServiceInput{Service: aws.String("web"), DesiredCount: &n}); err != nil {
		w.t.Fatal(err)
	}
}

// count has the inputs name a count, nil for none.
func (w *world) count(n any) {
	w.inputs["count"] = n
	if n == nil {
		delete(w.inputs, "count")
	}
}

func TestTheDesiredCountIsSetOnlyWhenTheInputsNameAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, then any
		scaled      int32 // 0 for not at all
		want        string
	}{
		"a new service without a count gets 1":         {nil, nil, 0, "1 of 1"},
		"a new service gets the count that is named":   {3, 3, 0, "3 of 3"},
		"a new service may get no tasks":               {0, 0, 0, "0 of 0"},
		"what autoscaling has set stays":               {2, 2, 10, "10 of 2"},
		"what autoscaling has set stays without one":   {nil, nil, 10, "10 of 1"},
		"a count that is named no more stays":          {2, nil, 10, "10 of 2"},
		"another count is set":                         {2, 4, 10, "4 of 4"},
		"another count is set where none was named":    {nil, 4, 10, "4 of 4"},
		"another count of 0 is set":                    {2, 0, 10, "0 of 0"},
		"the count of before is not set a second time": {2, 2, 1, "1 of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.count(c.first)
			w.mustDeploy("dep_1", 1)
			if c.scaled > 0 {
				w.scale(c.scaled)
			}
			w.inputs["image"] = "web:2"
			w.count(c.then)
			w.mustDeploy("dep_2", 2)
			if got := counted(w); got != c.want {
				t.Errorf("the desired count is %s, want %s", got, c.want)
			}
		})
	}
}

// A rollback ships inputs of before; their count is in force only if it is another one.
func TestARollbackLeavesWhatAutoscalingHasSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_1", 1)
	w.inputs["image"] = "web:2"
	w.mustDeploy("dep_2", 2)
	w.scale(10)
	w.inputs["image"] = "web:1"
	w.mustDeploy("dep_3", 3)
	if got := counted(w); got != "10 of 2" {
		t.Errorf("the desired count is %s, want 10 of 2", got)
	}
	w.inputs["image"] = "web:broken" // nor does ECS when it goes back by itself
	if e := w.deploy("dep_4", 4); e.code != 1 || counted(w) != "10 of 2" {
		t.Errorf("it ended with %d: %s; the desired count is %s, want 10 of 2", e.code, e.stderr, counted(w))
	}
}

func TestACountWhoseSettingWasInterruptedIsSetByTheNextDeployment(t *testing.T) {
	t.Parallel()
	for moment, when := range moments([]string{"TagResource", "UpdateService"}, []string{"IN_PROGRESS"}) {
		for next, count := range map[string]int{"dep_2": 5, "dep_3": 2} {
			t.Run(moment+"/"+next, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				w.mustDeploy("dep_1", 1)
				w.inputs["image"] = "web:2"
				w.count(5)
				kill := &strike{signal: os.Kill, when: when}
				w.cloud.Intercept = kill.intercept
				if e := kill.begin(w, "dep_2", 2, "apply").end(); e.code != -1 {
					t.Fatalf("it ended with %d: %s", e.code, e.stderr)
				}
				w.inputs["image"] = "web:" + next
				w.count(count)
				w.mustDeploy(next, 3)
				if got, want := counted(w), fmt.Sprintf("%d of %d", count, count); got != want {
					t.Errorf("the desired count is %s, want %s", got, want)
				}
			})
		}
	}
}

func TestAServiceWhoseDestroyWasInterruptedGetsItsTasksBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		count any
		want  string
	}{"as named": {2, "2 of 2"}, "without a count": {nil, "1 of 1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.count(c.count)
			w.mustDeploy("dep_1", 1)
			kill := &strike{signal: os.Kill, when: func(c fake.Call) bool { return c.Operation == "DeleteService" }}
			w.cloud.Intercept = kill.intercept
			if e := kill.begin(w, "dep_2", 2, "destroy").end(); e.code != -1 || w.cloud.Services()[0].DesiredCount != 0 {
				t.Fatalf("it ended with %d: %s", e.code, e.stderr)
			}
			w.inputs["image"] = "web:3"
			w.mustDeploy("dep_3", 3)
			if got := counted(w); got != c.want {
				t.Errorf("the desired count is %s, want %s", got, c.want)
			}
		})
	}
}

func TestWhatWasSetCannotBeNotedIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_1", 1)
	updated := false
	w.cloud.Intercept = func(c fake.Call) fake.Verdict {
		updated = updated || c.Operation == "UpdateService" && c.Done
		if c.Operation == "TagResource" && updated {
			return fake.Verdict{Code: "AccessDeniedException", Message: "no"}
		}
		return fake.Verdict{}
	}
	w.inputs["image"] = "web:2"
	w.count(4)
	if e := w.mustDeploy("dep_2", 2); !e.said("What this deployment has set cannot be written into the tags of the service: TagResource was refused") {
		t.Errorf("it said %v", e.events)
	}
	w.cloud.Intercept = nil
	w.mustDeploy("dep_3", 3)
	if got := counted(w); got != "4 of 4" {
		t.Errorf("the desired count is %s, want 4 of 4", got)
	}
}
