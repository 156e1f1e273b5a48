package admission

import (
	"context"
	"errors"
	"slices"
	"time"

	entrelease "slipway/ent/release"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/data/record"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/release"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
)

// Eligibility is whether a mutation would be accepted now, and why not.
type Eligibility struct {
	Allowed bool
	// Refusal is the error that it would fail with, nil if it is allowed.
	Refusal *fault.Error
	// BlockedBy is the active deployment that stands in the way, or nil.
	BlockedBy *record.Deployment
	// Warnings are those of the mutation, allowed or not. Their pointers are into its input.
	Warnings []inputprop.Warning
}

// Eligibilities are those of one deployment.
type Eligibilities struct{ Rollback, Redeploy *Eligibility }

// Eligibilities returns, for each deployment of the ids that there is, whether the actor could roll back to it or
// redeploy it now. Rollback and Redeploy make the same check, so they do what this says, unless something
// has changed in between. It takes two statements however many ids there are, one more if some are blocked, and one for
// the rules if there are any.
func (s *Service) Eligibilities(ctx context.Context, ids []string) (map[string]Eligibilities, error) {
	list, err := s.ReadSources(ctx, s.Store.Query, ids)
	if err != nil {
		return nil, err
	}
	check, err := s.NewEligibilityCheck(ctx, list, Rollback)
	if err != nil {
		return nil, err
	}
	if err := check.readRules(ctx, list); err != nil {
		return nil, err
	}

	of := make(map[string]Eligibilities, len(list))
	for _, from := range list {
		var both Eligibilities
		if both.Rollback, err = check.of(ctx, Rollback, from); err != nil {
			return nil, err
		}
		if both.Redeploy, err = check.of(ctx, Redeploy, from); err != nil {
			return nil, err
		}
		of[from.ID] = both
	}

	return of, nil
}

// proofs returns, by its id, nil for each release of the sources that is what was stored, and otherwise why it is not.
// Each is read and proved once, and counted as work of the request. Those that the actor may not replay so are left
// out, because another rule refuses them first.
func (s *Service) proofs(ctx context.Context, list []*Source, m Mode) (map[string]error, error) {
	var ids []string
	for _, from := range list {
		if from.ReleaseID != nil && !slices.Contains(ids, *from.ReleaseID) && from.checkMay(actor.From(ctx), m) == nil {
			ids = append(ids, *from.ReleaseID)
		}
	}
	of := make(map[string]error, len(ids))
	shipped, err := record.Releases.In(s.Store).ByIDs(record.WithColumns(ctx, proofColumns), ids)
	for _, r := range shipped {
		if err := meter.Spend(ctx, meter.Proved, len(r.Content)); err != nil {
			return nil, err
		}
		of[r.ID] = releases.ExplainMismatch(r.ID, release.Prove(r.Digest, r.Content))
	}
	return of, err
}

// proofColumns are what a proof needs of a release.
var proofColumns = record.NewColumns(
	map[string][]string{entrelease.Table: {entrelease.FieldDigest, entrelease.FieldContent}},
)

