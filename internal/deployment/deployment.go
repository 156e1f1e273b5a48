// Package deployment has the deployments of module instances: how they are created, replayed, carried out
// and ended, and what is known of them and of their releases.
//
// A deployment ships a release: the inputs and the artifact of one module version, sealed by a digest. It is
// PENDING until a runner claims it, RUNNING under the runner's lease, and ends once, as SUCCEEDED, FAILED or
// CANCELED. An instance has at most one deployment that has not ended; the database holds that by a unique
// index. The last that succeeded is live. A rollback or a redeploy (replay.go) is a new deployment that
// ships the very release of an earlier one; whether that is allowed is decided in one place, before it is
// tried and when it is (eligibility.go).
//
// Every write is one transaction with its audit row. A change compares the version of the deployment, so that of two
// at once the second decides on what the first has done, and leaves a row for those who follow (change.go).
package deployment

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/ecs/cloud"
	"slipway/internal/event"
	"slipway/internal/fault"
	"slipway/internal/feed"
	"slipway/internal/id"
	"slipway/internal/inputvalidation"
	"slipway/internal/journal"
	"slipway/internal/meter"
	"slipway/internal/page"
	"slipway/internal/record"
	"slipway/internal/store"
)

// What starts a deployment.
const (
	TriggerAPI       = "api"
	TriggerRollback  = "rollback"
	TriggerRedeploy  = "redeploy"
	TriggerPromotion = "promotion"
	TriggerDestroy   = store.TriggerDestroy
	TriggerPipeline  = "pipeline"
	// TriggerEvent is the source of a deployment that was started outside and became known by an event of the cloud. It has
	// no release and no runner, is never live and in nobody's way, and ends as its events say.
	TriggerEvent = store.TriggerEvent
)

// Service reads and writes deployments and their releases.
type Service struct {
	Store   *store.Store
	Journal *journal.Journal
	Inputs  *inputvalidation.Service
	// Feed wakes those who follow a deployment, after each change is committed.
	Feed *feed.Feed
	// LeaseTime is how long a lease lasts unless it is renewed; DefaultLease where it is 0.
	LeaseTime time.Duration
	// CancelTimeout is how long a program may take to end once its cancellation was requested;
	// DefaultCancelTimeout where it is 0.
	CancelTimeout time.Duration
	// Log gets a line for events of the cloud that were removed because they fit no deployment.
	Log *slog.Logger
	// BaseURL is where the API is reached, for links in errors; without a slash at its end.
	BaseURL string
	// Runners, where it is not nil, hears of each runner that asks for work.
	Runners *Runners
}

// Deployment returns one deployment, or DeploymentNotFound.
func (s *Service) Deployment(ctx context.Context, deploymentID string) (*record.Deployment, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	return record.Deployments.In(s.Store).ByID(ctx, deploymentID, fault.DeploymentNotFound)
}

func find(ctx context.Context, c *ent.DeploymentClient, deploymentID string) (*ent.Deployment, error) {
	return store.Find(ctx, c.Get, id.Deployment, deploymentID, fault.DeploymentNotFound)
}

// placeOf returns the project and the environment of a deployment.
func placeOf(d *ent.Deployment) actor.Place {
	return actor.Place{ProjectID: d.ProjectID, EnvironmentID: d.EnvironmentID}
}

// DeploymentsByID returns the deployments of the ids that there are, in no order.
func (s *Service) DeploymentsByID(ctx context.Context, ids []string) ([]*record.Deployment, error) {
	return record.Deployments.In(s.Store).ByIDs(ctx, ids)
}

// Filter has conditions on deployments; nil ones do not count.
type Filter struct {
	ModuleInstanceID *string
	EnvironmentID    *string
	ProjectID        *string
	Status           *deployment.Status
	Kind             *string
	CreatedFrom      *time.Time
	CreatedBefore    *time.Time
	// Overridden has those kept that went past rules, or those that did not.
	Overridden *bool `json:",omitempty"` // of which a cursor without it knows nothing, as of the next
	// AwaitingMyApproval has those kept that wait for an approval which the actor could give. Only a list knows it.
	AwaitingMyApproval bool `json:",omitempty"`
}

