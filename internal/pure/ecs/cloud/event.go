// Package cloud has the events that the cloud's container service sends of its services, as an event bus
// delivers them: more than once, in any order, and with more in them than is known here.
//
// Decode reads one, strictly in what is used and tolerant of the rest. Observe says what all events of one deployment
// say of it together. It looks at a set of events, sorted by the times that the cloud gave them, so it does not matter
// in which order they came. Apply then carries the difference between two such observations into the data of the
// deployment, and leaves alone what its runner has reported.
package cloud

import (
	"cmp"
	"fmt"
	"regexp"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/ecs"
)

// Kind is the detail-type of an event.
type Kind string

// The kinds that are taken.
const (
	// DeploymentStateChange is of a deployment of the service, which has an id.
	DeploymentStateChange Kind = "ECS Deployment State Change"
	// ServiceAction is of the service; which deployment it is about is known by its time alone.
	ServiceAction Kind = "ECS Service Action"
	// HookStateChange is of a lifecycle hook, or of a pause, of a service deployment.
	HookStateChange Kind = "ECS Hook State Change"
)

// The names of events that change what is known of a deployment. Others are among its events, and no more.
const (
	DeploymentInProgress = "SERVICE_DEPLOYMENT_IN_PROGRESS"
	DeploymentCompleted  = "SERVICE_DEPLOYMENT_COMPLETED"
	DeploymentFailed     = "SERVICE_DEPLOYMENT_FAILED"
	HookAwaitingAction   = "HOOK_AWAITING_ACTION"
	HookSucceeded        = "HOOK_SUCCEEDED"
	HookFailed           = "HOOK_FAILED"
)

// Event is one event. What is empty is not known.
type Event struct {
	// ID is the same each time that the event is delivered.
	ID   string    `json:"id"`
	Kind Kind      `json:"kind"`
	Time time.Time `json:"time"`
	// ChangedAt is when what it is about changed. The cloud gives it more exactly than the Time.
	ChangedAt  time.Time `json:"changedAt,omitzero"`
	ServiceARN string    `json:"serviceArn"`
	ClusterARN string    `json:"clusterArn,omitzero"`
	// Name says what happened, such as SERVICE_DEPLOYMENT_COMPLETED.
	Name   string `json:"name"`
	Reason string `json:"reason,omitzero"`
	// DeploymentID is that of the service's deployment, such as ecs-svc/1234567890.
	DeploymentID         string `json:"deploymentId,omitzero"`
	ServiceDeploymentARN string `json:"serviceDeploymentArn,omitzero"`
	HookID               string `json:"hookId,omitzero"`
	HookType             string `json:"hookType,omitzero"`
	LifecycleStage       string `json:"lifecycleStage,omitzero"`
	// ExpiresAt is until when a hook waits, as it was sent.
	ExpiresAt    string `json:"expiresAt,omitzero"`
	DesiredCount *int32 `json:"desiredCount,omitzero"`
}

// Compare orders events by the cloud's times.
func (e Event) Compare(other Event) int {
	return cmp.Or(e.Time.Compare(other.Time), e.ChangedAt.Compare(other.ChangedAt), cmp.Compare(e.ID, other.ID))
}

// Subject returns the cloud's id of what the event is of: a deployment of the service, or for hooks a service
// deployment; "" for the service itself.
func (e Event) Subject() string {
	switch e.Kind {
	case DeploymentStateChange:
		return e.DeploymentID
	case HookStateChange:
		return e.ServiceDeploymentARN
	case ServiceAction:
	}
	return ""
}

// How old an event may be when it comes, and how far its clock may be ahead.
const (
	MaxAge   = 14 * 24 * time.Hour
	MaxAhead = time.Hour
)

// CheckTime returns what is wrong with the time of an event that comes now.
func (e Event) CheckTime(now time.Time) []fault.Violation {
	earliest, latest := now.Add(-MaxAge), now.Add(MaxAhead)
	if !e.Time.Before(earliest) && !e.Time.After(latest) {
		return nil
	}
	return []fault.Violation{{Pointer: "/time", Rule: "range", Message: fmt.Sprintf("must be between %s and %s, found %s",
		earliest.UTC().Format(time.RFC3339), latest.UTC().Format(time.RFC3339), e.Time.Format(time.RFC3339))}}
}

// Starts reports whether a deployment of the service has started. A deployment that rolls another back does not count.
func (e Event) Starts() bool {
	_, back := e.RollsBackTo()
	return e.isDeployment(DeploymentInProgress) && !back
}

// rollsBack is how the reason of an event begins to say that the cloud rolls a deployment back by itself: the circuit
// breaker or an alarm has found that it fails. No field says so.
var rollsBack = regexp.MustCompile(`(?i)\brolling back\b(?:.*\b(ecs-svc/[0-9A-Za-z_-]+))?`)

