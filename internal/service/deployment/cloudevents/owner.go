package cloudevents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/cloudservice"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs/cloud"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// A service of the cloud belongs to one module instance: the first that names it in a deployment, until an admin moves
// it. Otherwise whoever may deploy somewhere could name a service of another place, and change that place's deployments
// by events.

// serviceOwner is the module instance that a service belongs to.
type serviceOwner struct {
	serviceARN, instanceID string
	place                  actor.Place
	// claimed is whether that is written down. What a server of before has written is not: then it is the instance of the
	// last deployment that has the service.
	claimed bool
}

const ownerText = `SELECT "i"."id", "i"."project_id", "i"."environment_id" FROM "cloud_services" AS "s" ` +
	`JOIN "module_instances" AS "i" ON "i"."id" = "s"."module_instance_id" ` +
	`WHERE "s"."organization_id" = $1 AND "i"."organization_id" = $1 AND "s"."service_arn" = $2`

// findOwner returns the owner of a service, nil if no deployment has had it.
func findOwner(ctx context.Context, tx *ent.Tx, serviceARN string) (o *serviceOwner, err error) {
	rows, err := tx.QueryContext(ctx, ownerText, store.Scope(actor.From(ctx)), serviceARN)
	if err != nil {
		return nil, err
	}

	found := &serviceOwner{serviceARN: serviceARN, claimed: true}
	isThere := rows.Next()
	if isThere {
		err = rows.Scan(&found.instanceID, &found.place.ProjectID, &found.place.EnvironmentID)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	if isThere {
		return found, nil
	}

	last, err := tx.Deployment.Query().Where(deployment.ServiceArn(serviceARN)).
		Order(deployment.ByCreatedAt(sql.OrderDesc()), deployment.ByID(sql.OrderDesc())).Limit(1).
		Select(deployment.FieldModuleInstanceID, deployment.FieldProjectID, deployment.FieldEnvironmentID).All(ctx)
	if err != nil || len(last) == 0 {
		return nil, err
	}
	return &serviceOwner{serviceARN: serviceARN, instanceID: last[0].ModuleInstanceID, place: state.PlaceOf(last[0])}, nil
}

// claim writes down that the service belongs to its owner.
func (o *serviceOwner) claim(ctx context.Context, tx *ent.Tx, at time.Time) error {
	o.claimed = true
	return record.Insert(ctx, tx, &ent.CloudService{
		OrganizationID: store.Scope(actor.From(ctx)), ServiceArn: o.serviceARN, ModuleInstanceID: o.instanceID,
		CreatedAt: at, UpdatedAt: at,
	})
}

// ClaimService has a service belong to the instance of a deployment that names it, and reports whether that is new. It
// fails with DeploymentResourceTaken if the service belongs to another. Of two who claim it at once the database
// lets one wait for the other.
func (s *Service) ClaimService(
	ctx context.Context, tx *ent.Tx, serviceARN, instanceID string, at time.Time,
) (claimed bool, err error) {
	owner, err := findOwner(ctx, tx, serviceARN)
	if err == nil && (owner == nil || !owner.claimed) {
		if err = s.LockService(ctx, tx, serviceARN); err == nil {
			owner, err = findOwner(ctx, tx, serviceARN)
		}
	}
	switch {
	case err != nil:
		return false, err
	case owner == nil:
		owner = &serviceOwner{serviceARN: serviceARN, instanceID: instanceID}
	case owner.instanceID != instanceID:
		return false, ResourceTaken(serviceARN, owner.instanceID)
	case owner.claimed:
		return false, nil
	}
	return true, owner.claim(ctx, tx, at)
}

// ResourceTaken returns the error of a deployment whose service belongs to another instance.
func ResourceTaken(serviceARN, instanceID string) error {
	f := fault.New(
		fault.DeploymentResourceTaken, "The service %.200q belongs to the module instance %s.", serviceARN, instanceID,
	)
	f.Metadata = map[string]any{"serviceArn": serviceARN, "moduleInstanceId": instanceID}
	return f
}

// InsertOfService is InsertDeployment for a deployment that may name a service, which belongs to its instance then.
// ownerID is the instance that the service is known to belong to, "" if that is not known.
func (s *Service) InsertOfService(
	ctx context.Context, tx *ent.Tx, e *journal.Entry, d *ent.Deployment, ownerID string,
) error {
	if d.ServiceArn == nil || ownerID == d.ModuleInstanceID {
		return state.InsertDeployment(ctx, tx, d, e.At)
	}
	claimed, err := s.ClaimService(ctx, tx, *d.ServiceArn, d.ModuleInstanceID, e.At)
	if err != nil {
		return err
	}
	if err := state.InsertDeployment(ctx, tx, d, e.At); err != nil || !claimed {
		return err
	}
	e.Changed = d
	_, err = s.FollowKnown(ctx, tx, e, *d.ServiceArn)
	return err
}

const moveAction = "moveService"

// MoveService makes a service of the cloud belong to another instance, and returns that. What was started outside and
// is under way at the former one ends there, because nobody would tell its end. It fails with RequestInvalid,
// ServiceNotFound, ModuleInstanceNotFound, ModuleInstanceArchived and ModuleInstanceForbidden: both instances must be
// within the actor's scope.
func (s *Service) MoveService(ctx context.Context, serviceARN, instanceID string) (*ent.ModuleInstance, error) {
	if err := access.CheckRole(actor.From(ctx), access.MoveServices, fault.ModuleInstanceForbidden); err != nil {
		return nil, err
	}
	if !cloud.IsServiceARN(serviceARN) {
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/serviceArn", Rule: "pattern",
			Message: fmt.Sprintf("must be the ARN of a service, found %.100q", serviceARN)})
	}
	if err := store.CheckID(id.ModuleInstance, instanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}

	var to *ent.ModuleInstance
	err := s.Journal.WriteLatest(store.Creating(ctx), moveAction,
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			if err := s.LockService(ctx, tx, serviceARN); err != nil {
				return err
			}
			to, err = tx.ModuleInstance.Get(ctx, instanceID)
			if to, err = store.NotFoundAs(to, err, instanceID, fault.ModuleInstanceNotFound); err != nil {
				return err
			}
			return s.moveService(ctx, tx, e, serviceARN, to)
		})
	if err != nil {
		return nil, err
	}
	return to, nil
}

