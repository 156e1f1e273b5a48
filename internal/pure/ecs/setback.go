package ecs

import (
	"strings"
	"time"
)

// Setback is that the cloud has rolled a deployment back, stopped it or let it fail, whatever its program says.
type Setback struct {
	// Status is that of the service deployment, and Reason why it has it, "" if the cloud gave none.
	Status string `json:"status"`
	Reason string `json:"reason,omitzero"`
	// At is when that was so.
	At time.Time `json:"at"`
	// ServiceDeploymentARN is the service deployment that it is of, "" if that is not known.
	ServiceDeploymentARN string `json:"serviceDeploymentArn,omitzero"`
}

// IsSetback reports whether a service deployment of a status has been rolled back, or is about to be, was stopped, or
// has failed.
func IsSetback(status string) bool {
	return status == "STOPPED" || status == "FAILED" || strings.HasPrefix(status, "ROLLBACK_")
}

// WentBack reports whether the cloud has gone back to what was live before, or is about to.
func (s *Setback) WentBack() bool {
	return s != nil && strings.HasPrefix(s.Status, "ROLLBACK_") && s.Status != "ROLLBACK_FAILED"
}

// Setbacks are what speaks against a deployment, by who said it: its runner, and the events of the cloud, which may
// take theirs back.
type Setbacks struct {
	Reported *Setback `json:"reported,omitzero"`
	Observed *Setback `json:"observed,omitzero"`
}

// Last returns what the cloud itself says, or else the runner, nil if nobody says anything.
func (s *Setbacks) Last() *Setback {
	switch {
	case s == nil:
		return nil
	case s.Observed != nil:
		return s.Observed
	}
	return s.Reported
}

// AfterReport returns the setbacks once a runner has reported a state of the service deployment, which may be nil, at a
// time. own is the service deployment that the deployment has, "" if that is not known. A setback stays, whatever is
// reported later, unless it was of another service deployment: a program may try again.
func (s *Setbacks) AfterReport(state *ServiceDeploymentState, own string, at time.Time) *Setbacks {
	if state == nil {
		state = &ServiceDeploymentState{}
	}
	after := Setbacks{}
	if s != nil {
		after = *s
	}

	arn := text(state.ServiceDeploymentARN)
	if status := text(state.Status); IsSetback(status) {
		if observed, err := time.Parse(time.RFC3339, text(state.ObservedAt)); err == nil {
			at = observed.UTC()
		}
		after.Reported = &Setback{
			Status: status, Reason: Shorten(text(state.StatusReason)), At: at, ServiceDeploymentARN: arn,
		}
	} else if own == "" {
		own = arn
	}

	if r := after.Reported; r != nil && r.ServiceDeploymentARN != "" && own != "" && own != r.ServiceDeploymentARN {
		after.Reported = nil
	}
	return after.orNil()
}

// WithObserved returns the setbacks with what the events of the cloud say now, nil for nothing.
func (s *Setbacks) WithObserved(observed *Setback) *Setbacks {
	after := Setbacks{Observed: observed}
	if s != nil {
		after.Reported = s.Reported
	}
	return after.orNil()
}

func (s Setbacks) orNil() *Setbacks {
	if s.Last() == nil {
		return nil
	}
	return &s
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// maxReason is how many bytes of a reason are kept, so that as many events as a deployment may have fit into it.
const maxReason = 800

// Shorten returns a reason that is kept of the cloud's.
func Shorten(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:maxReason], "") + "…"
}
