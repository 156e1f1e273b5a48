package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"slipway/internal/store"
)

// move is one deployment of a service: how it was started and how it ended.
type move struct {
	start starter
	end   ending
}

// scripts returns the history of each service, by its place. The services take turns.
func scripts() map[string][]move {
	var (
		shipped    = move{ship, succeeded}
		noImage    = move{ship, imageMissing}
		crashed    = move{ship, circuitBroken}
		sick       = move{ship, unhealthy}
		alarmed    = move{ship, alarmRaised}
		canceled   = move{ship, stopped}
		rolledBack = move{rollback, succeeded}
		again      = move{redeploy, succeeded}
		failsAgain = move{redeploy, circuitBroken}
	)
	return map[string][]move{
		"storefront/production/web":          {shipped, shipped, shipped, noImage, again, shipped, alarmed, shipped, rolledBack, shipped},
		"storefront/production/catalog":      {shipped, shipped, crashed, failsAgain, shipped, rolledBack, shipped, canceled, shipped, sick},
		"storefront/production/order-worker": {shipped, shipped, crashed, shipped, rolledBack, shipped, again, shipped, shipped},
		"storefront/staging/web":             {shipped, sick, shipped, shipped, canceled, again, shipped, rolledBack, shipped},
		"storefront/staging/catalog":         {shipped, noImage, again, shipped, shipped, alarmed, shipped, shipped, shipped},
		"storefront/development/web":         {shipped, crashed, shipped, noImage, again, shipped, canceled, shipped, shipped},
		placeToFollow:                        {shipped, shipped, rolledBack, shipped},
		"payments/staging/ledger":            {shipped, shipped, sick, shipped, shipped, rolledBack, crashed, again, shipped},
		"payments/production/ledger":         {shipped, shipped, shipped, alarmed, shipped, rolledBack, shipped, shipped, shipped},
	}
}

// The services that the result shows: one whose live deployment can be rolled back, one whose last deployment failed,
// one whose deployment goes on for as long as the demo runs, and one that an example lets fail.
const (
	placeToShow   = "storefront/production/web"
	placeInFlames = "storefront/production/catalog"
	placeToFollow = "storefront/production/recommendations"
	placeToBreak  = "payments/staging/ledger"
)

// underway is what goes on right now. The runner claims the oldest that waits, so those that go on
// waiting come last.
var underway = []struct {
	place string
	move  move
}{
	{placeToFollow, move{ship, baking}},
	{"payments/production/ledger", move{ship, midShift}},
	{"storefront/staging/web", move{ship, scalingUp}},
	{"storefront/production/order-worker", move{ship, waiting}},
	{"storefront/staging/catalog", move{rollback, waiting}},
}

// lately is how long ago the deployments that are under way began.
const lately = 30 * time.Minute

// mostDelay is how much later than planned a deployment may begin, in seconds; less than what lies between
// two of them.
const mostDelay = 4 * 60 * 60

// history plays the scripts, spread over the time up to lately, and then what is under way.
func (d *demo) history(ctx context.Context) error {
	scripts, rounds, total := scripts(), 0, 0
	for _, moves := range scripts {
		rounds, total = max(rounds, len(moves)), total+len(moves)
	}
	end := store.Now().Add(-lately)
	begin, played := d.clock.Now(), 0
	for round := range rounds {
		for _, s := range d.services {
			moves := scripts[s.place]
			if round >= len(moves) {
				continue
			}
			d.clock.reach(begin.Add(end.Sub(begin) * time.Duration(played) / time.Duration(total)))
			d.clock.pass(d.between(0, mostDelay))
			if err := d.play(ctx, s, moves[round]); err != nil {
				return err
			}
			played++
		}
	}
	d.clock.reach(end)
	for _, u := range underway {
		if err := d.play(ctx, d.serviceAt(u.place), u.move); err != nil {
			return err
		}
	}
	shown := d.serviceAt(placeToShow)
	d.result.LiveDeploymentID = shown.last
	d.result.RollbackTargetID = shown.succeeded[len(shown.succeeded)-2]
	d.result.FailedDeploymentID = d.serviceAt(placeInFlames).last
	d.result.FollowedDeploymentID = d.serviceAt(placeToFollow).last
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
