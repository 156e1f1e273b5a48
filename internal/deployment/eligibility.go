package deployment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/ent/moduleversion"
	"slipway/ent/quarantine"
	entrelease "slipway/ent/release"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/record"
	"slipway/internal/release"
	"slipway/internal/store"
)

// Eligibility is whether a deployment could be replayed now, and why not.
type Eligibility struct {
	Allowed bool
	// Code and Message are those of the refusal, nil where it is allowed.
	Code    *string
	Message *string
	// BlockedBy is the active deployment that stands in the way, or nil.
	BlockedBy *record.Deployment
	// Warning is what to look at beforehand, nil where there is nothing.
	Warning *string
}

// Eligibilities are those of one deployment.
type Eligibilities struct{ Rollback, Redeploy *Eligibility }

// Eligibilities returns, for each deployment of the ids that there is, whether the actor could roll back to it or
// redeploy it now. Rollback and Redeploy make the same check, so they do what this says, unless something
// has changed in between. It takes two statements however many ids there are.
func (s *Service) Eligibilities(ctx context.Context, ids []string) (map[string]Eligibilities, error) {
	list, err := s.readSources(ctx, ids)
	if err != nil {
		return nil, err
	}
	blockers, err := s.blockers(ctx, list)
	if err != nil {
		return nil, err
	}
	of := make(map[string]Eligibilities, len(list))
	for _, from := range list {
		var both Eligibilities
		if both.Rollback, err = s.eligibility(ctx, rollback, from, blockers); err != nil {
			return nil, err
		}
		if both.Redeploy, err = s.eligibility(ctx, redeploy, from, blockers); err != nil {
			return nil, err
		}
		of[from.ID] = both
	}
	return of, nil
}

// blockers returns the active deployments that stand in the way, by their ids.
func (s *Service) blockers(ctx context.Context, list []*source) (map[string]*record.Deployment, error) {
	of := map[string]*record.Deployment{}
	var ids []string
	for _, from := range list {
		if from.ActiveID != nil && !slices.Contains(ids, *from.ActiveID) {
			ids = append(ids, *from.ActiveID)
		}
	}
	if len(ids) == 0 {
		return of, nil
	}
	active, err := s.DeploymentsByID(ctx, ids)
	for _, d := range active {
		of[d.ID] = d
	}
	return of, err
}

func (s *Service) eligibility(ctx context.Context, m replayMode, from *source, blockers map[string]*record.Deployment) (*Eligibility, error) {
	warning := forcedWarning(from.ForcedID)
	_, err := s.checkReplayable(actor.From(ctx), m, from, s.Journal.Now())
	if err == nil {
		return &Eligibility{Allowed: true, Warning: warning}, nil
	}
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return nil, err
	}
	e := &Eligibility{Code: new(string(refusal.Code)), Message: &refusal.Message, Warning: warning}
	if refusal.Code == fault.DeploymentInProgress {
		e.BlockedBy = blockers[*from.ActiveID]
	}
	return e, nil
}

// checkReplayable returns what the release of a source ships, or why it may not be replayed at a time. Rollback,
// Redeploy and Eligibilities all ask it, so a replay cannot be offered and then refused by another rule. The order of
// the checks decides which of several reasons is returned.
func (s *Service) checkReplayable(a *actor.Actor, m replayMode, from *source, at time.Time) (release.Content, error) {
	in := actor.Place{ProjectID: from.ProjectID, EnvironmentID: from.EnvironmentID}
	if err := access.CheckIn(a, access.Deploy, in, fault.DeploymentForbidden); err != nil {
		return release.Content{}, err
	}
	if from.TriggerSource == TriggerEvent {
		return release.Content{}, noRelease(from.ID)
	}
	if err := m.check(from); err != nil {
		return release.Content{}, err
	}
	r := from.release()
	content, err := verifiedContent(from.ID, r)
	if err != nil {
		return release.Content{}, err
	}
	if err := checkNotQuarantined(r.ID, from.quarantine(), at); err != nil {
		return release.Content{}, err
	}
	if active := from.active(); active != nil {
		return release.Content{}, s.inProgress(active)
	}
	return content, nil
}

