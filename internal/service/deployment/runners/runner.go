package runners

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/token"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

const (
	// KnownFor is for how long it is known that a runner has asked for work.
	KnownFor = 10 * time.Minute
	// idleFor is for how long a runner that has a deployment counts as idle after it asked for another.
	idleFor = time.Minute
	// countedTogether is how many deployments that are only counted are one unit of work.
	countedTogether = 5
)

// Runner is a token that claims deployments.
type Runner struct {
	token *ent.Token
	// DeploymentTypes and Actions are what it last asked for; for one of which that is not known, those of what it runs.
	DeploymentTypes []string
	Actions         []state.Action
	// AskedAt is when it last asked, nil if that is not known.
	AskedAt *time.Time
	// Running is how many deployments it runs.
	Running int32
	// asked are the times at which it last asked, by what it can run; the zero time if that is not known.
	asked map[Ability]time.Time
}

// Actor returns the token as who runs deployments.
func (r *Runner) Actor() *actor.Ref { return &actor.Ref{Name: r.token.Name, TokenID: &r.token.ID} }

// Name returns the name of the token.
func (r *Runner) Name() string { return r.token.Name }

// Scope returns where it may run deployments, nil for the whole organization.
func (r *Runner) Scope() *actor.Scope { return r.token.Scope }

// Can reports whether the runner asks for work of an ability.
func (r *Runner) Can(run Ability) bool {
	_, can := r.asked[run]
	return can
}

// MayRunIn reports whether the token may run deployments in a place at a time.
func (r *Runner) MayRunIn(in actor.Place, at time.Time) bool {
	if !isValid(r.token, at) {
		return false
	}
	by := &actor.Actor{ID: r.token.ID, Name: r.token.Name, Role: r.token.Role, Scope: r.token.Scope}
	return access.CheckIn(by, access.RunDeployments, in, fault.DeploymentForbidden) == nil
}

// IsBusy reports whether at a time the runner has a deployment, and has not asked for more of an ability for a minute.
func (r *Runner) IsBusy(run Ability, at time.Time) bool {
	return r.Running > 0 && at.Sub(r.asked[run]) > idleFor
}

func isValid(t *ent.Token, at time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || at.Before(*t.ExpiresAt))
}