// blockers returns the active deployments that stand in the way, by their ids.
func (s *Service) blockers(ctx context.Context, list []*Source) (map[string]*record.Deployment, error) {
	var ids []string
	for _, from := range list {
		if from.ActiveID != nil && !slices.Contains(ids, *from.ActiveID) {
			ids = append(ids, *from.ActiveID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	active, err := s.View.DeploymentsByID(ctx, ids)
	return record.ByKey(active, func(d *record.Deployment) string { return d.ID }), err
}

// EligibilityCheck is one look at many deployments: who asks, when, and what was read for all of them.
type EligibilityCheck struct {
	*Service
	actor *actor.Actor
	// at is the time by this server's clock, and shared by the one that rules go by.
	at, shared time.Time
	proofs     map[string]error
	blockers   map[string]*record.Deployment
	// rules are those in force where each source is, by its id.
	rules map[string][]gate.Rule
	// stays are how long what was promoted was live, if a rule asks for it.
	stays map[string]*gate.Stay
}

// NewEligibilityCheck reads what a look at some sources takes besides, but for the rules; m is one of the modes with
// its permission.
func (s *Service) NewEligibilityCheck(ctx context.Context, list []*Source, m Mode) (c EligibilityCheck, err error) {
	c = EligibilityCheck{Service: s, actor: actor.From(ctx), at: s.Journal.Now()}
	if c.proofs, err = s.proofs(ctx, list, m); err != nil {
		return c, err
	}
	c.blockers, err = s.blockers(ctx, list)
	return c, err
}

// readRules reads the rules that are in force where the sources are, and what they ask for. Without rules the clock is
// not asked.
func (c *EligibilityCheck) readRules(ctx context.Context, list []*Source) (err error) {
	if c.rules, err = ReadRules(ctx, c.Store.Query, c.Store.Postgres(), list); err != nil || len(c.rules) == 0 {
		return err
	}
	var promoted []string
	for _, from := range list {
		if from.PromotedFrom != nil && AsksForStays(c.rules[from.ID]) {
			promoted = append(promoted, *from.PromotedFrom)
		}
	}
	if c.shared, err = c.Journal.Clock(ctx); err == nil && len(promoted) > 0 {
		c.stays, err = c.Service.Stays(ctx, c.Store.Query, promoted)
	}
	return err
}

func (c EligibilityCheck) of(ctx context.Context, m Mode, from *Source) (*Eligibility, error) {
	err := c.CheckReplayable(c.actor, m, from, func() error { return c.Prove(from) }, c.at)
	return c.judged(ctx, m, from, err)
}

// judged returns what a replay comes to that is refused by err, or, if that is nil, by what the rules and the instance
// say.
func (c EligibilityCheck) judged(ctx context.Context, m Mode, from *Source, err error) (*Eligibility, error) {
	p := from.Proposal(m, c.at)
	if err == nil {
		p.Rules, p.Facts.Stay = c.rules[from.ID], c.stays[optional.OrZero(from.PromotedTo(m))]
		err = c.Judge(ctx, c.actor, p, Request{}, c.shared)
	}
	return c.Eligibility(err, from, p.Warnings)
}

// Eligibility returns what a refusal, or nil, comes to, with the deployment that stands in the way of a source. It
// fails with an error that is no refusal.
func (c EligibilityCheck) Eligibility(err error, from *Source, warnings []inputprop.Warning) (*Eligibility, error) {
	e, err := EligibilityOf(err, warnings)
	if err == nil && !e.Allowed && e.Refusal.Code == fault.DeploymentInProgress && from != nil {
		e.BlockedBy = c.blockers[*from.ActiveID]
	}
	return e, err
}

// EligibilityOf returns what a refusal, or nil, comes to. It fails with an error that is no refusal.
func EligibilityOf(err error, warnings []inputprop.Warning) (*Eligibility, error) {
	if err == nil {
		return &Eligibility{Allowed: true, Warnings: warnings}, nil
	}
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return nil, err
	}
	return &Eligibility{Refusal: refusal, Warnings: warnings}, nil
}

// Prove returns why what the release of a source ships cannot be had, nil if it is what was stored.
func (c EligibilityCheck) Prove(from *Source) error {
	err, isStored := c.proofs[optional.OrZero(from.ReleaseID)]
	if !isStored {
		return releases.NotStored(from.ID)
	}
	return err
}

// CheckReplayable returns why a source may not be replayed at a time, whatever the rules say, nil if it may. prove
// is to return why what its release ships cannot be had. Rollback, Redeploy and Eligibilities all ask it, so a replay
// cannot be offered and then refused for something else. The order of the checks decides which of several reasons is
// returned.
func (s *Service) CheckReplayable(a *actor.Actor, m Mode, from *Source, prove func() error, at time.Time) error {
	if err := from.checkMay(a, m); err != nil {
		return err
	}
	switch from.TriggerSource {
	case state.TriggerEvent:
		return releases.NoRelease(from.ID)
	case state.TriggerDestroy:
		f := fault.New(fault.DeploymentNotReplayable, "The deployment %s was a destroy, which is not replayed.", from.ID)
		f.Metadata = map[string]any{"deploymentId": from.ID}
		return f
	}
	if err := m.check(from); err != nil {
		return err
	}
	if active := from.active(); active != nil && active.ID == from.ID {
		return s.InProgress(active)
	}
	return from.Standing(prove).Refusal(m, at)
}
