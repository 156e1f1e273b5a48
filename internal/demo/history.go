package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"slipway/internal/data/store"
)

// move is one deployment of a service: how it was started and how it ended.
type move struct {
	start starter
	end   ending
}

// moves are those that demo.json names.
var moves = map[string]move{
	"shipped":    {ship, succeeded},
	"noImage":    {ship, imageMissing},
	"crashed":    {ship, circuitBroken},
	"sick":       {ship, unhealthy},
	"alarmed":    {ship, alarmRaised},
	"canceled":   {ship, stopped},
	"rolledBack": {rollback, succeeded},
	"again":      {redeploy, succeeded},
	"failsAgain": {redeploy, circuitBroken},

	"bakes":         {ship, baking},
	"shifts":        {ship, midShift},
	"scalesUp":      {ship, scalingUp},
	"waits":         {ship, waiting},
	"rollbackWaits": {rollback, waiting},
}

// lately is how long ago the deployments that are under way began.
const lately = 30 * time.Minute

// mostDelay is how much later than planned a deployment may begin, in seconds; less than what lies between
// two of them.
const mostDelay = 4 * 60 * 60

// history plays the histories of the services, which take turns, spread over the time up to lately, and then what is
// under way. The runner claims the oldest that waits, so those that go on waiting come last there.
func (d *demo) history(ctx context.Context) error {
	rounds, total := 0, 0
	for _, s := range d.services {
		rounds, total = max(rounds, len(s.History)), total+len(s.History)
	}

	end := store.Now().Add(-lately)
	begin, played := d.clock.Now(), 0
	for round := range rounds {
		for _, s := range d.services {
			if round >= len(s.History) {
				continue
			}
			d.clock.reach(begin.Add(end.Sub(begin) * time.Duration(played) / time.Duration(total)))
			d.clock.pass(d.between(0, mostDelay))
			if err := d.play(ctx, s, moves[s.History[round]]); err != nil {
				return err
			}
			played++
		}
	}

	d.clock.reach(end)
	for _, u := range d.UnderWay {
		if err := d.play(ctx, d.serviceAt(u.Place), moves[u.Move]); err != nil {
			return err
		}
	}

	shown := d.serviceAt(d.Shown.Live)
	d.result.LiveDeploymentID = shown.last
	d.result.RollbackTargetID = shown.succeeded[len(shown.succeeded)-2]
	d.result.FailedDeploymentID = d.serviceAt(d.Shown.Failed).last
	d.result.FollowedDeploymentID = d.serviceAt(d.Shown.Followed).last

	return nil
}

func (d *demo) serviceAt(place string) *service {
	return d.services[slices.IndexFunc(d.services, func(s *service) bool { return s.place == place })]
}

// play starts a deployment, carries it out as far as it goes and remembers what came of it.
func (d *demo) play(ctx context.Context, s *service, m move) error {
	d.clock.pass(d.between(10, 90))
	deploymentID, err := m.start.run(d, ctx, s)
	if err != nil {
		return fmt.Errorf("demo: %s: %s: %w", s.place, m.start.name, err)
	}
	d.deployments++
	if m.end.waits {
		return nil
	}
	if err := d.rollOut(ctx, s, deploymentID, m.end); err != nil {
		return fmt.Errorf("demo: %s: %s of %s: %w", s.place, m.start.name, deploymentID, err)
	}
	if m.end.succeeds() {
		s.succeeded = m.start.settle(s, deploymentID)
	}
	s.last = deploymentID
	return nil
}