// RollsBackTo reports whether the cloud has started a deployment to roll another back by itself, and returns the id of
// the deployment that it goes back to, "" if the reason does not name it.
func (e Event) RollsBackTo() (target string, ok bool) {
	if !e.isDeployment(DeploymentInProgress) {
		return "", false
	}
	found := rollsBack.FindStringSubmatch(e.Reason)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// Ends reports whether the deployment of the event has completed or failed.
func (e Event) Ends() bool {
	return e.isDeployment(DeploymentCompleted) || e.isDeployment(DeploymentFailed)
}

func (e Event) isDeployment(name string) bool {
	return e.Kind == DeploymentStateChange && e.Name == name
}

// MaxServiceARN is how many bytes the ARN of a service may have.
const MaxServiceARN = 512

var serviceARN = regexp.MustCompile(`^arn:[a-z0-9-]+:ecs:[a-z0-9-]*:[0-9]*:service/[\x21-\x7e]+$`)

// IsServiceARN reports whether a text is the ARN of a service.
func IsServiceARN(text string) bool {
	return len(text) <= MaxServiceARN && serviceARN.MatchString(text)
}

// document is an event as it is delivered.
type document struct {
	ID         string   `json:"id" rules:"required,nonempty,max=128"`
	DetailType string   `json:"detail-type" rules:"required,enum=ECS Deployment State Change|ECS Service Action|ECS Hook State Change"` //nolint:lll // a tag cannot be broken
	Time       string   `json:"time" rules:"required,format=utc_time"`
	Resources  []string `json:"resources" rules:"nullable"`
	Detail     detail   `json:"detail" rules:"required"`
}

// detail has the details of all kinds.
type detail struct {
	EventName            string  `json:"eventName" rules:"required,nonempty,max=128"`
	ClusterARN           *string `json:"clusterArn" rules:"nullable,max=512"`
	ServiceARN           *string `json:"serviceArn" rules:"nullable"`
	Reason               *string `json:"reason" rules:"nullable"`
	DeploymentID         *string `json:"deploymentId" rules:"nullable,max=256"`
	ServiceDeploymentARN *string `json:"serviceDeploymentArn" rules:"nullable,max=512"`
	HookID               *string `json:"hookId" rules:"nullable,max=256"`
	HookType             *string `json:"hookType" rules:"nullable,max=128"`
	LifecycleStage       *string `json:"lifecycleStage" rules:"nullable,max=128"`
	ExpiresAt            *string `json:"expiresAt" rules:"nullable,format=utc_time"`
	CreatedAt            *string `json:"createdAt" rules:"nullable,format=utc_time"`
	UpdatedAt            *string `json:"updatedAt" rules:"nullable,format=utc_time"`
	DesiredCount         *int32  `json:"desiredCount" rules:"nullable"`
}

// Decode reads an event. What it does not use may be anything; what else is wrong is in the violations.
func Decode(n *strictjson.Node) (Event, []fault.Violation) {
	var doc document
	if violations := strictjson.DecodeOpen(n, &doc, ""); len(violations) > 0 {
		return Event{}, violations
	}

	d := doc.Detail
	e := Event{
		ID: doc.ID, Kind: Kind(doc.DetailType),
		Time: instant(&doc.Time), ChangedAt: instant(cmp.Or(d.UpdatedAt, d.CreatedAt)),
		ClusterARN: text(d.ClusterARN), Name: d.EventName, Reason: ecs.Shorten(text(d.Reason)),
		DeploymentID: text(d.DeploymentID), ServiceDeploymentARN: text(d.ServiceDeploymentARN),
		HookID: text(d.HookID), HookType: text(d.HookType), LifecycleStage: text(d.LifecycleStage),
		ExpiresAt: text(d.ExpiresAt), DesiredCount: d.DesiredCount,
	}

	var violations []fault.Violation
	e.ServiceARN, violations = doc.service()
	if e.Kind == DeploymentStateChange && e.DeploymentID == "" {
		violations = append(violations, fault.Violation{
			Pointer: "/detail/deploymentId", Rule: "required",
			Message: "is required in an " + string(DeploymentStateChange),
		})
	}
	if len(violations) > 0 {
		return Event{}, violations
	}

	return e, nil
}

// service returns the ARN of the service: events of hooks have it in their detail, others among their resources.
func (doc document) service() (string, []fault.Violation) {
	if arn := text(doc.Detail.ServiceARN); arn != "" {
		if !IsServiceARN(arn) {
			return "", []fault.Violation{{
				Pointer: "/detail/serviceArn", Rule: "pattern",
				Message: "must be the ARN of a service, found " + strictjson.Quote(arn),
			}}
		}
		return arn, nil
	}
	for _, arn := range doc.Resources {
		if IsServiceARN(arn) {
			return arn, nil
		}
	}
	return "", []fault.Violation{{
		Pointer: "/resources", Rule: "required",
		Message: "must have the ARN of a service, unless detail.serviceArn is one",
	}}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// instant returns the time of a text that has the form of one, in the database's precision.
func instant(s *string) time.Time {
	at, err := time.Parse(time.RFC3339, text(s))
	if err != nil {
		return time.Time{}
	}
	return at.UTC().Truncate(time.Microsecond)
}
