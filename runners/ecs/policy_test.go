package main_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"slipway-ecs/internal/test/fake"
)

// policy is the first block of JSON in the guide.
var policy = regexp.MustCompile("(?s)```json\n(.*?)```")

func TestThePolicyOfTheGuideAllowsWhatIsAskedAndNoMore(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/ecs.md")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Statement []struct{ Action any }
	}
	if err := json.Unmarshal(policy.FindSubmatch(guide)[1], &document); err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{}
	for _, s := range document.Statement {
		switch action := s.Action.(type) {
		case string:
			allowed[action] = true
		case []any:
			for _, a := range action {
				allowed[a.(string)] = true
			}
		}
	}
	delete(allowed, "iam:PassRole") // it is AWS that asks for it

	var mu sync.Mutex
	asked := map[string]bool{}
	w := newWorld(t, shifting("BLUE_GREEN", nil))
	w.cloud.Intercept = func(c fake.Call) fake.Verdict {
		mu.Lock()
		defer mu.Unlock()
		api := "ecs:"
		if strings.Contains("DescribeTargetGroups DescribeLoadBalancers DescribeListeners DescribeRules", c.Operation) {
			api = "elasticloadbalancing:"
		}
		asked[api+c.Operation] = true
		return fake.Verdict{}
	}
	w.mustDeploy("dep_1", 1)
	w.inputs["image"], w.inputs["timeout_minutes"] = "web:2", 1
	stop := &strike{signal: os.Interrupt, when: moments(nil, []string{"SCALE_UP"})["at SCALE_UP"]}
	count := w.cloud.Intercept
	w.cloud.Intercept = func(c fake.Call) fake.Verdict { stop.intercept(c); return count(c) }
	if e := stop.begin(w, "dep_2", 2, "apply").end(); e.code != 75 {
		t.Fatalf("it ended with %d: %s", e.code, e.stderr)
	}
	if e := w.destroy("dep_3", 3); e.code != 0 {
		t.Fatalf("destroyed, %d: %s", e.code, e.stderr)
	}
	if got, want := slices.Sorted(maps.Keys(asked)), slices.Sorted(maps.Keys(allowed)); !slices.Equal(got, want) {
		t.Errorf("asked:   %v\nallowed: %v", got, want)
	}
}
