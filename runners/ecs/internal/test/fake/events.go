package fake

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// The names of the events.
const (
	inProgress       = "SERVICE_DEPLOYMENT_IN_PROGRESS"
	completed        = "SERVICE_DEPLOYMENT_COMPLETED"
	failed           = "SERVICE_DEPLOYMENT_FAILED"
	hookAwaitsAction = "HOOK_AWAITING_ACTION"
	hookSucceeded    = "HOOK_SUCCEEDED"
	hookFailed       = "HOOK_FAILED"
)

// Event is an event as EventBridge delivers it.
type Event struct {
	Version    string         `json:"version"`
	ID         string         `json:"id"`
	DetailType string         `json:"detail-type"`
	Source     string         `json:"source"`
	Account    string         `json:"account"`
	Time       string         `json:"time"`
	Region     string         `json:"region"`
	Resources  []string       `json:"resources"`
	Detail     map[string]any `json:"detail"`
}

// Events returns what ECS has sent, in the order in which it happened.
func (c *Cloud) Events() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Event(nil), c.events...)
}

// send sends an event of a service deployment, of what happened now.
func (d *deployment) send(now time.Time, detailType string, resource string, detail map[string]any) {
	c := d.service.cloud
	detail["updatedAt"] = now.Format(time.RFC3339Nano)
	e := Event{
		Version: "0", ID: fmt.Sprintf("fake-event-%d-%d", now.UnixNano(), c.next()), DetailType: detailType,
		Source:  "aws.ecs",
		Account: Account, Region: Region, Time: now.Truncate(time.Second).Format(time.RFC3339),
		Resources: []string{resource}, Detail: detail,
	}
	c.events, d.events = append(c.events, e), append(d.events, e)
}

// event sends an event of the service deployment by what events call it, or the deployment by which it is rolled back.
func (d *deployment) event(id, name, reason string) {
	kind := "INFO"
	if name == failed {
		kind = "ERROR"
	}
	d.send(d.service.cloud.Clock.Now(), "ECS Deployment State Change", deref(d.ServiceArn),
		map[string]any{"eventType": kind, "eventName": name, "deploymentId": id, "reason": reason})
}

func (d *deployment) hookEvent(now time.Time, name string, h types.DeploymentLifecycleHookDetail) {
	detail := map[string]any{
		"eventType": "INFO", "eventName": name, "hookId": deref(h.HookId), "hookType": string(h.TargetType),
		"lifecycleStage": string(d.LifecycleStage), "clusterArn": Cluster, "serviceArn": deref(d.ServiceArn),
		"serviceDeploymentArn": deref(d.ServiceDeploymentArn),
	}
	if h.ExpiresAt != nil {
		detail["expiresAt"] = h.ExpiresAt.Format(time.RFC3339)
	}
	d.send(now, "ECS Hook State Change", deref(d.ServiceDeploymentArn), detail)
}