// comparisons returns the filter as what it means, for its list as for those who follow what is in it.
func (f Filter) comparisons() []record.Comparison {
	return slices.Concat(
		record.Given(record.Equal, deployment.FieldModuleInstanceID, f.ModuleInstanceID),
		record.Given(record.Equal, deployment.FieldEnvironmentID, f.EnvironmentID),
		record.Given(record.Equal, deployment.FieldProjectID, f.ProjectID),
		record.Given(record.Equal, deployment.FieldStatus, (*string)(f.Status)),
		record.Given(record.Equal, deployment.FieldDeploymentType, f.Kind),
		record.Given(record.AtLeast, deployment.FieldCreatedAt, f.CreatedFrom),
		record.Given(record.Below, deployment.FieldCreatedAt, f.CreatedBefore),
		record.Given(record.Set, deployment.FieldOverride, f.Overridden),
	)
}

// lasting returns the conditions on what never changes of a deployment.
func (f Filter) lasting() Filter {
	f.Status, f.Overridden = nil, nil
	return f
}

// Deployments returns a page of the organization's deployments.
func (s *Service) Deployments(ctx context.Context, f Filter, args page.Args) (*page.DeploymentConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	list := record.Deployments.In(s.Store).Where(record.All(f.comparisons())...)
	if f.AwaitingMyApproval {
		mine, err := s.awaitingMine(ctx, a)
		if err != nil {
			return nil, err
		}
		list = list.Where(mine...)
	}
	scope := page.Scope{List: "deployments", Viewer: a.OrganizationID, Filter: f}
	return page.Read(ctx, list, args, scope)
}

// DeploymentsOf returns a page of the deployments of each module instance.
func (s *Service) DeploymentsOf(ctx context.Context, instanceIDs []string, args page.Args) (map[string]*page.DeploymentConnection, error) {
	return page.ReadEach(ctx, record.Deployments.In(s.Store), page.Parents{
		List: "moduleInstance.deployments", Viewer: actor.From(ctx).OrganizationID,
		Column: deployment.FieldModuleInstanceID, IDs: instanceIDs,
	}, args, func(d *record.Deployment) string { return d.ModuleInstanceID })
}

// DeploymentsOfReleases returns a page of the deployments of each release.
func (s *Service) DeploymentsOfReleases(ctx context.Context, releaseIDs []string, args page.Args) (map[string]*page.DeploymentConnection, error) {
	return page.ReadEach(ctx, record.Deployments.In(s.Store), page.Parents{
		List: "release.deployments", Viewer: actor.From(ctx).OrganizationID,
		Column: deployment.FieldReleaseID, IDs: releaseIDs,
	}, args, func(d *record.Deployment) string { return *d.ReleaseID })
}

// insertDeployment writes a new deployment of the actor's organization, made at a time; both, and its version, are set
// here.
func insertDeployment(ctx context.Context, tx *ent.Tx, d *ent.Deployment, at time.Time) error {
	d.OrganizationID, d.CreatedAt, d.UpdatedAt, d.Version = store.Scope(actor.From(ctx)), at, at, 1
	return record.Insert(ctx, tx, d)
}

// serviceOf returns the service by which the cloud's events find a deployment with such data, or nil.
func serviceOf(data *ecs.Data) *string {
	if data != nil && data.ServiceARN != nil && cloud.IsServiceARN(*data.ServiceARN) {
		return data.ServiceARN
	}
	return nil
}

// setData sets the data of a deployment, nil for a type that has none.
func setData(u *ent.DeploymentUpdateOne, data *ecs.Data) *ent.DeploymentUpdateOne {
	return u.SetData(data.Column()).SetNillableServiceArn(serviceOf(data))
}

// setSetbacks sets what speaks against a deployment, nil for nothing.
func setSetbacks(u *ent.DeploymentUpdateOne, setbacks *ecs.Setbacks) {
	if setbacks == nil {
		u.ClearSetbacks()
	} else {
		u.SetSetbacks(setbacks)
	}
}

// DataOf returns the detail of a deployment by its column, nil where its kind has none, counted as work of the
// context's request.
func DataOf(ctx context.Context, column ecs.Column) (*ecs.Data, error) {
	if err := meter.Decode(ctx, meter.Stored, column.JSON()); err != nil {
		return nil, err
	}
	return column.Data()
}

// Events returns what the runner of a deployment has reported, in order, by the columns of its data and its events. For
// aws:ecs they are part of the data.
func Events(ctx context.Context, column ecs.Column, events []event.Event) ([]event.Event, error) {
	data, err := DataOf(ctx, column)
	if err != nil || data == nil {
		return events, err
	}
	return data.Events, nil
}
