package deployment

import (
	"time"

	"slipway/internal/dependency"
	"slipway/internal/fault"
)

// standing is what others may have changed since something was given to be shipped. A creation, a replay, a destroy, a start
// and the eligibilities that offer them fill in what they have read of it, and are refused for the same in the same order.
type standing struct {
	instanceID string
	archivedAt *time.Time

	// prove returns why the content of the release cannot be had; nil if it was just sealed.
	prove func() error
	// known is what speaks against the release that is shipped.
	known reputation
	// promotedFrom is what a promotion is made of, "" for none, and promoted what speaks against that.
	promotedFrom string
	promoted     reputation

	// serviceARN is the service that it names, and ownerID the instance that this belongs to; nil if that is not known.
	serviceARN, ownerID *string
	// choices are what is wrong with the instances that its inputs choose.
	choices []fault.Violation
	// dependents refer to an instance that is to be destroyed, unless the caller has acknowledged them.
	dependents []string
}

// refusal returns why it cannot be shipped at a time, whatever the rules say, nil if it can.
func (st standing) refusal(m replayMode, at time.Time) error {
	if err := checkNotArchived(st.instanceID, st.archivedAt); err != nil {
		return err
	}
	if st.prove != nil {
		if err := st.prove(); err != nil {
			return err
		}
	}

	if st.promotedFrom != "" {
		if err := st.promoted.checkPromoted(st.promotedFrom, at); err != nil {
			return err
		}
	}
	if !m.shipsQuarantined {
		if err := st.known.checkQuarantine(at); err != nil {
			return err
		}
	}

	if st.ownerID != nil && *st.ownerID != st.instanceID {
		return resourceTaken(*st.serviceARN, *st.ownerID)
	}
	if len(st.choices) > 0 {
		return fault.Invalid(fault.DeploymentInputsInvalid, st.choices...)
	}
	return dependency.Refusal(st.instanceID, st.dependents)
}

// standing returns what was read with a source that is to be shipped again; prove returns why its content cannot be had.
func (s *source) standing(prove func() error) standing {
	return standing{
		instanceID: s.ModuleInstanceID, archivedAt: s.ArchivedAt, prove: prove, known: s.reputation,
		serviceARN: s.ServiceARN, ownerID: s.ServiceOwnerID,
	}
}
