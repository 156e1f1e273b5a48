// Package archive takes projects, environments and module instances out of use and back into it. What is archived is
// not deployed to, and lists leave it out; what it has deployed stays, and so does its history.
//
// A place is archived with what is in it: each record has the time, and the id of what was archived. So a rule looks at
// the record alone, and what is unarchived finds what was archived with it.
package archive

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
	"slipway/internal/service/dependency"
)

// Service archives projects, environments and module instances.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
}

// Request asks for a record to be archived.
type Request struct {
	ID string
	// AcknowledgeLive is whether the caller knows that something may be live there.
	AcknowledgeLive bool
	// AcknowledgeDependents is whether the caller knows that live or active deployments of others may refer to it.
	AcknowledgeDependents bool
}

// mark says of a record, and of those in it, that they are archived, or with a nil time that they are not.
type mark struct {
	at *time.Time
	// with is the id of the record that is archived, or was.
	with string
	// former is what the record was archived with until now, "" for nothing.
	former string
	// now is the time of the write.
	now time.Time
}

// state is what archiving goes by of a record.
type state struct {
	id, name string
	place    actor.Place
	at       *time.Time
	with     *string
}

// kind is what tells projects, environments and module instances apart.
type kind[T any] struct {
	// name ends the actions' names.
	name                string
	permission          access.Action
	forbidden, taken    fault.Code
	deployments, placed string // the columns of deployments and of module instances that have the record's id
	find                func(ctx context.Context, tx *ent.Tx, id string) (*T, error)
	state               func(*T) state
	// countWithin returns how many records are in it; nil for none.
	countWithin func(ctx context.Context, tx *ent.Tx, id string) (int, error)
	// checkAbove returns why the record cannot be unarchived for what it is in.
	checkAbove func(ctx context.Context, tx *ent.Tx, record *T) error
	// set marks the record and what is in it, and returns the record.
	set func(ctx context.Context, tx *ent.Tx, record *T, m mark) (*T, error)
}

// archive archives a record with what is in it. Of one that was archived with what it is in, it has it stay archived
// when that is unarchived. It runs while nothing is created in the organization, so that what it finds is all that
// there is.
func archive[T any](ctx context.Context, s *Service, k kind[T], in Request) (archived *T, err error) {
	err = s.Journal.Write(store.StoppingCreation(ctx), "archive"+k.name,
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			record, now, err := k.own(ctx, tx, in.ID)
			if err != nil {
				return err
			}

			m := mark{at: now.at, with: now.id, now: e.At}
			e.ObjectID = now.id
			switch {
			case now.at == nil:
				live, err := k.checkIdle(ctx, tx, now, in)
				if err != nil {
					return err
				}
				used, err := k.checkUnused(ctx, s, tx, now, in)
				if err != nil {
					return err
				}
				m.at = &e.At
				changes := map[string]any{"archivedAt": e.At}
				if live {
					changes["acknowledgeLive"] = true
				}
				if used {
					changes["acknowledgeDependents"] = true
				}
				e.Changes = changes
			case *now.with == now.id:
				archived, e.SkipAudit = record, true
				return nil
			default:
				m.former = *now.with
				e.Changes = map[string]any{"archivedAt": *now.at}
			}

			archived, err = k.set(ctx, tx, record, m)
			return err
		})
	if err != nil {
		return nil, err
	}
	return archived, nil
}

// unarchive takes a record back into use, and what was archived with it.
func unarchive[T any](ctx context.Context, s *Service, k kind[T], id string) (unarchived *T, err error) {
	var name string
	err = s.Journal.Write(store.StoppingCreation(ctx), "unarchive"+k.name,
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			record, now, err := k.own(ctx, tx, id)
			if err != nil {
				return err
			}
			if now.at == nil {
				unarchived, e.SkipAudit = record, true
				return nil
			}
			if err := k.checkAbove(ctx, tx, record); err != nil {
				return err
			}

			name, e.ObjectID, e.Changes = now.name, now.id, map[string]any{"archivedAt": nil}
			unarchived, err = k.set(ctx, tx, record, mark{with: now.id, now: e.At})
			return err
		})
	if store.IsUniqueViolation(err) {
		return nil, fault.New(k.taken, "Cannot restore %q: its name, or a name inside it, is in use again.", name).
			WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	return unarchived, nil
}

