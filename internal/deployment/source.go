package deployment

import (
	"context"
	"fmt"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/id"
	"slipway/internal/optional"
	"slipway/internal/rule"
	"slipway/internal/store"
)

// source is a deployment that may be replayed, and everything that decides whether it may, but for what its release
// ships: read in one statement, however many there are.
type source struct {
	ID, ProjectID, EnvironmentID, TriggerSource string

	Status    deployment.Status
	ReleaseID *string

	// Quarantine is the one of its release that is open, and Setbacks what the cloud says against it.
	Quarantine openQuarantineRow
	Setbacks   *string
	// reputation is what speaks against it, with what it was promoted from.
	reputation reputation

	// ActiveID and what follows are of the instance's active deployment.
	ActiveID     *string
	ActiveStatus *deployment.Status
	ActiveBy     *string
	ActiveAt     *time.Time
	CancelAt     *time.Time
	CancelBy     *string

	// ModuleInstanceID is its instance, ServiceARN the service that it names, and ServiceOwnerID the instance that this
	// belongs to, nil where that is not written down.
	ModuleInstanceID           string
	ServiceARN, ServiceOwnerID *string

	// ArchivedAt is when the instance was archived, nil where it was not.
	ArchivedAt *time.Time

	// ForcedID is the deployment that was canceled by force since the instance's live one, and Drift how what is there
	// differs from what that made.
	ForcedID, Drift *string

	// IsRuled is whether its organization has rules in force, Waiting how many deployments of its instance wait for approvals, and
	// PromotedFrom what it was promoted from, nil for nothing.
	IsRuled      bool
	PromotedFrom *string
	Waiting      int
	// LiveID is the instance's live deployment.
	LiveID *string
	// ReplacesLive is whether the release is live still that was so when it began to wait for approvals; true for one that
	// does not wait.
	ReplacesLive bool

	// What follows is read only for one that is to be replayed. Rules are those in force where it is, as rule.Decode reads them.
	// Digest and Content are of the release, nil where none is stored; Version is the name of its module version.
	Rules                                     *string
	OrganizationID, DeploymentType, CreatedBy string
	CompletedAt                               *time.Time
	Digest, Content, Version                  *string
	ResourceARN, ResourceName, GivenFrom      *string
	Data, LiveData                            ecs.Column
}

// column is what a source has of a column: its name in the statement, and where it is read to.
type column struct {
	name string
	of   func(*source) any
}

// sourceColumns are the columns of every source, replayColumns those of one that is to be replayed besides.
var (
	sourceColumns = []column{
		{`"d"."id"`, func(s *source) any { return &s.ID }},
		{`"d"."project_id"`, func(s *source) any { return &s.ProjectID }},
		{`"d"."environment_id"`, func(s *source) any { return &s.EnvironmentID }},
		{`"d"."trigger_source"`, func(s *source) any { return &s.TriggerSource }},
		{`"d"."status"`, func(s *source) any { return &s.Status }},
		{`"d"."release_id"`, func(s *source) any { return &s.ReleaseID }},
		{`"q"."id"`, func(s *source) any { return &s.Quarantine.id }},
		{`"q"."release_id"`, func(s *source) any { return &s.Quarantine.releaseID }},
		{`"q"."reason"`, func(s *source) any { return &s.Quarantine.reason }},
		{`"q"."created_by"`, func(s *source) any { return &s.Quarantine.by }},
		{`"q"."created_at"`, func(s *source) any { return &s.Quarantine.at }},
		{`"q"."until"`, func(s *source) any { return &s.Quarantine.until }},
		{`"d"."setbacks"`, func(s *source) any { return &s.Setbacks }},
		{`"a"."id"`, func(s *source) any { return &s.ActiveID }},
		{`"a"."status"`, func(s *source) any { return &s.ActiveStatus }},
		{`"a"."created_by"`, func(s *source) any { return &s.ActiveBy }},
		{`"a"."created_at"`, func(s *source) any { return &s.ActiveAt }},
		{`"a"."cancel_requested_at"`, func(s *source) any { return &s.CancelAt }},
		{`"a"."cancel_requested_by"`, func(s *source) any { return &s.CancelBy }},
		{`"d"."module_instance_id"`, func(s *source) any { return &s.ModuleInstanceID }},
		{`"d"."service_arn"`, func(s *source) any { return &s.ServiceARN }},
		{`"s"."module_instance_id"`, func(s *source) any { return &s.ServiceOwnerID }},
		{`"i"."forced_deployment_id"`, func(s *source) any { return &s.ForcedID }},
		{`"i"."drift_message"`, func(s *source) any { return &s.Drift }},
		{`"i"."archived_at"`, func(s *source) any { return &s.ArchivedAt }},
		{`"i"."live_deployment_id"`, func(s *source) any { return &s.LiveID }},
		{replacesHere, func(s *source) any { return &s.ReplacesLive }},
		{rule.Any(`"d"."organization_id"`), func(s *source) any { return &s.IsRuled }},
		{`"d"."promoted_from"`, func(s *source) any { return &s.PromotedFrom }},
		{waitingCount(`"d"."organization_id"`, `"d"."module_instance_id"`), func(s *source) any { return &s.Waiting }},
	}
	replayColumns = []column{
		{rulesHere, func(s *source) any { return &s.Rules }},
		{`"d"."organization_id"`, func(s *source) any { return &s.OrganizationID }},
		{`"d"."deployment_type"`, func(s *source) any { return &s.DeploymentType }},
		{`"d"."created_by"`, func(s *source) any { return &s.CreatedBy }},
		{`"d"."completed_at"`, func(s *source) any { return &s.CompletedAt }},
		{`"r"."digest"`, func(s *source) any { return &s.Digest }},
		{`"r"."content"`, func(s *source) any { return &s.Content }},
		{`"v"."version"`, func(s *source) any { return &s.Version }},
		{`"d"."resource_arn"`, func(s *source) any { return &s.ResourceARN }},
		{`"d"."resource_name"`, func(s *source) any { return &s.ResourceName }},
		{`"d"."given_from"`, func(s *source) any { return &s.GivenFrom }},
		{`"d"."data"`, func(s *source) any { return &s.Data }},
		{`"l"."data"`, func(s *source) any { return &s.LiveData }},
	}
)

