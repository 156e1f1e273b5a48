package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/fake"
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

// course deploys three times: the first makes the service, the second replaces it as a canary, and the third is refused at its
// pause. The events are delivered as they happen, or afterwards in the order that it is told, or twice.
func course(t *testing.T, order string) *world {
	t.Helper()
	w := newWorld(t)
	w.instance("web", shifting)
	delivered := 0
	rest := func() {
		for _, e := range w.cloud.Events()[delivered:] {
			w.deliver(e)
			delivered++
		}
	}
	asTheyHappen := func() {}
	if order == "as they happen" {
		asTheyHappen = rest
	}
	w.cloud.Intercept = answerPauses(w, func(deployment int) bool { return deployment != 3 }, asTheyHappen)
	w.mustDeploy("web")
	w.mustDeploy("web", "--set", "image=web:2")
	if out, code := w.deploy("web", "--set", "image=web:3"); code != 6 {
		t.Fatalf("the refused deployment ended with %d: %s", code, out)
	}
	events := w.cloud.Events()
	switch order {
	case "afterwards, the last first":
		for _, e := range slices.Backward(events) {
			w.deliver(e)
		}
	case "as they happen":
		rest()
	case "twice":
		for range 2 {
			for _, e := range events {
				w.deliver(e)
			}
		}
	}
	return w
}

func TestEventsAndReportsMakeOneRecordInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"as they happen", "afterwards, the last first", "twice"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			w := course(t, order)
			all, truth := w.all("web"), w.cloud.Deployments()
			if len(all) != 3 || len(truth) != 3 {
				t.Fatalf("%d deployments, and %d service deployments", len(all), len(truth))
			}
			slices.Reverse(all)
			for i, d := range all {
				own, data := truth[i], d["dataJson"].(map[string]any)
				state := data["serviceDeploymentState"].(map[string]any)
				if want := map[bool]string{true: "SUCCEEDED", false: "FAILED"}[i < 2]; d["status"] != want {
					t.Errorf("deployment %d is %s, want %s", i+1, d["status"], want)
				}
				for name, pair := range map[string][2]any{
					"serviceDeploymentArn": {data["serviceDeploymentArn"], *own.ServiceDeploymentArn}, "status": {state["status"], string(own.Status)},
					"its own": {state["serviceDeploymentArn"], *own.ServiceDeploymentArn}, "strategy": {state["strategy"], "CANARY"},
					"stage":    {state["lifecycleStage"], string(own.LifecycleStage)},
					"running":  {state["targetServiceRevision"].(map[string]any)["runningTaskCount"], float64(own.TargetServiceRevision.RunningTaskCount)},
					"weight":   {state["targetServiceRevision"].(map[string]any)["requestedProductionTrafficWeight"], *own.TargetServiceRevision.RequestedProductionTrafficWeight},
					"revision": {state["targetServiceRevision"].(map[string]any)["serviceRevisionArn"], *own.TargetServiceRevision.Arn},
					"external": {d["externalDeploymentId"], "ecs-svc/" + last(*own.TargetServiceRevision.Arn)},
					"cluster":  {data["clusterArn"], fake.Cluster}, "resource": {d["resourceArn"], *own.ServiceArn}, "name": {d["resourceName"], "web"},
				} {
					if pair[0] != pair[1] {
						t.Errorf("deployment %d: %s is %v, and in truth %v", i+1, name, pair[0], pair[1])
					}
				}
				if events := fmt.Sprint(data["events"]); strings.Count(events, "SERVICE_DEPLOYMENT_IN_PROGRESS: ECS deployment") != 1 {
					t.Errorf("deployment %d has the events %s", i+1, events)
				}
			}
			pauses(t, w, all)
		})
	}
}

// pauses checks which pauses were accepted, and what the third went back to.
func pauses(t *testing.T, w *world, all []map[string]any) {
	t.Helper()
	accepted := map[string]fake.Event{}
	for _, e := range w.cloud.Events() {
		if e.Detail["eventName"] == "HOOK_SUCCEEDED" {
			accepted[e.Detail["serviceDeploymentArn"].(string)] = e
		}
	}
	for i, d := range all {
		data := d["dataJson"].(map[string]any)
		pause, _ := data["acceptedPauseControl"].(map[string]any)
		event, was := accepted[data["serviceDeploymentArn"].(string)]
		if was != (pause != nil) || was && (pause["hookId"] != event.Detail["hookId"] || pause["lifecycleStage"] != "POST_TEST_TRAFFIC_SHIFT") {
			t.Errorf("deployment %d: the pause is %v, and in truth %v", i+1, pause, event)
		}
	}
	third, second := all[2]["dataJson"].(map[string]any), all[1]
	if third["revertServiceDeploymentArn"] != second["dataJson"].(map[string]any)["serviceDeploymentArn"] ||
		third["revertExternalDeploymentId"] != second["externalDeploymentId"] || third["revertRequestedAt"] == nil {
		t.Errorf("the third goes back to %v, %v since %v", third["revertServiceDeploymentArn"], third["revertExternalDeploymentId"], third["revertRequestedAt"])
	}
}

