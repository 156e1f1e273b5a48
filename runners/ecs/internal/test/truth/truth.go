// Package truth says what Slipway is to keep of a deployment, as the fake account knows it and not as slipway-ecs has
// read it. The tests compare each field of a record with it.
package truth

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/internal/test/fake"
)

// Data is a record as JSON has it.
type Data = map[string]any

// Known is what the account does not know of a deployment.
type Known struct {
	// Inputs and Artifact are those of the release.
	Inputs, Artifact Data
	// CapturedAt are the times at which the load balancers were looked at, see fake.Cloud.Answered.
	CapturedAt []time.Time
}

// Reported returns what slipway-ecs is to report of a service deployment. Events and what Slipway fills in itself are
// not in it.
func Reported(r *fake.Record, k Known) Data {
	d := Data{
		"clusterArn": *r.ClusterArn, "serviceArn": *r.ServiceArn, "serviceDeploymentArn": *r.ServiceDeploymentArn,
		"ecsModuleDeploymentId": tagOf(r.Tags, "slipway:deployment"), "deployedTaskDefinition": TaskDefinition(r, k.Artifact),
	}
	if states := States(r); len(states) > 0 {
		d["preDeployEnabled"], d["postDeployEnabled"] = hooks(r)
		d["serviceDeploymentState"] = states[len(states)-1]
	}

	if listeners := listeners(r, k); len(listeners) > 0 {
		d["elbListenerState"] = listeners
	}

	if p := r.Accepted; p != nil {
		d["acceptedPauseControl"] = Data{
			"acceptedAt": exactly(p.Accepted), "hookId": p.HookID, "eventStartedAt": exactly(p.Began), "lifecycleStage": p.Stage,
		}
	}

	if r.Rollback != nil {
		d["revertRequestedAt"], d["revertExternalDeploymentId"], d["revertServiceDeploymentArn"] = exactly(
			*r.Rollback.StartedAt,
		), r.BackToExternalID, r.BackToArn
	}

	return normal(d)
}

// Outside returns the whole record of a service deployment that somebody has started outside, by its events. It was
// successful.
func Outside(r *fake.Record) Data {
	last := r.Events[len(r.Events)-1]
	return normal(Data{ // the cluster is in events of hooks alone, which there are none of
		"type": "aws:ecs", "detectedVia": "eventbridge", "serviceArn": *r.ServiceArn, "events": Sent(r.Events),
		"serviceDeploymentState": Data{"status": r.Status, "statusReason": last.Detail["reason"], "observedAt": last.Time},
	})
}

// TaskDefinition returns the task definition that a service deployment brings: what the artifact says of it, and the
// rest as it was registered.
func TaskDefinition(r *fake.Record, artifact Data) Data {
	var definition Data
	if err := json.Unmarshal(r.Definition.Request, &definition); err != nil {
		panic(err) // the account has taken it
	}
	delete(definition, "tags")
	for _, c := range definition["containerDefinitions"].([]any) {
		if container := c.(Data); container["cpu"] == nil {
			container["cpu"] = 0 // as AWS shows it
		}
	}
	d := Data{"arn": *r.Definition.TaskDefinitionArn, "revision": r.Definition.Revision, "definition": definition}
	for name, value := range artifact {
		d[name] = value
	}
	return normal(d)
}

// stages are those at which something may come before production traffic shifts, and then.
var stagesBefore = []types.DeploymentLifecycleHookStage{
	"RECONCILE_SERVICE", "PRE_SCALE_UP", "POST_SCALE_UP", "TEST_TRAFFIC_SHIFT", "POST_TEST_TRAFFIC_SHIFT",
	"PRE_PRODUCTION_TRAFFIC_SHIFT",
}

func hooks(r *fake.Record) (before, after bool) {
	for _, h := range r.DeploymentConfiguration.LifecycleHooks {
		for _, stage := range h.LifecycleStages {
			isBefore := slices.Contains(stagesBefore, stage)
			before, after = before || isBefore, after || !isBefore
		}
	}
	return before, after
}

// States returns the states of a service deployment that were to be seen, each as it was first seen.
func States(r *fake.Record) (states []Data) {
	var last Data
	for _, l := range r.Looks {
		now := state(&l)
		if last != nil && reflect.DeepEqual(now, last) {
			continue
		}
		last = now
		seen := Data{"observedAt": wholeSecond(l.At)}
		for name, value := range now {
			seen[name] = value
		}
		states = append(states, seen)
	}
	return states
}

func state(l *fake.Look) Data {
	ended := []types.ServiceDeploymentStatus{"SUCCESSFUL", "STOPPED", "ROLLBACK_SUCCESSFUL", "ROLLBACK_FAILED"}
	s := Data{
		"serviceDeploymentArn": *l.ServiceDeploymentArn, "status": l.Status, "strategy": l.DeploymentConfiguration.Strategy,
		"targetServiceRevision": revision(l.TargetServiceRevision),
	}
	if l.LifecycleStage != "" {
		s["lifecycleStage"] = l.LifecycleStage
	}
	if l.StatusReason != nil {
		s["statusReason"] = *l.StatusReason
	}

	sources, standby := []any{}, false
	for i := range l.SourceServiceRevisions {
		sources = append(sources, revision(&l.SourceServiceRevisions[i]))
		standby = standby || l.SourceServiceRevisions[i].RunningTaskCount > 0
	}

	s["sourceServiceRevisions"] = sources
	s["acceptsNativeStandbyRevert"] = standby && !slices.Contains(ended, l.Status) &&
		l.DeploymentConfiguration.Strategy != "ROLLING"
	return normal(s)
}

