package truth

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"slipway-ecs/internal/test/fake"
)

// shifting are the stages of a service deployment that is not rolling, in the order of the guide of ECS.
var shifting = []string{
	"RECONCILE_SERVICE", "PRE_SCALE_UP", "SCALE_UP", "POST_SCALE_UP", "TEST_TRAFFIC_SHIFT", "POST_TEST_TRAFFIC_SHIFT",
	"PRE_PRODUCTION_TRAFFIC_SHIFT", "PRODUCTION_TRAFFIC_SHIFT", "POST_PRODUCTION_TRAFFIC_SHIFT", "BAKE_TIME", "CLEAN_UP",
}

// ByRunner is in the place of the time of an event to which the runner gives its own.
const ByRunner = "by the runner"

// Said returns the events of slipway-ecs for a service deployment that one run of it has followed from its beginning.
func Said(r *fake.Record) (events []any) {
	total := 4
	if r.DeploymentConfiguration.Strategy != "ROLLING" {
		total = 3 + len(shifting)
	}
	step := func(n int, message string) {
		events = append(events, Data{"currentStep": n, "totalSteps": total, "message": message, "startedAt": ByRunner})
	}
	step(1, "Registering the task definition.")
	events = append(
		events, Data{"message": "The task definition is " + *r.Definition.TaskDefinitionArn + ".", "startedAt": ByRunner},
	)

	step(2, "Updating the service.")
	stage, paused := "", map[string]bool{}
	for _, l := range r.Looks {
		if e := stageEvent(&l, total); e != nil && e["message"] != stage {
			stage = e["message"].(string)
			events = append(events, e)
		}

		for _, h := range l.LifecycleHookDetails {
			if h.Status != "AWAITING_ACTION" || paused[*h.HookId] {
				continue
			}
			paused[*h.HookId] = true
			events = append(events, Data{
				"hookId": *h.HookId, "lifecycleStage": l.LifecycleStage, "startedAt": wholeSecond(l.At),
				"message": fmt.Sprintf("The service deployment waits until %s for somebody to let it continue or go back: aws ecs "+
					"continue-service-deployment "+
					"--service-deployment-arn %s --hook-id %s --action CONTINUE", exactly(*h.ExpiresAt), *l.ServiceDeploymentArn,
					*h.HookId),
			})
		}
	}

	if r.Status == "SUCCESSFUL" {
		step(total, "The service deployment was successful.")
	}
	return normal(Data{"events": events})["events"].([]any)
}

func stageEvent(l *fake.Look, total int) Data {
	if l.FinishedAt != nil {
		return nil
	}
	e := Data{"startedAt": wholeSecond(l.At), "desiredCount": l.TargetServiceRevision.RequestedTaskCount}
	if l.LifecycleStage != "" {
		e["lifecycleStage"] = l.LifecycleStage
	}

	goesOn := l.Status == "IN_PROGRESS" || l.Status == "PENDING"
	switch {
	case goesOn && l.LifecycleStage != "":
		e["currentStep"], e["totalSteps"] = 3+slices.Index(shifting, string(l.LifecycleStage)), total
		e["message"] = fmt.Sprintf("The service deployment is at %s.", l.LifecycleStage)
		if w := l.TargetServiceRevision.RequestedProductionTrafficWeight; w != nil {
			e["message"] = fmt.Sprintf("%s The new revision has %g%% of the traffic.", e["message"], *w)
		}
	case goesOn && l.DeploymentConfiguration.Strategy == "ROLLING":
		e["currentStep"], e["totalSteps"], e["message"] = 3, total, "ECS replaces the tasks."
	default:
		e["message"] = fmt.Sprintf("The service deployment is %s.", l.Status)
	}

	return e
}

// Sent returns the events of the account as Slipway is to show them.
func Sent(events []fake.Event) (shown []any) {
	for _, e := range events {
		d := Data{"startedAt": e.Time, "message": e.Detail["eventName"]}
		for name, of := range map[string]string{"reason": "%s: %s", "expiresAt": "%s until %s"} {
			if value, ok := e.Detail[name]; ok {
				d["message"] = fmt.Sprintf(of, d["message"], value)
			}
		}
		for _, name := range []string{"hookId", "lifecycleStage"} {
			if value, ok := e.Detail[name]; ok {
				d[name] = value
			}
		}
		shown = append(shown, normal(d))
	}
	return shown
}

// Split takes the events of the account out of those of a record, and returns those of slipway-ecs in their order. Each
// of the account has to be there once, behind those that are older; the error says what is otherwise.
func Split(record, sent []any) (said []any, err error) {
	sent = slices.Clone(sent)
	slices.SortStableFunc(sent, func(a, b any) int { return timeOf(a).Compare(timeOf(b)) })
	for _, e := range record {
		if len(sent) > 0 && reflect.DeepEqual(e, sent[0]) {
			sent = sent[1:]
			continue
		}
		event := normal(e.(Data))
		if event["lifecycleStage"] == nil && event["desiredCount"] == nil {
			if timeOf(event).IsZero() {
				return nil, fmt.Errorf("%v has no time", event)
			}
			event["startedAt"] = ByRunner
		}
		said = append(said, event)
	}

	if len(sent) > 0 {
		return nil, fmt.Errorf("%v is not among %v, or not in order", sent[0], record)
	}
	return said, nil
}

func timeOf(event any) time.Time {
	text, _ := event.(Data)["startedAt"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