func last(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// everyField are the fields of the record, as the API calls them; those of lists and of revisions each once.
const everyField = `type clusterArn serviceArn detectedVia ecsModuleDeploymentId postDeployEnabled preDeployEnabled revertExternalDeploymentId
revertRequestedAt revertServiceDeploymentArn serviceDeploymentArn triggerChannel triggeredBy
acceptedPauseControl.acceptedAt acceptedPauseControl.hookId acceptedPauseControl.eventStartedAt acceptedPauseControl.lifecycleStage
deployedTaskDefinition.arn deployedTaskDefinition.definition deployedTaskDefinition.revision
previousTaskDefinition.arn previousTaskDefinition.definition previousTaskDefinition.revision
elbListenerState.capturedAt elbListenerState.loadBalancerArn elbListenerState.loadBalancerDnsName elbListenerState.rules.isDefaultRule
elbListenerState.rules.listenerArn elbListenerState.rules.port elbListenerState.rules.protocol elbListenerState.rules.ruleArn
elbListenerState.rules.targetGroupArn elbListenerState.rules.hostHeaders elbListenerState.rules.pathPatterns
elbListenerState.rules.rulePriority elbListenerState.rules.targetGroupName
events.currentStep events.totalSteps events.startedAt events.desiredCount events.hookId events.lifecycleStage events.message
serviceDeploymentState.acceptsNativeStandbyRevert serviceDeploymentState.observedAt serviceDeploymentState.serviceDeploymentArn
serviceDeploymentState.status serviceDeploymentState.lifecycleStage serviceDeploymentState.statusReason serviceDeploymentState.strategy
serviceDeploymentState.sourceServiceRevisions.pendingTaskCount serviceDeploymentState.sourceServiceRevisions.requestedTaskCount
serviceDeploymentState.sourceServiceRevisions.runningTaskCount serviceDeploymentState.sourceServiceRevisions.serviceRevisionArn
serviceDeploymentState.sourceServiceRevisions.requestedProductionTrafficWeight
serviceDeploymentState.sourceServiceRevisions.requestedTestTrafficWeight
serviceDeploymentState.targetServiceRevision.pendingTaskCount serviceDeploymentState.targetServiceRevision.requestedTaskCount
serviceDeploymentState.targetServiceRevision.runningTaskCount serviceDeploymentState.targetServiceRevision.serviceRevisionArn
serviceDeploymentState.targetServiceRevision.requestedProductionTrafficWeight
serviceDeploymentState.targetServiceRevision.requestedTestTrafficWeight`

// fields notes the paths of what a value has.
func fields(value any, path string, found map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			found[at] = true
			fields(member, at, found)
		}
	case []any:
		for _, item := range v {
			fields(item, path, found)
		}
	}
}

func TestEveryFieldOfTheRecordIsFilledIn(t *testing.T) {
	t.Parallel()
	w := course(t, "as they happen")
	first := w.all("web")[2]["dataJson"].(map[string]any)["deployedTaskDefinition"].(map[string]any)["arn"].(string)
	w.cloud.Intercept = nil
	done := len(w.cloud.Events())
	outside := &ecs.UpdateServiceInput{Service: aws.String("web"), TaskDefinition: &first, DeploymentConfiguration: &types.DeploymentConfiguration{}}
	if err := w.cloud.UpdateOutside(outside); err != nil {
		t.Fatal(err)
	}
	for _, e := range w.cloud.Events()[done:] {
		w.deliver(e)
	}
	found := map[string]bool{}
	all := w.all("web")
	for _, d := range all {
		fields(d["dataJson"], "", found)
	}
	for _, field := range strings.Fields(everyField) {
		if !found[field] {
			t.Errorf("no deployment has %s", field)
		}
	}
	instance := w.slipway("api", `query($id: ID!) { moduleInstance(id: $id) { drift { kind } } }`, "--var", "id="+w.id("web"))
	if all[0]["triggerSource"] != "event" || !strings.Contains(instance, "CHANGED_OUTSIDE") {
		t.Errorf("the newest is %v, and the instance %s", all[0], instance)
	}
}
