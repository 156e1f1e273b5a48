package waiting

import (
	"context"
	"maps"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/state"
)

// waiting is a deployment that waits for approvals, as the proposal to start it. It is read for any number of
// deployments in as many statements.
type waiting struct {
	*admission.Proposal
	mode      admission.Mode
	from      *admission.Source
	approvals []Approval
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

// all returns some deployments that wait, by their ids, with what decides on them but for whether they can be shipped.
func (r waitingReader) all(ctx context.Context, list []*ent.Deployment) (map[string]*waiting, error) {
	of := make(map[string]*waiting, len(list))
	if len(list) == 0 {
		return of, nil
	}

	deployments := record.ByKey(list, func(d *ent.Deployment) string { return d.ID })
	ids := slices.Collect(maps.Keys(deployments))
	sources, err := r.Admission.ReadSources(ctx, r.read, ids)
	if err != nil {
		return nil, err
	}
	rules, err := admission.ReadRules(ctx, r.read, r.Store.Postgres(), sources)
	if err != nil {
		return nil, err
	}

	for _, from := range sources {
		d := deployments[from.ID]
		w := &waiting{mode: admission.ModeOf(d.TriggerSource), from: from}
		w.Proposal = from.Proposal(w.mode, r.at)
		w.Starts, w.Created = d, &ent.Deployment{}
		w.Rules, w.Facts = rules[from.ID], gate.Facts{Operation: w.mode.Operation}
		of[d.ID] = w
	}

	return of, r.setFacts(ctx, list, of)
}

// setFacts sets the facts by which deployments are judged: the approvals about them, whether a replayed one has
// succeeded, and how long a promoted one was live.
func (r waitingReader) setFacts(ctx context.Context, list []*ent.Deployment, of map[string]*waiting) error {
	approvals, err := r.approvals(ctx, r.client, r.tx, list, r.shared)
	if err != nil {
		return err
	}

	var replayed, promoted []string
	for id, w := range of {
		w.approvals = approvals[id]
		w.Facts.Approvals = facts(w.approvals)
		if w.Starts.RedeployOfDeploymentID != nil {
			replayed = append(replayed, *w.Starts.RedeployOfDeploymentID)
		}
		if w.Starts.PromotedFrom != nil && admission.AsksForStays(w.Rules) {
			promoted = append(promoted, *w.Starts.PromotedFrom)
		}
	}

	var succeeded []string
	if len(replayed) > 0 {
		succeeded, err = r.client.Deployment.Query().
			Where(deployment.IDIn(replayed...), deployment.StatusEQ(deployment.StatusSUCCEEDED)).IDs(ctx)
		if err != nil {
			return err
		}
	}
	var stays map[string]*gate.Stay
	if len(promoted) > 0 {
		if stays, err = r.Admission.Stays(ctx, r.read, promoted); err != nil {
			return err
		}
	}
	for _, w := range of {
		w.Facts.Stay = stays[optional.OrZero(w.Starts.PromotedFrom)]
		w.Facts.SucceededHere = slices.Contains(succeeded, optional.OrZero(w.Starts.RedeployOfDeploymentID))
	}
	return nil
}

// isSuperseded reports whether another release is live than when the deployment began to wait.
func (w *waiting) isSuperseded() bool { return !w.from.ReplacesLive }

// readerOutside returns a reader outside of transactions.
func (s *Service) readerOutside(ctx context.Context) (r waitingReader, err error) {
	r = waitingReader{Service: s, client: s.Store.Client, read: s.Store.Query, at: s.Journal.Now()}
	r.shared, err = s.Journal.Clock(ctx)
	return r, err
}

// undetailed are the columns of deployments but for those that may be large, by which no eligibility and no approval is
// judged.
var undetailed = slices.DeleteFunc(slices.Clone(deployment.Columns), func(column string) bool {
	return slices.Contains(
		[]string{deployment.FieldData, deployment.FieldEvents, deployment.FieldSetbacks, deployment.FieldOverride}, column,
	)
})

// withoutDetails returns the deployments of the ids, with their undetailed columns.
func (s *Service) withoutDetails(ctx context.Context, ids []string) ([]*ent.Deployment, error) {
	return s.Store.Client.Deployment.Query().Where(deployment.IDIn(ids...)).Select(undetailed...).All(ctx)
}

// findWaiting returns the deployments of the ids, and of those that wait what decides on them. Each is work of the
// context's request: SQLite reads all of a large row to find its last columns.
func (s *Service) findWaiting(
	ctx context.Context, ids []string,
) (waitingReader, []*ent.Deployment, map[string]*waiting, error) {
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
		if d.Status == state.StatusAwaiting {
			wait = append(wait, d)
		}
	}

	of, err := r.all(ctx, wait)
	return r, list, of, err
}

// RequirementsOf returns what the rules come to now for those of the deployments that wait for approvals.
func (s *Service) RequirementsOf(ctx context.Context, ids []string) (map[string][]gate.Requirement, error) {
	r, _, waits, err := s.findWaiting(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := map[string][]gate.Requirement{}
	for id, w := range waits {
		if err := w.Require(ctx, r.shared); err != nil {
			return nil, err
		}
		of[id] = w.Requirements
	}
	return of, nil
}

// ApprovalsOf returns the approvals about deployments, the first at the start. One about a deployment that waits counts
// if a rule that binds it takes it.
func (s *Service) ApprovalsOf(ctx context.Context, ids []string) (map[string][]Approval, error) {
	r, list, waits, err := s.findWaiting(ctx, ids)
	if err != nil {
		return nil, err
	}

	waitsNot := slices.DeleteFunc(list, func(d *ent.Deployment) bool { return waits[d.ID] != nil })
	of, err := s.approvals(ctx, r.client, nil, waitsNot, r.shared)
	if err != nil {
		return nil, err
	}

	if of == nil {
		of = map[string][]Approval{}
	}

	for id, w := range waits {
		for i, b := range w.approvals {
			w.approvals[i].Counts = b.Counts && gate.IsTaken(w.Rules, w.Operation, b.fact())
		}
		of[id] = w.approvals
	}

	return of, nil
}

// ApprovalsByID returns the approvals of the ids that there are, in no order.
func (s *Service) ApprovalsByID(ctx context.Context, ids []string) ([]*Approval, error) {
	found, err := record.Approvals.In(s.Store).ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	var about []string
	for _, a := range found {
		about = append(about, a.DeploymentID)
	}
	of, err := s.ApprovalsOf(ctx, about)
	var list []*Approval
	for _, approvals := range of {
		for i, b := range approvals {
			if slices.Contains(ids, b.ID) {
				list = append(list, &approvals[i])
			}
		}
	}
	return list, err
}
