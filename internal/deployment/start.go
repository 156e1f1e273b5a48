package deployment

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// mostStarts bounds how often a start is tried when it is refused by something that has gone when one
// looks: a blocker that ended meanwhile, or an equal release that somebody else stored first.
const mostStarts = 5

// starting inserts a deployment of an instance. instanceID is wanted with an error too, as far as it is
// known.
type starting func(context.Context, *ent.Tx, *journal.Entry) (created *ent.Deployment, instanceID string, err error)

// start carries out a write that creates a deployment, together with its change row and its request's
// key; a request that was made before gives the deployment that it made then. The database lets an
// instance have one active deployment; start turns its refusal into DeploymentInProgress, which names the
// blocker.
func (s *Service) start(ctx context.Context, action, deploymentID string, r *request, f starting) (*ent.Deployment, error) {
	for tries := 1; ; tries++ {
		if made, err := s.repeated(ctx, r); made != nil || err != nil {
			return made, err
		}
		var created *ent.Deployment
		var instanceID string
		err := s.Journal.Write(ctx, action, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			if err := r.claimKey(ctx, tx, e, deploymentID); err != nil {
				return err
			}
			e.ObjectID = deploymentID
			if created, instanceID, err = f(ctx, tx, e); err != nil {
				return err
			}
			return tell(ctx, tx, created)
		})
		if err == nil {
			s.Feed.Changed(deploymentID)
			return created, nil
		}
		if !store.IsUniqueViolation(err) {
			return nil, err
		}
		// In this order: a blocker that the same request has made comes with its key.
		blocker, findErr := s.active(ctx, instanceID)
		if findErr != nil {
			return nil, findErr
		}
		if made, err := s.repeated(ctx, r); made != nil || err != nil {
			return made, err
		}
		switch {
		case blocker != nil:
			return nil, s.inProgress(blocker).WithCause(err)
		case tries == mostStarts:
			return nil, fault.New(fault.ServerUnavailable, "Deployments of the instance start and end faster than this one can be placed.").WithCause(err)
		}
	}
}

// active gives the active deployment of an instance, or nil.
func (s *Service) active(ctx context.Context, instanceID string) (*ent.Deployment, error) {
	d, err := s.Store.Client.Deployment.Query().
		Where(deployment.ModuleInstanceID(instanceID), deployment.CompletedAtIsNil()).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return d, err
}

func (s *Service) inProgress(blocker *ent.Deployment) *fault.Error {
	since := blocker.CreatedAt.UTC().Format(time.RFC3339Nano)
	f := fault.New(fault.DeploymentInProgress, "Another deployment of the instance is active: %s, started by %s at %s.",
		blocker.ID, blocker.CreatedBy, since)
	named := map[string]any{
		"deploymentId": blocker.ID,
		"status":       string(blocker.Status),
		"startedBy":    blocker.CreatedBy,
		"createdAt":    since,
	}
	if blocker.CancelRequestedAt != nil {
		named["cancelRequestedAt"] = blocker.CancelRequestedAt.UTC().Format(time.RFC3339Nano)
		named["cancelRequestedBy"] = *blocker.CancelRequestedBy
		f.Description = "Its cancellation was requested; the instance is free when its program has ended."
	}
	f.Details = []fault.Section{{Title: "Active deployment", Render: fault.RenderObject, Object: named}}
	f.Metadata = map[string]any{"blockedBy": named}
	f.Action = &fault.Action{Label: "Show the active deployment", URL: s.BaseURL + "/deployments/" + blocker.ID}
	return f
}