// own returns a record that the actor may archive. What is in it is work of the context's request.
func (k kind[T]) own(ctx context.Context, tx *ent.Tx, id string) (*T, state, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, k.forbidden); err != nil {
		return nil, state{}, err
	}
	record, err := k.find(ctx, tx, id)
	if err != nil {
		return nil, state{}, err
	}
	now := k.state(record)
	if err := access.CheckIn(a, k.permission, now.place, k.forbidden); err != nil {
		return nil, state{}, err
	}
	return record, now, k.charge(ctx, tx, now.id)
}

// maxCharged is how many records count at most, so that a place can be archived by itself however much is in it.
const maxCharged = 8_000

// charge counts the records in a record as work.
func (k kind[T]) charge(ctx context.Context, tx *ent.Tx, id string) error {
	if k.countWithin == nil {
		return nil
	}
	n, err := k.countWithin(ctx, tx, id)
	if err != nil {
		return err
	}
	return meter.Spend(ctx, meter.Archived, min(n, maxCharged))
}

// maxNamed is how many of those in the way a refusal names.
const maxNamed = 20

// checkIdle returns why a record cannot be archived for what is deployed there, and whether something is live. What was
// started outside is nobody's to wait for.
func (k kind[T]) checkIdle(ctx context.Context, tx *ent.Tx, now state, in Request) (live bool, err error) {
	active, err := tx.Deployment.Query().
		Where(column(k.deployments, now.id), store.IsInProgress).
		Limit(maxNamed+1).Select(deployment.FieldID, deployment.FieldModuleInstanceID).All(ctx)
	if err != nil {
		return false, err
	}
	if len(active) > 0 {
		return false, inProgress(active)
	}
	found, err := tx.ModuleInstance.Query().
		Where(column(k.placed, now.id), moduleinstance.LiveDeploymentIDNotNil(), moduleinstance.ArchivedAtIsNil()).
		Limit(maxNamed+1).Select(moduleinstance.FieldID, moduleinstance.FieldName).All(ctx)
	if err != nil || len(found) == 0 || in.AcknowledgeLive {
		return len(found) > 0, err
	}
	return true, stillLive(found)
}

// checkUnused returns why a record cannot be archived for who depends on what is in it, and whether somebody does.
func (k kind[T]) checkUnused(
	ctx context.Context, s *Service, tx *ent.Tx, now state, in Request,
) (used bool, err error) {
	ids, err := tx.ModuleInstance.Query().Where(column(k.placed, now.id), moduleinstance.ArchivedAtIsNil()).IDs(ctx)
	if err != nil {
		return false, err
	}
	err = dependency.CheckUnused(ctx, s.Store, tx, ids)
	if fault.Is(err, fault.ModuleInstanceInUse) && in.AcknowledgeDependents {
		return true, nil
	}
	return false, err
}

// column is that a row has an id in a column.
func column(name, id string) func(*sql.Selector) { return sql.FieldEQ(name, id) }

func inProgress(active []*ent.Deployment) error {
	f := fault.New(
		fault.DeploymentInProgress, "Deployments are still active: %s; cancel them or wait until they finish.",
		counted(len(active)),
	)
	f.Details = []fault.Section{{Title: "Active deployments", Render: fault.RenderList, Items: listed(active,
		func(d *ent.Deployment) string {
			return fmt.Sprintf("%s of %s", d.ID, d.ModuleInstanceID)
		})}}
	return f
}

func stillLive(live []*ent.ModuleInstance) error {
	f := fault.New(fault.ModuleInstanceStillLive, "Instances are still live: %s; destroy them first, or set "+
		"acknowledgeLive to keep them running.", counted(len(live)))
	f.Details = []fault.Section{{Title: "Module instances", Render: fault.RenderList, Items: listed(live,
		func(i *ent.ModuleInstance) string {
			return fmt.Sprintf("%s (%s)", i.Name, i.ID)
		})}}
	return f
}

// counted returns a number that was looked at up to one more than are named.
func counted(n int) string {
	if n > maxNamed {
		return fmt.Sprintf("more than %d", maxNamed)
	}
	return fmt.Sprint(n)
}

// listed returns the names of some, and an ellipsis if there are more than are named.
func listed[T any](found []*T, name func(*T) string) []string {
	var names []string
	for i, one := range found {
		if i == maxNamed {
			return append(names, "…")
		}
		names = append(names, name(one))
	}
	return names
}
