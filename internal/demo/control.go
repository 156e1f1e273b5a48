package demo

import (
	"context"
	"fmt"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/rule"
)

// ruleFile is a rule of an environment, whose place is project/environment. It demands as many approvals, or that what
// is deployed was live in other environments for some minutes.
type ruleFile struct {
	Name, Place string
	// Operations are nil for the default of the demand.
	Operations []gate.Operation
	Approvals  int32
	LiveIn     []string
	Minutes    int32
}

// promotionFile is a promotion of what is live in one service to another.
type promotionFile struct{ From, To string }

// control makes the rules, once all is deployed that they would have held up, and then what waits for approvals.
func (d *demo) control(ctx context.Context) error {
	for _, r := range d.RuleFiles {
		d.clock.pass(time.Minute)
		in := rule.New{Name: r.Name, EnvironmentID: new(d.environments[r.Place]), Operations: r.Operations, Overridable: true}
		if r.Approvals > 0 {
			in.Demand.Kind = &gate.Approvals{Count: r.Approvals, Role: actor.Developer}
		}

		if r.LiveIn != nil {
			liveIn := &gate.LiveIn{Minutes: r.Minutes}
			for _, place := range r.LiveIn {
				liveIn.EnvironmentIDs = append(liveIn.EnvironmentIDs, d.environments[place])
			}
			in.Demand.Kind = liveIn
		}

		if _, _, err := d.Rules.Create(d.as(ctx, admin), in); err != nil {
			return fmt.Errorf("demo: the rule %s: %w", r.Name, err)
		}
	}

	for _, p := range d.Promotions {
		d.clock.pass(time.Minute)
		from, to := d.serviceAt(p.From), d.serviceAt(p.To)
		made, _, err := d.Deploy.Propose.Promote(d.as(ctx, pipeline), propose.Promotion{
			SourceID: from.succeeded[len(from.succeeded)-1], InstanceID: to.instanceID,
			Request: admission.Request{Reason: new("It has been live in staging for days.")},
		})
		if err != nil {
			return fmt.Errorf("demo: the promotion to %s: %w", p.To, err)
		}
		d.deployments++
		to.last = made.ID
	}

	d.result.AwaitingDeploymentID = d.serviceAt(d.Shown.Awaiting).last
	return nil
}
