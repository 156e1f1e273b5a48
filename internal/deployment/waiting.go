package deployment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentreference"
	"slipway/ent/moduleinstance"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/dependency"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/meter"
	"slipway/internal/record"
	"slipway/internal/rule"
	"slipway/internal/store"
)

// waiting is a deployment that waits for approvals, and what decides whether it may be started. It is read for any number of
// deployments in as many statements.
type waiting struct {
	*ent.Deployment
	mode    replayMode
	from    *source
	p       *proposal
	ballots []Ballot
}

// waitingReader reads what decides on deployments that wait: in a transaction, or not.
type waitingReader struct {
	*Service
	client *ent.Client
	read   store.Reader
	// tx is the transaction, nil outside.
	tx *ent.Tx
	// shared is the time by which rules, tokens and waits are judged, and at the one of this server.
	shared, at time.Time
}

// all returns what decides on some deployments that wait, by their ids, but for whether it can be shipped.
func (r waitingReader) all(ctx context.Context, list []*ent.Deployment) (map[string]*waiting, error) {
	of := make(map[string]*waiting, len(list))
	var ids, replayed, promoted []string
	for _, d := range list {
		of[d.ID] = &waiting{Deployment: d, mode: operationOf(d.TriggerSource)}
		ids = append(ids, d.ID)
		if d.RedeployOfDeploymentID != nil {
			replayed = append(replayed, *d.RedeployOfDeploymentID)
		}
	}
	if len(list) == 0 {
		return of, nil
	}
	sources, err := r.readSources(ctx, r.read, ids)
	if err != nil {
		return nil, err
	}
	rules, err := readRules(ctx, r.read, r.Store.Postgres(), sources)
	if err != nil {
		return nil, err
	}
	for _, from := range sources {
		w := of[from.ID]
		w.from, w.p = from, from.proposal(w.mode, r.at)
		w.p.rules, w.p.facts = rules[from.ID], gate.Facts{Operation: w.mode.operation}
		if w.PromotedFrom != nil && asksForStays(w.p.rules) {
			promoted = append(promoted, *w.PromotedFrom)
		}
	}
	if err := r.setFacts(ctx, list, of, replayed, promoted); err != nil {
		return nil, err
	}
	for _, w := range of {
		if err := w.p.judge(ctx, r.shared); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// setFacts sets the facts by which deployments are judged: the voices about them, whether a replayed one has succeeded, and how
// long a promoted one was live.
func (r waitingReader) setFacts(ctx context.Context, list []*ent.Deployment, of map[string]*waiting, replayed, promoted []string) error {
	ballots, err := r.ballots(ctx, r.client, r.tx, list, r.shared)
	if err != nil {
		return err
	}
	var succeeded []string
	if len(replayed) > 0 {
		succeeded, err = r.client.Deployment.Query().Where(deployment.IDIn(replayed...), deployment.StatusEQ(deployment.StatusSUCCEEDED)).IDs(ctx)
		if err != nil {
			return err
		}
	}
	var stays map[string]*gate.Stay
	if len(promoted) > 0 {
		if stays, err = r.stays(ctx, r.read, promoted); err != nil {
			return err
		}
	}
	for _, w := range of {
		w.ballots = ballots[w.ID]
		w.p.facts.Voices, w.p.facts.Stay = voices(w.ballots), stays[idOrEmpty(w.PromotedFrom)]
		w.p.facts.SucceededHere = w.RedeployOfDeploymentID != nil && slices.Contains(succeeded, *w.RedeployOfDeploymentID)
	}
	return nil
}

// flaws returns, by their ids, why deployments that wait cannot be shipped any more, whatever the rules say: what their
// creation has checked of what others may have changed since. prove returns why what a release ships cannot be had.
func (r waitingReader) flaws(ctx context.Context, of map[string]*waiting, prove func(*waiting) error) (map[string]error, error) {
	flaws, err := r.promotionFlaws(ctx, of)
	if err != nil {
		return nil, err
	}
	var destroyed []*waiting
	var referring []string
	for _, w := range of {
		err := checkNotArchived(w.ModuleInstanceID, w.from.ArchivedAt)
		if err == nil {
			err = cmp.Or(prove(w), flaws[w.ID])
		}
		if err == nil && !w.mode.shipsQuarantined {
			err = w.from.reputation.checkQuarantine(idOrEmpty(w.ReleaseID), r.at)
		}
		switch {
		case err != nil:
			flaws[w.ID] = err
		case w.mode.operation == gate.Destroy && !w.AcknowledgesDependents:
			destroyed = append(destroyed, w)
		case idOrEmpty(w.GivenFrom) == w.ID: // no replay, whose references were judged when they were given
			referring = append(referring, w.ID)
		}
	}
	if err := r.addDependentFlaws(ctx, destroyed, flaws); err != nil {
		return nil, err
	}
	return flaws, r.addReferenceFlaws(ctx, referring, flaws)
}

// promotionFlaws returns why promotions that wait cannot be made of their sources any more.
func (r waitingReader) promotionFlaws(ctx context.Context, of map[string]*waiting) (map[string]error, error) {
	var sources []string
	for _, w := range of {
		if w.mode.operation == gate.Promote && w.PromotedFrom != nil {
			sources = append(sources, *w.PromotedFrom)
		}
	}
	reputations, err := r.reputations(ctx, r.read, sources)
	flaws := map[string]error{}
	for _, w := range of {
		if known, promoted := reputations[idOrEmpty(w.PromotedFrom)]; promoted {
			if flaw := known.checkPromoted(*w.PromotedFrom, idOrEmpty(w.ReleaseID), r.at); flaw != nil {
				flaws[w.ID] = flaw
			}
		}
	}
	return flaws, err
}

// addDependentFlaws adds the flaws of destroys of instances that others refer to.
func (r waitingReader) addDependentFlaws(ctx context.Context, destroys []*waiting, flaws map[string]error) error {
	if len(destroys) == 0 {
		return nil
	}
	ids := make([]string, len(destroys))
	for i, w := range destroys {
		ids[i] = w.ModuleInstanceID
	}
	dependents, err := dependency.Finder{Store: r.Store, Read: r.read}.Of(meter.Without(ctx), ids)
	for _, w := range destroys {
		if refusal := dependency.Refusal(w.ModuleInstanceID, dependents[w.ModuleInstanceID]); refusal != nil {
			flaws[w.ID] = refusal
		}
	}
	return err
}

// addReferenceFlaws adds the flaws of deployments whose inputs choose an instance that is gone, archived or about to be
// destroyed by now.
func (r waitingReader) addReferenceFlaws(ctx context.Context, ids []string, flaws map[string]error) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := r.client.DeploymentReference.Query().Where(deploymentreference.DeploymentIDIn(ids...)).All(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	var chosen []string
	for _, one := range list {
		chosen = append(chosen, one.ModuleInstanceID)
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	there, err := r.client.ModuleInstance.Query().Where(moduleinstance.IDIn(chosen...)).All(ctx)
	if err != nil {
		return err
	}
	leaving, err := r.client.Deployment.Query().Where(deployment.ModuleInstanceIDIn(chosen...), isDestroying).All(ctx)
	if err != nil {
		return err
	}
	found := byID(there, func(i *ent.ModuleInstance) string { return i.ID })
	destroyed := byID(leaving, func(d *ent.Deployment) string { return d.ModuleInstanceID })
	violations := map[string][]fault.Violation{}
	for _, one := range list {
		i := found[one.ModuleInstanceID]
		var flaw string
		switch {
		case i == nil:
			flaw = "is gone"
		case i.ArchivedAt != nil:
			flaw = "is archived"
		case destroyed[i.ID] != nil:
			flaw = "is about to be destroyed"
		case one.ReadDeploymentID != nil && i.LiveDeploymentID == nil:
			flaw = "has nothing live any more"
		default:
			continue
		}
		violations[one.DeploymentID] = append(violations[one.DeploymentID], fault.Violation{Pointer: "/inputs" + one.Pointer, Rule: "reference",
			Message: fmt.Sprintf("must choose an instance that is there: %s %s by now; make another deployment", one.ModuleInstanceID, flaw)})
	}
	for id, wrong := range violations {
		flaws[id] = fault.Invalid(fault.DeploymentInputsInvalid, wrong...)
	}
	return nil
}

// isSuperseded reports whether another release is live than when the deployment began to wait.
func (w *waiting) isSuperseded() bool { return !w.from.ReplacesLive }

// WaitingEligibilities are those of one deployment that may wait for approvals.
type WaitingEligibilities struct{ Approve, Start *Eligibility }

// readerOutside returns a reader outside of transactions.
func (s *Service) readerOutside(ctx context.Context) (r waitingReader, err error) {
	r = waitingReader{Service: s, client: s.Store.Client, read: s.Store.Query, at: s.Journal.Now()}
	r.shared, err = s.Journal.Clock(ctx)
	return r, err
}

// undetailed are the columns of deployments but for those that may be large, by which no eligibility and no voice is judged.
var undetailed = slices.DeleteFunc(slices.Clone(deployment.Columns), func(column string) bool {
	return slices.Contains([]string{deployment.FieldData, deployment.FieldEvents, deployment.FieldSetbacks, deployment.FieldOverride}, column)
})

// withoutDetails returns the deployments of the ids, with their undetailed columns.
func (s *Service) withoutDetails(ctx context.Context, ids []string) ([]*ent.Deployment, error) {
	return s.Store.Client.Deployment.Query().Where(deployment.IDIn(ids...)).Select(undetailed...).All(ctx)
}

// findWaiting returns the deployments of the ids, and of those that wait what decides on them. Each is work of the context's
// request: SQLite reads all of a large row to find its last columns.
func (s *Service) findWaiting(ctx context.Context, ids []string) (waitingReader, []*ent.Deployment, map[string]*waiting, error) {
	if err := meter.Spend(ctx, meter.Rules, 2*len(ids)); err != nil {
		return waitingReader{}, nil, nil, err
	}
	r, err := s.readerOutside(ctx)
	if err != nil {
		return r, nil, nil, err
	}
	list, err := s.withoutDetails(ctx, ids)
	if err != nil {
		return r, nil, nil, err
	}
	var wait []*ent.Deployment
	for _, d := range list {
		if d.Status == StatusAwaiting {
			wait = append(wait, d)
		}
	}
	of, err := r.all(ctx, wait)
	return r, list, of, err
}

// RequirementsOf returns what the rules come to now for those of the deployments that wait for approvals.
func (s *Service) RequirementsOf(ctx context.Context, ids []string) (map[string][]gate.Requirement, error) {
	_, _, waits, err := s.findWaiting(ctx, ids)
	of := map[string][]gate.Requirement{}
	for id, w := range waits {
		of[id] = w.p.requirements
	}
	return of, err
}

// BallotsOf returns the voices about deployments, the first at the start. One about a deployment that waits counts if a rule
// that binds it takes it.
func (s *Service) BallotsOf(ctx context.Context, ids []string) (map[string][]Ballot, error) {
	r, list, waits, err := s.findWaiting(ctx, ids)
	if err != nil {
		return nil, err
	}
	waitsNot := slices.DeleteFunc(list, func(d *ent.Deployment) bool { return waits[d.ID] != nil })
	of, err := s.ballots(ctx, r.client, nil, waitsNot, r.shared)
	if err != nil {
		return nil, err
	}
	if of == nil {
		of = map[string][]Ballot{}
	}
	for id, w := range waits {
		for i, b := range w.ballots {
			w.ballots[i].Counts = b.Counts && gate.IsTaken(w.p.rules, w.p.operation, b.voice())
		}
		of[id] = w.ballots
	}
	return of, nil
}

// BallotsByID returns the voices of the ids that there are, in no order.
func (s *Service) BallotsByID(ctx context.Context, ids []string) ([]*Ballot, error) {
	found, err := record.Approvals.In(s.Store).ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	var about []string
	for _, a := range found {
		about = append(about, a.DeploymentID)
	}
	of, err := s.BallotsOf(ctx, about)
	var list []*Ballot
	for _, ballots := range of {
		for i, b := range ballots {
			if slices.Contains(ids, b.ID) {
				list = append(list, &ballots[i])
			}
		}
	}
	return list, err
}

// WaitingEligibilities returns, for each deployment of the ids that there is, whether the actor could approve of it and start it
// now. Approve and Start make the same checks.
func (s *Service) WaitingEligibilities(ctx context.Context, ids []string) (map[string]WaitingEligibilities, error) {
	r, list, waits, err := s.findWaiting(ctx, ids)
	if err != nil {
		return nil, err
	}
	sources := make([]*source, 0, len(waits))
	for _, w := range waits {
		sources = append(sources, w.from)
	}
	check, err := s.newEligibilityCheck(ctx, sources, rollback)
	if err != nil {
		return nil, err
	}
	flaws, err := r.flaws(ctx, waits, func(w *waiting) error { return check.prove(w.from) })
	if err != nil {
		return nil, err
	}
	a := actor.From(ctx)
	makers, err := s.makersOf(ctx, nil, list, a)
	if err != nil {
		return nil, err
	}
	gone, err := r.authorsGone(ctx, waits)
	if err != nil {
		return nil, err
	}
	of := make(map[string]WaitingEligibilities, len(list))
	for _, d := range list {
		var both WaitingEligibilities
		w := waits[d.ID]
		var from *source
		var warning *string
		if w != nil {
			from = w.from
			warning = w.from.concerns().sentences()
			if gone[d.ID] {
				warning = joined(warning, fmt.Sprintf("%s, who made it, has no valid token any longer.", d.CreatedBy))
			}
		}
		if both.Approve, err = check.eligibility(approveRefusal(a, d, makers, r.shared), nil, warning); err != nil {
			return nil, err
		}
		if both.Start, err = check.eligibility(s.startRefusal(a, d, w, flaws[d.ID], r.shared), from, warning); err != nil {
			return nil, err
		}
		of[d.ID] = both
	}
	return of, nil
}

// authorsGone returns which of the deployments have an author none of whose tokens is valid any longer.
func (r waitingReader) authorsGone(ctx context.Context, of map[string]*waiting) (map[string]bool, error) {
	var authors []string
	for _, w := range of {
		if w.CreatedByID != nil && *w.CreatedByID != "" {
			authors = append(authors, *w.CreatedByID)
		}
	}
	if len(authors) == 0 {
		return nil, nil
	}
	valid, err := r.Store.ValidPrincipals(ctx, authors, r.shared)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for id, w := range of {
		gone[id] = w.CreatedByID != nil && !slices.Contains(valid, *w.CreatedByID)
	}
	return gone, nil
}

// makersOf returns the makers of the authors of deployments and of an actor.
func (s *Service) makersOf(ctx context.Context, tx *ent.Tx, list []*ent.Deployment, a *actor.Actor) (map[string][]string, error) {
	principals := []string{a.PrincipalID}
	for _, d := range list {
		if d.CreatedByID != nil && d.Status == StatusAwaiting {
			principals = append(principals, *d.CreatedByID)
		}
	}
	if len(principals) == 1 {
		return nil, nil
	}
	return s.Store.MakersOf(ctx, tx, principals)
}

// approveRefusal returns why an actor cannot approve of a deployment at a time, nil where it can.
func approveRefusal(a *actor.Actor, d *ent.Deployment, makers map[string][]string, at time.Time) error {
	if err := access.CheckIn(a, access.Deploy, placeOf(d), fault.DeploymentForbidden); err != nil {
		return err
	}
	if err := checkAwaiting(d, at); err != nil {
		return err
	}
	return checkOther(d, a.PrincipalID, makers)
}

// startRefusal returns why an actor cannot start a deployment at a time, nil where it can. w is what was read of one that
// waits, and flaw why it cannot be shipped, nil for nothing.
func (s *Service) startRefusal(a *actor.Actor, d *ent.Deployment, w *waiting, flaw error, at time.Time) error {
	mode := operationOf(d.TriggerSource)
	if err := access.CheckIn(a, mode.permission, placeOf(d), fault.DeploymentForbidden); err != nil {
		return err
	}
	if err := checkAwaiting(d, at); err != nil {
		return err
	}
	switch {
	case w.isSuperseded():
		return lateError(d, supersededError(w.p.live))
	case flaw != nil:
		return flaw
	}
	if err := gate.AtStart(w.p.requirements, at); err != nil {
		return err
	}
	if w.p.active != nil {
		return s.inProgress(w.p.active)
	}
	return nil
}

// readRules reads the rules that are in force where sources are, by the ids of these: once, however many sources there are.
func readRules(ctx context.Context, read store.Reader, postgres bool, list []*source) (map[string][]gate.Rule, error) {
	isRuled := func(from *source) bool { return from.IsRuled }
	if !slices.ContainsFunc(list, isRuled) {
		return nil, nil
	}
	all, err := rule.All(ctx, read, postgres)
	if err != nil {
		return nil, err
	}

	in, of := map[actor.Place][]gate.Rule{}, map[string][]gate.Rule{}
	for _, from := range list {
		place := actor.Place{ProjectID: from.ProjectID, EnvironmentID: from.EnvironmentID}
		if _, known := in[place]; !known {
			in[place] = rule.In(all, place)
		}
		if len(in[place]) > 0 {
			of[from.ID] = in[place]
		}
	}
	return of, meter.Err(ctx)
}
