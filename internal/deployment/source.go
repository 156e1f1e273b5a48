package deployment

import (
	"context"
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
	ID               string            `sql:"id"`
	OrganizationID   string            `sql:"organization_id"`
	ProjectID        string            `sql:"project_id"`
	EnvironmentID    string            `sql:"environment_id"`
	ModuleInstanceID string            `sql:"module_instance_id"`
	DeploymentType   string            `sql:"deployment_type"`
	Status           deployment.Status `sql:"status"`
	CreatedBy        string            `sql:"created_by"`
	CompletedAt      *time.Time        `sql:"completed_at"`

	// ReleaseID is nil where no release is stored; Version is the name of its module version.
	ReleaseID *string `sql:"release_id"`
	Digest    *string `sql:"release_digest"`
	Content   *string `sql:"release_content"`
	Version   *string `sql:"version_name"`

	// QuarantineID and what follows are of the quarantine that is open, which may have ended by itself.
	QuarantineID     *string    `sql:"quarantine_id"`
	QuarantineReason *string    `sql:"quarantine_reason"`
	QuarantineBy     *string    `sql:"quarantine_by"`
	QuarantineAt     *time.Time `sql:"quarantine_at"`
	QuarantineUntil  *time.Time `sql:"quarantine_until"`

	// ActiveID and what follows are of the instance's active deployment.
	ActiveID     *string            `sql:"active_id"`
	ActiveStatus *deployment.Status `sql:"active_status"`
	ActiveBy     *string            `sql:"active_by"`
	ActiveAt     *time.Time         `sql:"active_at"`
	CancelAt     *time.Time         `sql:"cancel_at"`
	CancelBy     *string            `sql:"cancel_by"`

	// LiveID is the instance's live deployment, ForcedID the one that was canceled by force since.
	LiveID   *string `sql:"live_id"`
	ForcedID *string `sql:"forced_id"`

	// What a replay takes over is read only for one that is to be made.
	ResourceARN  *string    `sql:"resource_arn"`
	ResourceName *string    `sql:"resource_name"`
	Data         ecs.Column `sql:"data"`
	LiveData     ecs.Column `sql:"live_data"`
}

// release gives what it ships, nil where none is stored.
func (s *source) release() *ent.Release {
	if s.Digest == nil {
		return nil
	}
	return &ent.Release{ID: *s.ReleaseID, Digest: *s.Digest, Content: *s.Content}
}

// quarantine gives the open quarantine of the release, or nil.
func (s *source) quarantine() *ent.Quarantine {
	if s.QuarantineID == nil {
		return nil
	}
	return &ent.Quarantine{
		ID: *s.QuarantineID, Reason: *s.QuarantineReason, CreatedBy: *s.QuarantineBy, CreatedAt: *s.QuarantineAt, Until: s.QuarantineUntil,
	}
}

// active gives the active deployment of the instance, as far as inProgress tells of it, or nil.
func (s *source) active() *ent.Deployment {
	if s.ActiveID == nil {
		return nil
	}
	return &ent.Deployment{
		ID: *s.ActiveID, Status: *s.ActiveStatus, CreatedBy: *s.ActiveBy, CreatedAt: *s.ActiveAt,
		CancelRequestedAt: s.CancelAt, CancelRequestedBy: s.CancelBy,
	}
}

// sources reads deployments with all that decides on a replay of them, and where toReplay is set with
// what a replay takes over.
func sources(ctx context.Context, c *ent.DeploymentClient, toReplay bool, ids ...string) ([]*source, error) {
	var found []*source
	err := c.Query().Where(deployment.IDIn(ids...)).
		Modify(func(s *sql.Selector) { join(s, toReplay) }).
		Scan(ctx, &found)
	return found, err
}

// join adds what belongs to a deployment. Every joined row is of the same organization; the version,
// which may be global, is that of a release which is.
func join(s *sql.Selector, toReplay bool) {
	owned := func(t *sql.SelectTable, on ...*sql.Predicate) *sql.Predicate {
		return sql.And(append(on, sql.ColumnsEQ(t.C("organization_id"), s.C("organization_id")))...)
	}
	r, v, q := sql.Table(entrelease.Table).As("r"), sql.Table(moduleversion.Table).As("v"), sql.Table(quarantine.Table).As("q")
	i, a := sql.Table(moduleinstance.Table).As("i"), sql.Table(deployment.Table).As("a")
	s.LeftJoin(r).OnP(owned(r, sql.ColumnsEQ(r.C(entrelease.FieldID), s.C(deployment.FieldReleaseID))))
	s.LeftJoin(v).OnP(sql.ColumnsEQ(v.C(moduleversion.FieldID), r.C(entrelease.FieldModuleVersionID)))
	s.LeftJoin(q).OnP(owned(q, sql.ColumnsEQ(q.C(quarantine.FieldReleaseID), s.C(deployment.FieldReleaseID)),
		sql.IsNull(q.C(quarantine.FieldLiftedAt))))
	s.LeftJoin(i).OnP(owned(i, sql.ColumnsEQ(i.C(moduleinstance.FieldID), s.C(deployment.FieldModuleInstanceID))))
	s.LeftJoin(a).OnP(owned(a, sql.ColumnsEQ(a.C(deployment.FieldModuleInstanceID), s.C(deployment.FieldModuleInstanceID)),
		sql.IsNull(a.C(deployment.FieldCompletedAt))))
	s.Select(s.Columns(deployment.FieldID, deployment.FieldOrganizationID, deployment.FieldProjectID, deployment.FieldEnvironmentID,
		deployment.FieldModuleInstanceID, deployment.FieldDeploymentType, deployment.FieldStatus, deployment.FieldCreatedBy,
		deployment.FieldCompletedAt, deployment.FieldReleaseID)...)
	for _, c := range []struct{ column, as string }{
		{r.C(entrelease.FieldDigest), "release_digest"},
		{r.C(entrelease.FieldContent), "release_content"},
		{v.C(moduleversion.FieldVersion), "version_name"},
		{q.C(quarantine.FieldID), "quarantine_id"},
		{q.C(quarantine.FieldReason), "quarantine_reason"},
		{q.C(quarantine.FieldCreatedBy), "quarantine_by"},
		{q.C(quarantine.FieldCreatedAt), "quarantine_at"},
		{q.C(quarantine.FieldUntil), "quarantine_until"},
		{a.C(deployment.FieldID), "active_id"},
		{a.C(deployment.FieldStatus), "active_status"},
		{a.C(deployment.FieldCreatedBy), "active_by"},
		{a.C(deployment.FieldCreatedAt), "active_at"},
		{a.C(deployment.FieldCancelRequestedAt), "cancel_at"},
		{a.C(deployment.FieldCancelRequestedBy), "cancel_by"},
		{i.C(moduleinstance.FieldLiveDeploymentID), "live_id"},
		{i.C(moduleinstance.FieldForcedDeploymentID), "forced_id"},
	} {
		s.AppendSelectAs(c.column, c.as)
	}
	if toReplay {
		l := sql.Table(deployment.Table).As("l")
		s.LeftJoin(l).OnP(owned(l, sql.ColumnsEQ(l.C(deployment.FieldID), i.C(moduleinstance.FieldLiveDeploymentID))))
		s.AppendSelect(s.Columns(deployment.FieldResourceArn, deployment.FieldResourceName, deployment.FieldData)...)
		s.AppendSelectAs(l.C(deployment.FieldData), "live_data")
	}
}