// What belongs to a source, and to one that is to be replayed besides. Every joined row is of the same organization;
// the version, which may be global, is that of a release which is. That an active deployment was not started outside is
// said in the words of the index of the active ones.
var (
	sourceTables = ` FROM "deployments" AS "d"
LEFT JOIN "quarantines" AS "q" ON "q"."release_id" = "d"."release_id" AND "q"."lifted_at" IS NULL AND "q"."organization_id" = "d"."organization_id"
LEFT JOIN "module_instances" AS "i" ON "i"."id" = "d"."module_instance_id" AND "i"."organization_id" = "d"."organization_id"
LEFT JOIN "cloud_services" AS "s" ON "s"."service_arn" = "d"."service_arn" AND "s"."organization_id" = "d"."organization_id"
LEFT JOIN "deployments" AS "a" ON "a"."module_instance_id" = "d"."module_instance_id" AND ` + store.InProgress(`"a".`) + `
	AND "a"."organization_id" = "d"."organization_id"`
	replayTables = `
LEFT JOIN "releases" AS "r" ON "r"."id" = "d"."release_id" AND "r"."organization_id" = "d"."organization_id"
LEFT JOIN "module_versions" AS "v" ON "v"."id" = "r"."module_version_id"
LEFT JOIN "deployments" AS "l" ON "l"."id" = "i"."live_deployment_id" AND "l"."organization_id" = "d"."organization_id"`
)

// sourceTexts are the statements that read the sources of a list of ids, and one that is to be replayed.
type sourceTexts struct{ list, replay string }

var (
	sourceTextsOf = map[bool]sourceTexts{false: newSourceTexts(false), true: newSourceTexts(true)} // by whether the database is PostgreSQL
	toReplay      = append(sourceColumns[:len(sourceColumns):len(sourceColumns)], replayColumns...)
)

// rulesHere and replacesHere are in the places of expressions of which each database has its own.
const rulesHere, replacesHere = "{rules}", "{replaces}"

func newSourceTexts(postgres bool) sourceTexts {
	expressions := strings.NewReplacer(
		rulesHere, rule.InForce(`"d"."organization_id"`, `"d"."project_id"`, `"d"."environment_id"`, postgres),
		replacesHere, `CASE WHEN "d"."status" = 'AWAITING_APPROVAL' THEN `+
			replacesLive(postgres, `"d"."organization_id"`, `"d"."module_instance_id"`, `"d"."replaces_id"`)+` ELSE true END`)
	return sourceTexts{
		list:   expressions.Replace("SELECT " + names(sourceColumns) + sourceTables + " WHERE " + store.Among(`"d"."id"`, `"d"."organization_id"`, postgres)),
		replay: expressions.Replace("SELECT " + names(toReplay) + sourceTables + replayTables + ` WHERE "d"."id" = $1 AND "d"."organization_id" = $2`),
	}
}

func names(columns []column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.name)
	}
	return strings.Join(all, ", ")
}

// scanSource reads a source of a row.
func scanSource(row store.Rows, columns []column) (*source, error) {
	s := &source{}
	targets := make([]any, len(columns))
	for i, c := range columns {
		targets[i] = c.of(s)
	}
	return s, row.Scan(targets...)
}

