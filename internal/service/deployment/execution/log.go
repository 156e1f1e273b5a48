package execution

import (
	"context"
	"fmt"
	"math"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentlog"
	"slipway/internal/base/fault"
	"slipway/internal/data/journal"
	"slipway/internal/pure/runlog"
)

// reportLogs adds the lines of a report that has nothing else, and renews the lease.
func (s *Service) reportLogs(
	ctx context.Context, deploymentID, leaseID string, in Report,
) (reported *ent.Deployment, lease *Lease, err error) {
	write := func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, e *journal.Entry) error {
		if violations := in.check(); len(violations) > 0 {
			return fault.Invalid(fault.RequestInvalid, violations...)
		}
		if *in.Sequence <= d.ReportSequence {
			return nil
		}
		return s.takeLines(ctx, tx, e, d, in)
	}
	reported, lease, err = s.underLease(ctx, "reportDeployment", deploymentID, leaseID, write)
	if err == nil {
		s.Feed.LogChanged(deploymentID)
	}
	return reported, lease, err
}

// takeLines adds the lines of a report to the log of a deployment, and renews its lease. It fails with
// journal.ErrChanged if another report has overtaken this one, or the deployment has ended.
func (s *Service) takeLines(ctx context.Context, tx *ent.Tx, e *journal.Entry, d *ent.Deployment, in Report) error {
	until := e.Shared().Add(s.leaseTime())
	u := tx.Deployment.Update().
		Where(deployment.ID(d.ID), deployment.StatusEQ(deployment.StatusRUNNING), deployment.LeaseID(*d.LeaseID),
			deployment.ReportSequence(d.ReportSequence)).
		SetReportSequence(*in.Sequence).SetLeaseExpiresAt(until)
	if err := addLines(ctx, tx, d, u.Mutation(), in.Logs, e.At); err != nil {
		return err
	}
	n, err := u.Save(ctx)
	if err == nil && n == 0 {
		err = journal.ErrChanged
	}
	d.LeaseExpiresAt = &until
	return err
}

// addLines adds lines to the log of a deployment, removes the oldest if there are too many, and sets in an update of
// the deployment how many there are. Another report may add the same numbers at once: then the update changes nothing,
// or the rows violate a unique index.
func addLines(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, update *ent.DeploymentMutation, lines []runlog.Line, at time.Time,
) error {
	if len(lines) == 0 {
		return nil
	}
	update.Where(deployment.LogLines(d.LogLines))

	rows := make([]*ent.DeploymentLogCreate, len(lines))
	for i, l := range lines {
		text := runlog.Clean(l.Text)
		d.LogLines++
		rows[i] = tx.DeploymentLog.Create().SetOrganizationID(d.OrganizationID).SetDeploymentID(d.ID).
			SetSequence(d.LogLines).SetByteOffset(d.LogBytes).
			SetAt(timeOf(l, at)).SetStream(l.Stream).SetText(text)
		d.LogBytes += int64(len(text))
	}

	if err := tx.DeploymentLog.CreateBulk(rows...).Exec(ctx); err != nil {
		return fmt.Errorf("add %d lines: %w", len(rows), err)
	}
	update.SetLogLines(d.LogLines)
	update.SetLogBytes(d.LogBytes)

	return foldLines(ctx, tx, d, update)
}

// timeOf returns when a line was printed, as both databases keep it; at, if that is not known.
func timeOf(l runlog.Line, at time.Time) time.Time {
	if l.At == nil {
		return at
	}
	return l.At.UTC().Truncate(time.Microsecond)
}

// foldLines removes the oldest lines of a log that has too many.
func foldLines(ctx context.Context, tx *ent.Tx, d *ent.Deployment, update *ent.DeploymentMutation) error {
	folded := int64(d.FoldedLogLines)
	if d.LogBytes-d.FoldedLogBytes <= runlog.MaxBytes && d.LogLines-folded <= runlog.MaxLines {
		return nil
	}
	of := deploymentlog.DeploymentID(d.ID)
	first, err := tx.DeploymentLog.Query().
		Where(
			of, deploymentlog.SequenceGT(max(folded, d.LogLines-runlog.MaxLines)),
			deploymentlog.ByteOffsetGTE(d.LogBytes-runlog.MaxBytes),
		).
		Order(ent.Asc(deploymentlog.FieldSequence)).First(ctx)
	if err != nil {
		return fmt.Errorf("find the oldest line that is kept: %w", err)
	}
	return dropLines(ctx, tx, d, update, first)
}

// dropLines removes the lines of a log that come before one, or all if that is nil, and counts them in an update.
func dropLines(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, update *ent.DeploymentMutation, first *ent.DeploymentLog,
) error {
	if first == nil {
		first = &ent.DeploymentLog{Sequence: d.LogLines + 1, ByteOffset: d.LogBytes}
	}
	_, err := tx.DeploymentLog.Delete().Where(deploymentlog.DeploymentID(d.ID), deploymentlog.SequenceLT(first.Sequence)).
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove old lines: %w", err)
	}
	d.FoldedLogLines, d.FoldedLogBytes = int32(min(first.Sequence-1, math.MaxInt32)), first.ByteOffset
	update.SetFoldedLogLines(d.FoldedLogLines)
	update.SetFoldedLogBytes(d.FoldedLogBytes)
	return nil
}
