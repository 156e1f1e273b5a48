package releases

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/quarantine"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

const (
	// MaxReason is how many characters the reason of a quarantine may have.
	MaxReason = 1000
)

// Quarantine marks a release as bad until a moment, or for good if it is nil. One that is open ends
// with it. It fails with RequestInvalid, ReleaseNotFound and ReleaseForbidden.
func (s *Service) Quarantine(ctx context.Context, releaseID, reason string, until *time.Time) (*record.Release, error) {
	quarantineID := s.Journal.NewID(id.Quarantine)
	return s.changeQuarantine(ctx, "quarantineRelease", releaseID,
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			if violations := checkQuarantine(reason, until, e.At); len(violations) > 0 {
				return fault.Invalid(fault.RequestInvalid, violations...)
			}
			if _, err := closeQuarantine(ctx, tx, releaseID, e.At); err != nil {
				return err
			}
			a := actor.From(ctx)
			e.Changes = map[string]any{"reason": reason, "until": until}
			return tx.Quarantine.Create().
				SetID(quarantineID).SetOrganizationID(a.OrganizationID).SetReleaseID(releaseID).
				SetReason(reason).SetNillableUntil(micros(until)).SetCreatedAt(e.At).SetCreatedBy(a.Name).
				SetNillableCreatedByActor(optional.NonZero(a.ID)).
				Exec(ctx)
		})
}

// UnquarantineRelease ends the quarantine of a release. It fails with ReleaseNotFound, ReleaseForbidden and
// ReleaseNotQuarantined.
func (s *Service) UnquarantineRelease(ctx context.Context, releaseID string) (*record.Release, error) {
	return s.changeQuarantine(ctx, "unquarantineRelease", releaseID,
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			held, err := closeQuarantine(ctx, tx, releaseID, e.At)
			if err == nil && !held {
				return fault.New(fault.ReleaseNotQuarantined, "The release %s is in no quarantine.", releaseID)
			}
			return err
		})
}

// changeQuarantine writes what f does to the quarantines of a release. Of two at once the second may be
// refused by the database, or not find what the first has ended: it is made again, and sees what the
// first has done.
func (s *Service) changeQuarantine(
	ctx context.Context, action, releaseID string, f journal.WriteFunc,
) (*record.Release, error) {
	r, err := s.Release(ctx, releaseID)
	if err != nil {
		return nil, err
	}
	if err := s.checkMayQuarantine(ctx, releaseID); err != nil {
		return nil, err
	}
	err = s.Journal.WriteLatest(ctx, action, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		e.ObjectID = releaseID
		return f(ctx, tx, e)
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// checkMayQuarantine returns nil if the actor may quarantine a release: in every place that it was deployed to,
// because it could not be deployed there again.
func (s *Service) checkMayQuarantine(ctx context.Context, releaseID string) error {
	a := actor.From(ctx)
	if err := access.CheckRole(a, access.QuarantineReleases, fault.ReleaseForbidden); err != nil || a.Scope == nil {
		return err
	}
	elsewhere, err := s.Store.Client.Deployment.Query().Where(
		deployment.ReleaseID(releaseID),
		deployment.ProjectIDNotIn(a.Scope.Projects...), deployment.EnvironmentIDNotIn(a.Scope.Environments...),
	).First(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return access.CheckIn(a, access.QuarantineReleases, state.PlaceOf(elsewhere), fault.ReleaseForbidden)
}

func checkQuarantine(reason string, until *time.Time, now time.Time) []fault.Violation {
	violations := textrules.Reason("/reason", reason, MaxReason)
	if until != nil && !until.After(now) {
		violations = append(violations, fault.Violation{Pointer: "/until", Rule: "future",
			Message: fmt.Sprintf("must be in the future, found %s", until.UTC().Format(time.RFC3339Nano))})
	}
	return violations
}

func micros(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC().Truncate(time.Microsecond))
}

// openQuarantine returns the open quarantine of a release, which may have ended by itself, or nil.
func openQuarantine(ctx context.Context, tx *ent.Tx, releaseID string) (*ent.Quarantine, error) {
	open, err := tx.Quarantine.Query().Where(quarantine.ReleaseID(releaseID), quarantine.LiftedAtIsNil()).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return open, err
}

// closeQuarantine ends the open quarantine of a release, and reports whether it held until now.
func closeQuarantine(ctx context.Context, tx *ent.Tx, releaseID string, at time.Time) (held bool, err error) {
	open, err := openQuarantine(ctx, tx, releaseID)
	if err != nil || open == nil {
		return false, err
	}
	end := open.Update().Where(quarantine.LiftedAtIsNil())
	if held = Holds(open, at); held {
		a := actor.From(ctx)
		end.SetLiftedAt(at).SetLiftedBy(a.Name).SetNillableLiftedByActor(optional.NonZero(a.ID))
	} else {
		// It ended by itself.
		end.SetLiftedAt(*open.Until)
	}
	return held, end.Exec(ctx)
}

// QuarantinesByID returns the quarantines of the ids that there are, in no order.
func (s *Service) QuarantinesByID(ctx context.Context, ids []string) ([]*ent.Quarantine, error) {
	return record.Quarantines.In(s.Store).ByIDs(ctx, ids)
}

// QuarantinesOf returns a page of the quarantines of each release, the newest first.
func (s *Service) QuarantinesOf(
	ctx context.Context, releaseIDs []string, args page.Args,
) (map[string]*page.QuarantineConnection, error) {
	return page.ReadEach(ctx, record.Quarantines.In(s.Store), page.Parents{
		List: "release.quarantines", Viewer: actor.From(ctx).OrganizationID,
		Column: quarantine.FieldReleaseID, IDs: releaseIDs,
	}, args, func(q *ent.Quarantine) string { return q.ReleaseID })
}

// HoldingOf returns the quarantine that holds now of each release that is in one.
func (s *Service) HoldingOf(ctx context.Context, releaseIDs []string) (map[string]*ent.Quarantine, error) {
	open, err := s.Store.Client.Quarantine.Query().
		Where(quarantine.ReleaseIDIn(releaseIDs...), quarantine.LiftedAtIsNil()).All(ctx)
	if err != nil {
		return nil, err
	}
	of := make(map[string]*ent.Quarantine, len(open))
	for _, q := range open {
		if s.Holds(q) {
			of[q.ReleaseID] = q
		}
	}
	return of, nil
}

// Holds reports whether a quarantine, which may be nil, keeps its release from being deployed at a time.
func Holds(q *ent.Quarantine, at time.Time) bool {
	return q != nil && q.LiftedAt == nil && (q.Until == nil || q.Until.After(at))
}

// Holds reports whether a quarantine, which may be nil, keeps its release from being deployed now.
func (s *Service) Holds(q *ent.Quarantine) bool { return Holds(q, s.Journal.Now()) }

// quarantined returns the refusal of what a quarantine keeps from being deployed.
func quarantined(q *ent.Quarantine) *fault.Error {
	f := fault.New(fault.ReleaseQuarantined, "The release %s is quarantined by %s: %s", q.ReleaseID, q.CreatedBy, q.Reason)
	details := map[string]any{
		"releaseId":     q.ReleaseID,
		"reason":        q.Reason,
		"quarantinedBy": q.CreatedBy,
		"quarantinedAt": q.CreatedAt.UTC().Format(time.RFC3339Nano),
	}
	if q.Until != nil {
		details["until"] = q.Until.UTC().Format(time.RFC3339Nano)
	}
	f.Details = []fault.Section{{Title: "Quarantine", Render: fault.RenderObject, Object: details}}
	f.Metadata = map[string]any{"quarantine": details}
	return f
}