func revision(r *types.ServiceRevisionSummary) Data {
	d := Data{
		"pendingTaskCount": r.PendingTaskCount, "requestedTaskCount": r.RequestedTaskCount,
		"runningTaskCount":   r.RunningTaskCount,
		"serviceRevisionArn": *r.Arn,
	}
	if w := r.RequestedProductionTrafficWeight; w != nil {
		d["requestedProductionTrafficWeight"] = math.Round(*w)
	}
	if w := r.RequestedTestTrafficWeight; w != nil {
		d["requestedTestTrafficWeight"] = math.Round(*w)
	}
	return d
}

// listeners returns what the load balancers of the service did before the service deployment, and after it if it has
// ended.
func listeners(r *fake.Record, k Known) (states []any) {
	var groups []string
	for _, b := range r.LoadBalancers {
		groups = append(groups, aws.ToString(b.TargetGroupArn))
		if b.AdvancedConfiguration != nil {
			groups = append(groups, aws.ToString(b.AdvancedConfiguration.AlternateTargetGroupArn))
		}
	}

	before := slices.Clone(k.CapturedAt)
	before = slices.DeleteFunc(before, func(at time.Time) bool { return at.After(*r.CreatedAt) })
	after := slices.IndexFunc(
		k.CapturedAt, func(at time.Time) bool { return r.FinishedAt != nil && !at.Before(*r.FinishedAt) },
	)
	if len(before) > 0 {
		states = append(states, captured(before[len(before)-1], r.Before, groups)...)
	}
	if after >= 0 {
		states = append(states, captured(k.CapturedAt[after], r.After, groups)...)
	}

	return states
}

func captured(at time.Time, routes []fake.Route, groups []string) (states []any) {
	for _, balancer := range []string{fake.LoadBalancer, fake.NetworkLoadBalancer} {
		rules, dnsName := []any{}, ""
		for _, route := range routes {
			if route.LoadBalancer != balancer {
				continue
			}
			dnsName = route.DNSName
			for _, w := range route.Groups {
				if w.Weight > 0 && slices.Contains(groups, w.TargetGroup) {
					rules = append(rules, rule(&route, w.TargetGroup))
				}
			}
		}

		if len(rules) > 0 {
			states = append(
				states,
				Data{"capturedAt": wholeSecond(at), "loadBalancerArn": balancer, "loadBalancerDnsName": dnsName, "rules": rules},
			)
		}
	}

	return states
}

func rule(route *fake.Route, group string) Data {
	d := Data{
		"isDefaultRule": route.IsDefault, "listenerArn": route.Listener, "port": route.Port, "protocol": route.Protocol,
		"targetGroupArn": group, "targetGroupName": strings.Split(group, "/")[1],
	}
	if route.Rule != "" {
		d["ruleArn"] = route.Rule
	}
	if !route.IsDefault {
		d["rulePriority"], d["hostHeaders"], d["pathPatterns"] = route.Priority, route.Hosts, route.Paths
	}
	return d
}

func tagOf(tags []types.Tag, key string) string {
	for _, t := range tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}

func exactly(at time.Time) string { return at.Format(time.RFC3339Nano) }

// wholeSecond returns when something was seen, which AWS tells in whole seconds: the end of that second.
func wholeSecond(at time.Time) string {
	return at.Truncate(time.Second).Format("2006-01-02T15:04:05") + ".999Z"
}

// normal returns a record as a decoder of JSON has it.
func normal(d Data) (n Data) {
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		panic(err) // texts and numbers can be encoded
	}
	return n
}

// Difference returns the fields in which a record is not as it is to be, a line each.
func Difference(got, want any, at string) (lines []string) {
	g, gotObject := got.(Data)
	w, wantObject := want.(Data)
	if gotObject && wantObject {
		names := map[string]bool{}
		for name := range g {
			names[name] = true
		}
		for name := range w {
			names[name] = true
		}
		for name := range names {
			lines = append(lines, Difference(g[name], w[name], at+"/"+name)...)
		}
		slices.Sort(lines)
		return lines
	}

	gs, gotList := got.([]any)
	ws, wantList := want.([]any)
	if gotList && wantList && len(gs) == len(ws) {
		for i := range gs {
			lines = append(lines, Difference(gs[i], ws[i], fmt.Sprintf("%s/%d", at, i))...)
		}
		return lines
	}

	if !reflect.DeepEqual(got, want) {
		lines = append(lines, fmt.Sprintf("%s is %v, and in truth %v", at, got, want))
	}
	return lines
}