func (s *Service) moveService(
	ctx context.Context, tx *ent.Tx, e *journal.Entry, serviceARN string, to *ent.ModuleInstance,
) error {
	a := actor.From(ctx)
	from, err := findOwner(ctx, tx, serviceARN)
	if err != nil {
		return err
	}
	target := actor.Place{ProjectID: to.ProjectID, EnvironmentID: to.EnvironmentID}
	if err := access.CheckIn(a, access.MoveServices, target, fault.ModuleInstanceForbidden); err != nil {
		return err
	}
	if from == nil {
		return fault.New(fault.ServiceNotFound, "No deployment has named the service %.200q.", serviceARN)
	}
	if err := access.CheckIn(a, access.MoveServices, from.place, fault.ModuleInstanceForbidden); err != nil {
		return err
	}
	if e.SkipAudit = from.claimed && from.instanceID == to.ID; e.SkipAudit {
		return nil
	}
	if err := state.CheckNotArchived(to.ID, to.ArchivedAt); err != nil {
		return err
	}

	e.ObjectID = to.ID
	e.Changes = map[string]any{"serviceArn": serviceARN, "moduleInstanceId": to.ID}
	if from.claimed {
		err = tx.CloudService.Update().Where(cloudservice.ServiceArn(serviceARN)).SetModuleInstanceID(to.ID).
			SetUpdatedAt(e.At).Exec(ctx)
	} else {
		err = (&serviceOwner{serviceARN: serviceARN, instanceID: to.ID}).claim(ctx, tx, e.At)
	}

	if err != nil || from.instanceID == to.ID {
		return err
	}
	left, err := endLeft(ctx, tx, e, from)
	if err != nil {
		return err
	}

	followed, err := s.followWaiting(ctx, tx, e, &serviceOwner{serviceARN, to.ID, target, true})
	e.Also = append(left, followed...)
	return err
}

// endLeft ends what was started outside, and is under way, at an instance that a service has left: all of it, because
// no event comes there any more.
func endLeft(ctx context.Context, tx *ent.Tx, e *journal.Entry, from *serviceOwner) ([]journal.Change, error) {
	open, err := tx.Deployment.Query().Where(
		deployment.ModuleInstanceID(from.instanceID), deployment.ServiceArn(from.serviceARN), isOpenOutside,
	).All(ctx)
	if err != nil {
		return nil, err
	}

	var left []journal.Change
	for _, d := range open {
		why := &fault.Data{
			Code: string(fault.DeploymentCanceled), Message: "The service was moved to another module instance.",
		}
		u := d.Update().Where(deployment.Version(d.Version)).AddVersion(1).SetUpdatedAt(e.At)
		state.SetEnded(u, deployment.StatusCANCELED, e.At, why)
		ended, err := u.Save(ctx)
		if err != nil {
			return nil, err
		}
		left = append(left, journal.Change{ObjectID: d.ID, Changes: map[string]any{"status": ended.Status}, Changed: ended})
	}

	return left, nil
}
