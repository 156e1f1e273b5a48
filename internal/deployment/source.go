package deployment

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/ent/moduleversion"
	"slipway/ent/quarantine"
	entrelease "slipway/ent/release"
	"slipway/internal/ecs"
)

// source is a deployment that may be replayed, and everything that decides whether it may: read in one
// statement, however many there are.
type source struct {
	*ent.Deployment
	// release is what it ships, nil where none is stored.
	release *ent.Release
	// version is the name of the release's module version.
	version string
	// quarantine is that of the release, nil where none was put on it or all are lifted. It may have
	// ended by itself.
	quarantine *ent.Quarantine
	// active is the instance's active deployment, as far as inProgress tells of it; nil for none.
	active *ent.Deployment
	// liveID is the instance's live deployment, "" for none, and live what it shipped.
	liveID string
	live   *ecs.TaskDefinition
}

// joined are the columns that come with a deployment, by the names that Value gives them by.
const (
	releaseDigest    = "release_digest"
	releaseContent   = "release_content"
	versionName      = "version_name"
	quarantineID     = "quarantine_id"
	quarantineReason = "quarantine_reason"
	quarantineBy     = "quarantine_by"
	quarantineAt     = "quarantine_at"
	quarantineUntil  = "quarantine_until"
	activeID         = "active_id"
	activeStatus     = "active_status"
	activeBy         = "active_by"
	activeAt         = "active_at"
	liveID           = "live_id"
	liveData         = "live_data"
)

// sources reads deployments with all that decides on a replay of them. Only with withLive is live read.
func sources(ctx context.Context, c *ent.DeploymentClient, withLive bool, ids ...string) ([]*source, error) {
	found, err := c.Query().Where(deployment.IDIn(ids...)).Modify(func(s *sql.Selector) { join(s, withLive) }).All(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]*source, len(found))
	for i, d := range found {
		if list[i], err = sourceOf(d); err != nil {
			return nil, fmt.Errorf("deployment: read the source %s: %w", d.ID, err)
		}
	}
	return list, nil
}

// join adds what belongs to a deployment. Every joined row is of the same organization; the version,
// which may be global, is that of a release which is.
func join(s *sql.Selector, withLive bool) {
	of := func(table string) *sql.SelectTable { return sql.Table(table).As(table + "_of") }
	r, v, q := of(entrelease.Table), of(moduleversion.Table), of(quarantine.Table)
	i, a := of(moduleinstance.Table), sql.Table(deployment.Table).As("active_of")
	owned := func(t *sql.SelectTable, on *sql.Predicate) *sql.Predicate {
		return sql.And(on, sql.ColumnsEQ(t.C("organization_id"), s.C("organization_id")))
	}
	s.LeftJoin(r).OnP(owned(r, sql.ColumnsEQ(r.C(entrelease.FieldID), s.C(deployment.FieldReleaseID))))
	s.LeftJoin(v).OnP(sql.ColumnsEQ(v.C(moduleversion.FieldID), r.C(entrelease.FieldModuleVersionID)))
	s.LeftJoin(q).OnP(owned(q, sql.And(
		sql.ColumnsEQ(q.C(quarantine.FieldReleaseID), s.C(deployment.FieldReleaseID)), sql.IsNull(q.C(quarantine.FieldLiftedAt)))))
	s.LeftJoin(i).OnP(owned(i, sql.ColumnsEQ(i.C(moduleinstance.FieldID), s.C(deployment.FieldModuleInstanceID))))
	s.LeftJoin(a).OnP(owned(a, sql.And(
		sql.ColumnsEQ(a.C(deployment.FieldModuleInstanceID), s.C(deployment.FieldModuleInstanceID)),
		sql.IsNull(a.C(deployment.FieldCompletedAt)))))
	add := func(column, as string) { s.AppendSelectAs(column, as) }
	add(r.C(entrelease.FieldDigest), releaseDigest)
	add(r.C(entrelease.FieldContent), releaseContent)
	add(v.C(moduleversion.FieldVersion), versionName)
	add(q.C(quarantine.FieldID), quarantineID)
	add(q.C(quarantine.FieldReason), quarantineReason)
	add(q.C(quarantine.FieldCreatedBy), quarantineBy)
	add(q.C(quarantine.FieldCreatedAt), quarantineAt)
	add(q.C(quarantine.FieldUntil), quarantineUntil)
	add(a.C(deployment.FieldID), activeID)
	add(a.C(deployment.FieldStatus), activeStatus)
	add(a.C(deployment.FieldCreatedBy), activeBy)
	add(a.C(deployment.FieldCreatedAt), activeAt)
	add(i.C(moduleinstance.FieldLiveDeploymentID), liveID)
	if withLive {
		l := sql.Table(deployment.Table).As("live_of")
		s.LeftJoin(l).OnP(owned(l, sql.ColumnsEQ(l.C(deployment.FieldID), i.C(moduleinstance.FieldLiveDeploymentID))))
		add(l.C(deployment.FieldData), liveData)
	}
}

func sourceOf(d *ent.Deployment) (*source, error) {
	row := row{of: d}
	s := &source{Deployment: d, version: row.text(versionName), liveID: row.text(liveID)}
	if digest := row.text(releaseDigest); digest != "" {
		s.release = &ent.Release{ID: *d.ReleaseID, Digest: digest, Content: row.text(releaseContent)}
	}
	if id := row.text(quarantineID); id != "" {
		s.quarantine = &ent.Quarantine{
			ID: id, Reason: row.text(quarantineReason), CreatedBy: row.text(quarantineBy), CreatedAt: row.time(quarantineAt),
		}
		if until := row.time(quarantineUntil); !until.IsZero() {
			s.quarantine.Until = &until
		}
	}
	if id := row.text(activeID); id != "" {
		s.active = &ent.Deployment{
			ID: id, Status: deployment.Status(row.text(activeStatus)), CreatedBy: row.text(activeBy), CreatedAt: row.time(activeAt),
		}
	}
	if text := row.text(liveData); text != "" {
		var column ecs.Column
		if err := column.Scan(text); err != nil {
			return nil, err
		}
		live, err := column.Data()
		if err != nil {
			return nil, err
		}
		s.live = live.DeployedTaskDefinition
	}
	return s, row.err
}

// row reads the joined columns of a deployment: "" and the zero time for null.
type row struct {
	of  *ent.Deployment
	err error
}

func (r *row) text(column string) string {
	switch value := r.value(column).(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case nil:
		return ""
	default:
		r.err = fmt.Errorf("column %s is %T", column, value)
		return ""
	}
}

func (r *row) time(column string) time.Time {
	switch value := r.value(column).(type) {
	case time.Time:
		return value
	case nil:
		return time.Time{}
	default:
		r.err = fmt.Errorf("column %s is %T", column, value)
		return time.Time{}
	}
}

func (r *row) value(column string) any {
	value, err := r.of.Value(column)
	if err != nil {
		// What was not selected is not there, as live_data.
		return nil
	}
	return value
}
