package admission

import (
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/service/dependency"
	"slipway/internal/service/deployment/cloudevents"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
)

// Standing is what others may have changed since something was given to be shipped. A creation, a replay, a destroy, a
// start and the eligibilities that offer them fill in what they have read of it, and are refused for the same in the
// same order.
type Standing struct {
	InstanceID string
	ArchivedAt *time.Time

	// prove returns why the content of the release cannot be had; nil if it was just sealed.
	prove func() error
	// Known is what speaks against the release that is shipped.
	Known releases.Reputation
	// PromotedFrom is what a promotion is made of, "" for none, and promoted what speaks against that.
	PromotedFrom string
	Promoted     releases.Reputation

	// serviceARN is the service that it names, and ownerID the instance that this belongs to; nil if that is not known.
	serviceARN, ownerID *string
	// Choices are what is wrong with the instances that its inputs choose.
	Choices []fault.Violation
	// Dependents refer to an instance that is to be destroyed, unless the caller has acknowledged them.
	Dependents []string
}

// Refusal returns why it cannot be shipped at a time, whatever the rules say, nil if it can.
func (st Standing) Refusal(m Mode, at time.Time) error {
	if err := state.CheckNotArchived(st.InstanceID, st.ArchivedAt); err != nil {
		return err
	}
	if st.prove != nil {
		if err := st.prove(); err != nil {
			return err
		}
	}

	if st.PromotedFrom != "" {
		if err := st.Promoted.CheckPromoted(st.PromotedFrom, at); err != nil {
			return err
		}
	}
	if !m.shipsQuarantined {
		if err := st.Known.CheckQuarantine(at); err != nil {
			return err
		}
	}

	if st.ownerID != nil && *st.ownerID != st.InstanceID {
		return cloudevents.ResourceTaken(*st.serviceARN, *st.ownerID)
	}
	if len(st.Choices) > 0 {
		return fault.Invalid(fault.DeploymentInputsInvalid, st.Choices...)
	}
	return dependency.Refusal(st.InstanceID, st.Dependents)
}

// Standing returns what was read with a source that is to be shipped again; prove returns why its content cannot be
// had.
func (s *Source) Standing(prove func() error) Standing {
	return Standing{
		InstanceID: s.ModuleInstanceID, ArchivedAt: s.ArchivedAt, prove: prove, Known: s.reputation,
		serviceARN: s.ServiceARN, ownerID: s.ServiceOwnerID,
	}
}
