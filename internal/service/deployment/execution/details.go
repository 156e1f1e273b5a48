package execution

import (
	"context"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentlog"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/event"
	"slipway/internal/service/deployment/state"
)

// The details of a deployment are what nothing is decided by: its events, the lines of its log and the states of its
// listeners. Once they are old they may go, as the oldest of too many do while a deployment runs, and are counted. Its
// record, its release and its audit stay.

// linesAtOnce is how many lines of a log one transaction removes at most. A log may have 200,000, and whoever else
// writes to SQLite waits for a transaction.
const linesAtOnce = 1000

// FoldDetails removes the details of a deployment that has ended, and reports whether there were any. The version rises
// with each step that does, so that a copy of the record is known to be old; nobody is told, since nothing has happened
// to the deployment.
func (s *Service) FoldDetails(ctx context.Context, deploymentID string) (folded bool, err error) {
	for done := false; !done; {
		var removed bool
		err = journal.RetryWhileChanged(ctx, func(ctx context.Context) error {
			return s.Store.Tx(ctx, store.Repeatable, func(ctx context.Context, tx *ent.Tx) (err error) {
				removed, done, err = s.foldSome(ctx, tx, deploymentID)
				if ent.IsNotFound(err) {
					err = journal.ErrChanged
				}
				return err
			})
		})
		if err != nil {
			return folded, err
		}
		folded = folded || removed
	}
	return folded, nil
}

// foldSome removes the oldest lines of a log, and with the last of them the other details. It reports whether it has
// removed any, and whether nothing is left.
func (s *Service) foldSome(ctx context.Context, tx *ent.Tx, deploymentID string) (removed, done bool, err error) {
	d, err := state.Find(ctx, tx.Deployment, deploymentID)
	if err != nil || d.CompletedAt == nil || d.DetailsFoldedAt != nil {
		return false, true, err
	}

	u := d.Update().Where(deployment.Version(d.Version))
	removed, done, err = foldLog(ctx, tx, d, u.Mutation())
	if err != nil {
		return false, false, err
	}

	if done {
		u.SetDetailsFoldedAt(s.Journal.Now())
		others, err := foldOthers(d, u)
		if err != nil {
			return false, false, err
		}
		removed = removed || others
	}

	if removed {
		u.AddVersion(1)
	}
	return removed, done, u.Exec(ctx)
}

// foldLog removes the oldest lines of a log, and reports whether there were any and whether no others are left.
func foldLog(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, update *ent.DeploymentMutation,
) (removed, done bool, err error) {
	if d.LogLines == int64(d.FoldedLogLines) {
		return false, true, nil
	}
	first, err := tx.DeploymentLog.Query().Where(deploymentlog.DeploymentID(d.ID)).
		Order(ent.Asc(deploymentlog.FieldSequence)).Offset(linesAtOnce).First(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return false, false, err
	}
	return true, first == nil, dropLines(ctx, tx, d, update, first)
}

// foldOthers removes the events and the states of listeners in an update, and reports whether there were any.
func foldOthers(d *ent.Deployment, u *ent.DeploymentUpdateOne) (bool, error) {
	data, err := d.Data.Data()
	if err != nil {
		return false, err
	}

	if data == nil {
		events, folded := event.FoldAll(d.Events, d.FoldedEvents)
		if folded == d.FoldedEvents {
			return false, nil
		}
		u.SetEvents(events).SetFoldedEvents(folded)
		return true, nil
	}

	events, folded := event.FoldAll(data.Events, d.FoldedEvents)
	if folded == d.FoldedEvents && len(data.ELBListenerState) == 0 {
		return false, nil
	}

	if folded != d.FoldedEvents {
		data.Events = events
	}
	data.ELBListenerState = nil
	state.SetData(u, data).SetFoldedEvents(folded)

	return true, nil
}