// Known returns the runners of the actor's organization at a time by the clock of leases: the valid tokens that have
// asked for work within ten minutes, and those that run a deployment; those with the newest tokens first. Each ask is
// work of the context's request, and so are the deployments that they run. It takes four statements at most.
func (s *Service) Known(ctx context.Context, at time.Time) ([]*Runner, error) {
	of, err := s.running(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.addAsks(ctx, of, at); err != nil || len(of) == 0 {
		return nil, err
	}

	tokens, err := s.Store.Client.Token.Query().
		Where(token.IDIn(slices.Collect(maps.Keys(of))...), token.OrganizationID(store.Scope(actor.From(ctx)))).All(ctx)
	if err != nil {
		return nil, err
	}

	var known []*Runner
	for _, t := range tokens {
		r := of[t.ID]
		if r.token = t; r.Running > 0 || isValid(t, at) {
			r.summarize()
			known = append(known, r)
		}
	}
	slices.SortFunc(known, func(a, b *Runner) int {
		return cmp.Or(b.token.CreatedAt.Compare(a.token.CreatedAt), cmp.Compare(b.token.ID, a.token.ID))
	})
	return known, nil
}

// runningText counts the deployments that runners run.
const runningText = `SELECT "runner_actor", "deployment_type", "trigger_source", COUNT(*)
FROM "deployments" WHERE "organization_id" = $1 AND "status" = 'RUNNING' AND "runner_actor" IS NOT NULL
GROUP BY "runner_actor", "deployment_type", "trigger_source"`

// running returns the runners that run deployments, by the ids of their tokens, with what those are.
func (s *Service) running(ctx context.Context) (map[string]*Runner, error) {
	of := map[string]*Runner{}
	args := []any{store.Scope(actor.From(ctx))}
	err := s.Store.Query(ctx, runningText, args, func(row store.Rows) error {
		var tokenID, deploymentType, trigger string
		var n int
		if err := row.Scan(&tokenID, &deploymentType, &trigger, &n); err != nil {
			return err
		}
		r := of[tokenID]
		if r == nil {
			r = &Runner{asked: map[Ability]time.Time{}}
			of[tokenID] = r
		}
		r.Running += int32(n)
		r.asked[Ability{deploymentType, state.ActionOf(trigger)}] = time.Time{}
		return meter.Spend(ctx, meter.Counted, (n+countedTogether-1)/countedTogether)
	})
	return of, err
}

// The statements that read asks: the recent ones, and the earlier ones of some tokens.
const (
	asksText   = `SELECT "token_id", "deployment_type", "action", "asked_at" FROM "runner_asks" WHERE `
	recentText = asksText + `"organization_id" = $1 AND "asked_at" >= $2`
)

var earlierTexts = map[bool]string{false: newEarlierText(false), true: newEarlierText(true)}

func newEarlierText(postgres bool) string {
	return asksText + store.Among(`"token_id"`, `"organization_id"`, postgres) + ` AND "asked_at" < $3`
}

// addAsks adds to those who run deployments what they have asked for, and those who run none and have asked lately.
func (s *Service) addAsks(ctx context.Context, of map[string]*Runner, at time.Time) error {
	last, since, scope := asked{}, at.Add(-KnownFor).UTC(), store.Scope(actor.From(ctx))
	if err := last.read(ctx, s.Store.Query, recentText, scope, since); err != nil {
		return err
	}
	if len(of) > 0 {
		running := s.Store.List(slices.Sorted(maps.Keys(of)))
		err := last.read(ctx, s.Store.Query, earlierTexts[s.Store.Postgres()], running, scope, since)
		if err != nil {
			return err
		}
	}

	for tokenID, times := range last {
		if of[tokenID] == nil {
			of[tokenID] = &Runner{}
		}
		of[tokenID].asked = newest(times)
	}
	return nil
}

// asked are the times at which tokens last asked, by what they can run.
type asked map[string]map[Ability]time.Time

// read adds the asks that a statement reads. Each is work of the context's request.
func (last asked) read(ctx context.Context, query store.Reader, text string, args ...any) error {
	return query(ctx, text, args, func(row store.Rows) error {
		var tokenID string
		var run Ability
		var at time.Time
		if err := row.Scan(&tokenID, &run.DeploymentType, &run.Action, &at); err != nil {
			return err
		}
		if last[tokenID] == nil {
			last[tokenID] = map[Ability]time.Time{}
		}
		last[tokenID][run] = at.UTC()
		return meter.Spend(ctx, meter.Searched, 1)
	})
}

// newest returns what was asked for within ten minutes of the last ask: a program may be able to do less than before.
func newest(asked map[Ability]time.Time) map[Ability]time.Time {
	last := slices.MaxFunc(slices.Collect(maps.Values(asked)), time.Time.Compare)
	maps.DeleteFunc(asked, func(_ Ability, at time.Time) bool { return last.Sub(at) > KnownFor })
	return asked
}

// summarize sets what a runner shows of its asks.
func (r *Runner) summarize() {
	for run, at := range r.asked {
		r.DeploymentTypes, r.Actions = append(r.DeploymentTypes, run.DeploymentType), append(r.Actions, run.Action)
		if !at.IsZero() && (r.AskedAt == nil || at.After(*r.AskedAt)) {
			r.AskedAt = &at
		}
	}
	slices.Sort(r.DeploymentTypes)
	slices.Sort(r.Actions)
	r.DeploymentTypes, r.Actions = slices.Compact(r.DeploymentTypes), slices.Compact(r.Actions)
}