// readSources reads deployments with all that decides on a replay of them, but for what their releases ship.
func (s *Service) readSources(ctx context.Context, read store.Reader, ids []string) ([]*source, error) {
	var found []*source
	args := []any{s.Store.List(ids), store.Scope(actor.From(ctx))}
	err := read(ctx, sourceTextsOf[s.Store.Postgres()].list, args, func(row store.Rows) error {
		from, err := scanSource(row, sourceColumns)
		found = append(found, from)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, s.addReputations(ctx, read, found)
}

// addReputations notes what speaks against sources. Only what was promoted takes a statement more.
func (s *Service) addReputations(ctx context.Context, read store.Reader, list []*source) error {
	var promoted []string
	for _, from := range list {
		setbacks, err := decodeSetbacks(from.Setbacks)
		if err != nil {
			return err
		}
		from.reputation = reputation{optional.OrZero(from.ReleaseID), from.Quarantine.appendTo(nil), setbacks}
		if from.PromotedFrom != nil {
			promoted = append(promoted, from.ID)
		}
	}
	of, err := s.reputations(ctx, read, promoted)
	for _, from := range list {
		if known, ok := of[from.ID]; ok {
			from.reputation = known
		}
	}
	return err
}

// findSource reads a deployment that is to be replayed, or returns DeploymentNotFound.
func (s *Service) findSource(ctx context.Context, tx *ent.Tx, sourceID string) (found *source, err error) {
	if err := store.CheckID(id.Deployment, sourceID, fault.DeploymentNotFound); err != nil {
		return nil, err
	}
	read, args := store.InTx(tx), []any{sourceID, store.Scope(actor.From(ctx))}
	err = read(ctx, sourceTextsOf[s.Store.Postgres()].replay, args, func(row store.Rows) (err error) {
		found, err = scanSource(row, toReplay)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, store.NotFound(sourceID, fault.DeploymentNotFound)
	}
	return found, s.addReputations(ctx, read, []*source{found})
}

// proposal returns what a replay of the source by a mode comes to at a time, as far as the source tells; its rules are still to
// be read.
func (s *source) proposal(m replayMode, at time.Time) *proposal {
	p := &proposal{
		operation: m.operation, place: actor.Place{ProjectID: s.ProjectID, EnvironmentID: s.EnvironmentID}, instanceID: s.ModuleInstanceID,
		digest: optional.OrZero(s.Digest), content: optional.OrZero(s.Content), live: optional.OrZero(s.LiveID), active: s.active(), waiting: s.Waiting,
		facts: gate.Facts{Operation: m.operation, SucceededHere: s.Status == deployment.StatusSUCCEEDED},
	}
	if q := s.reputation.quarantine(at); q != nil {
		p.quarantine = q.ID
	}
	p.takenBack = s.takenBack()
	return p
}

// proposalWithRules is proposal with the rules that came with the source.
func (s *source) proposalWithRules(ctx context.Context, m replayMode, at time.Time) (p *proposal, err error) {
	p = s.proposal(m, at)
	p.rules, err = rule.Decode(ctx, s.Rules)
	return p, err
}

// promotedTo returns what the source was promoted from, where a replay by a mode is judged by that; nil for nothing.
func (s *source) promotedTo(m replayMode) *string {
	if m.operation != gate.Redeploy {
		return nil
	}
	return s.PromotedFrom
}

// checkMay returns why an actor may not replay so where the source is, nil where it may.
func (s *source) checkMay(a *actor.Actor, m replayMode) error {
	return access.CheckIn(a, m.permission, actor.Place{ProjectID: s.ProjectID, EnvironmentID: s.EnvironmentID}, m.forbidden)
}

// takenBack returns what the cloud did with it after its success, nil for nothing.
func (s *source) takenBack() *ecs.Setback {
	if s.Status != deployment.StatusSUCCEEDED {
		return nil
	}
	return s.reputation.takenBack()
}

// concerns are those of its instance, and that the cloud has taken it back, unless the drift of the instance says so.
func (s *source) concerns() concerns {
	c := concerns{forcedID: s.ForcedID, drift: s.Drift}
	if back := s.takenBack(); back != nil && (s.Drift == nil || optional.OrZero(s.LiveID) != s.ID) {
		c.takenBack = new(fmt.Sprintf("The deployment %s had succeeded, but %s", s.ID, cloudSays(back)))
	}
	return c
}

// release returns its release, nil where none is stored.
func (s *source) release() *ent.Release {
	if s.Digest == nil {
		return nil
	}
	return &ent.Release{ID: *s.ReleaseID, Digest: *s.Digest, Content: *s.Content}
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
