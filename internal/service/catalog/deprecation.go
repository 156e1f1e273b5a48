package catalog

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
)

// Deprecation is that a version of a module is not to be deployed any more.
type Deprecation struct {
	// Version is the version that is deprecated.
	Version   *record.ModuleVersion
	Reason    string
	CreatedAt time.Time
	// CreatedBy is the name of the token, nil for callers without one.
	CreatedBy *string
}

// DeprecationOf returns that a version is deprecated, as the actor may see it, or nil.
func DeprecationOf(ctx context.Context, v *record.ModuleVersion) *Deprecation {
	if v.DeprecatedAt == nil {
		return nil
	}
	d := &Deprecation{Version: v, Reason: *v.DeprecationReason, CreatedAt: *v.DeprecatedAt}
	if !actor.From(ctx).IsAnonymous() {
		d.CreatedBy = v.DeprecatedBy
	}
	return d
}

// maxDeprecationReason is how many characters the reason of a deprecation may have.
const maxDeprecationReason = 500

// Deprecate is a version that is to be deprecated.
type Deprecate struct {
	VersionID string
	Reason    string
	// SuccessorID is the version of the same module that is to be deployed instead, or nil.
	SuccessorID *string
}

// DeprecateVersion says of a version that it is not to be deployed any more. It fails with ModuleVersionNotFound, also
// for the successor, and with RequestInvalid for one of another module.
func (s *Service) DeprecateVersion(ctx context.Context, in Deprecate) (*ent.ModuleVersion, error) {
	if violations := textrules.Reason("/reason", in.Reason, maxDeprecationReason); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return s.mendVersion(ctx, "deprecateModuleVersion", in.VersionID,
		func(ctx context.Context, tx *ent.Tx, v *ent.ModuleVersion, e *journal.Entry) (*ent.ModuleVersionUpdateOne, error) {
			if err := checkSuccessor(ctx, tx, v, in.SuccessorID); err != nil {
				return nil, err
			}
			if v.DeprecatedAt != nil && *v.DeprecationReason == in.Reason && optional.Equal(v.SuccessorID, in.SuccessorID) {
				return nil, nil
			}
			e.Changes = map[string]any{"reason": in.Reason, "successorId": in.SuccessorID}
			a := actor.From(ctx)
			u := v.Update().SetDeprecatedAt(e.At).SetDeprecatedBy(a.Name).SetDeprecationReason(in.Reason)
			if a.ID == "" {
				u.ClearDeprecatedByActor() // that of an earlier reason
			} else {
				u.SetDeprecatedByActor(a.ID)
			}
			if in.SuccessorID == nil {
				return u.ClearSuccessorID(), nil
			}
			return u.SetSuccessorID(*in.SuccessorID), nil
		})
}

// UndeprecateVersion ends that a version is deprecated. It fails with ModuleVersionNotFound.
func (s *Service) UndeprecateVersion(ctx context.Context, versionID string) (*ent.ModuleVersion, error) {
	return s.mendVersion(ctx, "undeprecateModuleVersion", versionID,
		func(_ context.Context, _ *ent.Tx, v *ent.ModuleVersion, e *journal.Entry) (*ent.ModuleVersionUpdateOne, error) {
			if v.DeprecatedAt == nil {
				return nil, nil
			}
			e.Changes = map[string]any{"deprecation": nil}
			return v.Update().ClearDeprecatedAt().ClearDeprecatedBy().ClearDeprecatedByActor().ClearDeprecationReason().
				ClearSuccessorID(), nil
		})
}

// mendVersion changes a version that the actor may change, unless change returns nothing to change.
func (s *Service) mendVersion(
	ctx context.Context, action, versionID string,
	change func(context.Context, *ent.Tx, *ent.ModuleVersion, *journal.Entry) (*ent.ModuleVersionUpdateOne, error),
) (mended *ent.ModuleVersion, err error) {
	if err := checkNamed(ctx); err != nil {
		return nil, err
	}
	read, err := s.Version(record.Whole(ctx), versionID)
	if err != nil {
		return nil, err
	}
	if _, err := s.ownDefinition(ctx, read.ModuleDefinitionID, editing); err != nil {
		return nil, err
	}

	err = s.Journal.Write(ctx, action, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		if mended, err = store.Find(
			ctx, tx.ModuleVersion.Get, id.ModuleVersion, versionID, fault.ModuleVersionNotFound,
		); err != nil {
			return err
		}
		update, err := change(ctx, tx, mended, e)
		if e.SkipAudit = update == nil; e.SkipAudit || err != nil {
			return err
		}
		e.ObjectID = versionID
		mended, err = update.SetUpdatedAt(e.At).Save(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return mended, nil
}

// checkSuccessor returns why a version cannot be the one to deploy instead of another, nil for none.
func checkSuccessor(ctx context.Context, tx *ent.Tx, v *ent.ModuleVersion, successorID *string) error {
	if successorID == nil {
		return nil
	}
	successor, err := store.Find(ctx, tx.ModuleVersion.Get, id.ModuleVersion, *successorID, fault.ModuleVersionNotFound)
	if err != nil {
		return err
	}
	if successor.ID == v.ID || successor.ModuleDefinitionID != v.ModuleDefinitionID {
		return fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/successorId", Rule: "successor",
			Message: "must be another version of the same module, found the same version or one of another module"})
	}
	return nil
}