// forcedWarning returns the warning of a deployment that was canceled by force, nil where there is none.
func forcedWarning(deploymentID *string) *string {
	if deploymentID == nil {
		return nil
	}
	return new(fmt.Sprintf("The deployment %s was canceled by force: its program may still have been at work. See what it changed first.", *deploymentID))
}

// source is a deployment that may be replayed, and everything that decides whether it may: read in one
// statement, however many there are.
type source struct {
	ID               string            `sql:"id"`
	OrganizationID   string            `sql:"organization_id"`
	ProjectID        string            `sql:"project_id"`
	EnvironmentID    string            `sql:"environment_id"`
	ModuleInstanceID string            `sql:"module_instance_id"`
	DeploymentType   string            `sql:"deployment_type"`
	TriggerSource    string            `sql:"trigger_source"`
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

// release returns its release, nil where none is stored.
func (s *source) release() *ent.Release {
	if s.Digest == nil {
		return nil
	}
	return &ent.Release{ID: *s.ReleaseID, Digest: *s.Digest, Content: *s.Content}
}

// quarantine returns the open quarantine of the release, or nil.
func (s *source) quarantine() *ent.Quarantine {
	if s.QuarantineID == nil {
		return nil
	}
	return &ent.Quarantine{
		ID: *s.QuarantineID, Reason: *s.QuarantineReason, CreatedBy: *s.QuarantineBy, CreatedAt: *s.QuarantineAt, Until: s.QuarantineUntil,
	}
}

// active returns the active deployment of the instance, as far as inProgress describes it, or nil.
func (s *source) active() *ent.Deployment {
	if s.ActiveID == nil {
		return nil
	}
	return &ent.Deployment{
		ID: *s.ActiveID, Status: *s.ActiveStatus, CreatedBy: *s.ActiveBy, CreatedAt: *s.ActiveAt,
		CancelRequestedAt: s.CancelAt, CancelRequestedBy: s.CancelBy,
	}
}

// readSources reads deployments with all that decides on a replay of them.
func (s *Service) readSources(ctx context.Context, ids []string) ([]*source, error) {
	var found []*source
	err := s.Store.Client.Deployment.Query().Where(deployment.IDIn(ids...)).
		Modify(func(s *sql.Selector) { join(s, false) }).
		Scan(ctx, &found)
	return found, err
}

// sourceTexts are the statement that reads the deployment of an id and an organization with all that decides on a
// replay of it, and what a replay takes over; by whether the database is PostgreSQL. They are written once, because
// that takes more than half of the memory of a replay.
var sourceTexts = map[bool]string{true: sourceText(dialect.Postgres), false: sourceText(dialect.SQLite)}

func sourceText(name string) string {
	s := sql.Dialect(name).Select().From(sql.Table(deployment.Table))
	s.Where(sql.And(sql.EQ(s.C(deployment.FieldID), ""), sql.EQ(s.C(deployment.FieldOrganizationID), "")))
	join(s, true)
	text, _ := s.Query()
	return text
}

// findSource reads a deployment that is to be replayed, or returns DeploymentNotFound.
func (s *Service) findSource(ctx context.Context, tx *ent.Tx, sourceID string) (*source, error) {
	if err := store.CheckID(id.Deployment, sourceID, fault.DeploymentNotFound); err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, sourceTexts[s.Store.Postgres()], sourceID, store.Scope(actor.From(ctx)))
	if err != nil {
		return nil, err
	}
	var found []*source
	if err := errors.Join(sql.ScanSlice(rows, &found), rows.Close()); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, store.NotFound(sourceID, fault.DeploymentNotFound)
	}
	return found[0], nil
}

// insideOnly is that a deployment was not started outside. The text is that of the index of the active ones.
func insideOnly(t *sql.SelectTable) *sql.Predicate {
	return sql.P(func(b *sql.Builder) {
		b.Ident(t.C(deployment.FieldTriggerSource)).WriteString(" <> '" + TriggerEvent + "'")
	})
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
		sql.IsNull(a.C(deployment.FieldCompletedAt)), insideOnly(a)))
	s.Select(s.Columns(deployment.FieldID, deployment.FieldOrganizationID, deployment.FieldProjectID, deployment.FieldEnvironmentID,
		deployment.FieldModuleInstanceID, deployment.FieldDeploymentType, deployment.FieldTriggerSource, deployment.FieldStatus, deployment.FieldCreatedBy,
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
