package state

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/fault"
	"slipway/internal/data/journal"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/inputprop"
)

// Drift is how what is there of an instance differs from what its live deployment made, as far as it is known.
type Drift struct {
	Kind    moduleinstance.DriftKind
	Since   time.Time
	Message string
	// DeploymentID is the deployment by which it is known.
	DeploymentID string
	// Instance is the instance that has drifted, if the drift was read from it.
	Instance *record.ModuleInstance
}

// DriftOf returns the drift of an instance, nil for none.
func DriftOf(i *record.ModuleInstance) *Drift {
	if i.DriftKind == nil {
		return nil
	}
	return &Drift{*i.DriftKind, i.DriftSince.UTC(), *i.DriftMessage, *i.DriftDeploymentID, i}
}

// LockInstance reads an instance, which nobody else changes until the transaction has ended. It comes before the first
// write to a deployment of the instance.
func LockInstance(ctx context.Context, s *store.Store, tx *ent.Tx, instanceID string) (*ent.ModuleInstance, error) {
	q := tx.ModuleInstance.Query().Where(moduleinstance.ID(instanceID))
	if s.Postgres() {
		q.Modify(func(s *sql.Selector) { s.For(sql.LockNoKeyUpdate) })
	}
	return q.Only(ctx)
}

// FindDrift returns how what is there differs from what a live deployment made, by what the cloud has said, nil for not
// at all.
func FindDrift(ctx context.Context, tx *ent.Tx, live *ent.Deployment) (*Drift, error) {
	outside, err := changedOutside(ctx, tx, live)
	switch {
	case err != nil:
		return nil, err
	case outside != nil:
		return &Drift{
			Kind: moduleinstance.DriftKindCHANGED_OUTSIDE, Since: *outside.CompletedAt, DeploymentID: outside.ID,
			Message: fmt.Sprintf("The deployment %s, which was started outside of Slipway, has succeeded since.", outside.ID),
		}, nil
	}
	if back := live.Setbacks.Last(); back != nil {
		return &Drift{
			Kind: moduleinstance.DriftKindROLLED_BACK, Since: back.At, DeploymentID: live.ID,
			Message: fmt.Sprintf("Of the live deployment %s, which had succeeded, %s", live.ID, CloudSays(back)),
		}, nil
	}
	return nil, nil
}

// changedOutside returns the last deployment that was started outside and has succeeded after a live one ended, by the
// cloud's time, nil for none. Of one whose end the cloud has not told, what succeeds after its start took its place.
func changedOutside(ctx context.Context, tx *ent.Tx, live *ent.Deployment) (*ent.Deployment, error) {
	ended := live.CompletedAt
	if live.CloudEndedAt != nil {
		ended = live.CloudEndedAt
	} else if live.CloudStartedAt != nil && live.ExternalDeploymentID != nil {
		ended = live.CloudStartedAt
	}
	list, err := tx.Deployment.Query().Where(
		deployment.ModuleInstanceID(live.ModuleInstanceID), succeededOutside, deployment.CompletedAtGT(*ended),
	).
		Order(deployment.ByCompletedAt(sql.OrderDesc())).Limit(1).All(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// succeededOutside is that a deployment was started outside and has ended well, in the words of the index of these.
func succeededOutside(s *sql.Selector) {
	s.Where(sql.ExprP(s.C(deployment.FieldStatus) + " = 'SUCCEEDED'")).
		Where(sql.ExprP(s.C(deployment.FieldTriggerSource) + " = '" + TriggerEvent + "'"))
}

// Set writes a drift, nil for none, into an update of its instance.
func (d *Drift) Set(u *ent.ModuleInstanceUpdateOne) *ent.ModuleInstanceUpdateOne {
	if d == nil {
		return u.ClearDriftKind().ClearDriftSince().ClearDriftMessage().ClearDriftDeploymentID()
	}
	return u.SetDriftKind(d.Kind).SetDriftSince(d.Since).SetDriftMessage(d.Message).SetDriftDeploymentID(d.DeploymentID)
}

// IsSame reports whether two drifts, each of which may be nil, are the same.
func (d *Drift) IsSame(other *Drift) bool {
	if d == nil || other == nil {
		return d == other
	}
	return d.Kind == other.Kind && d.Since.Equal(other.Since) && d.Message == other.Message &&
		d.DeploymentID == other.DeploymentID
}

// Touch leaves a change row of the deployment by which a drift is known that was found by a write of others, so that
// those who follow it hear of the drift.
func (d *Drift) Touch(ctx context.Context, tx *ent.Tx, e *journal.Entry) (*journal.Change, error) {
	of, err := tx.Deployment.Get(ctx, d.DeploymentID)
	if err != nil {
		return nil, err
	}
	touched, err := of.Update().Where(deployment.Version(of.Version)).AddVersion(1).SetUpdatedAt(e.At).Save(ctx)
	if err != nil {
		return nil, err
	}
	return &journal.Change{ObjectID: of.ID, Changes: map[string]any{"drift": d.Kind}, Changed: touched}, nil
}

// CloudSays returns what speaks against a deployment as the end of a sentence.
func CloudSays(back *ecs.Setback) string {
	text := fmt.Sprintf("its service deployment was %.100s", back.Status)
	if back.Reason == "" {
		return text + "."
	}
	return text + ": " + back.Reason
}

// RolledBack returns the error of a deployment whose program ended well although something speaks against it.
func RolledBack(back *ecs.Setback) *fault.Data {
	said := map[string]any{"status": back.Status, "at": back.At.UTC().Format(time.RFC3339Nano)}
	if back.Reason != "" {
		said["reason"] = back.Reason
	}
	if back.ServiceDeploymentARN != "" {
		said["serviceDeploymentArn"] = back.ServiceDeploymentARN
	}
	return &fault.Data{
		Code: string(fault.DeploymentRolledBack), Message: "The program of the deployment ended well, but " + CloudSays(back),
		Details: []fault.Section{{Title: "What the cloud said", Render: fault.RenderObject, Object: said}},
	}
}

// Concerns are what whoever deploys to an instance should see to first, as sentences by the name of a warning.
type Concerns struct {
	ForcedID, Drift *string
	// TakenBack is that the cloud has taken back what is to be replayed.
	TakenBack *string
}

// ConcernsOf returns those about an instance.
func ConcernsOf(i *ent.ModuleInstance) Concerns {
	return Concerns{ForcedID: i.ForcedDeploymentID, Drift: i.DriftMessage}
}

// Warnings returns the concerns as warnings at a place of the input.
func (c Concerns) Warnings(pointer string) []inputprop.Warning {
	var list []inputprop.Warning
	if c.ForcedID != nil {
		list = append(list, inputprop.Warning{Pointer: pointer, Rule: "forced", Message: fmt.Sprintf(
			"The deployment %s was canceled by force: its program may still have been at work. See what it changed first.",
			*c.ForcedID)})
	}
	if c.Drift != nil {
		list = append(
			list, inputprop.Warning{Pointer: pointer, Rule: "drift", Message: "The instance has drifted: " + *c.Drift},
		)
	}
	if c.TakenBack != nil {
		list = append(list, inputprop.Warning{Pointer: pointer, Rule: "taken_back", Message: *c.TakenBack})
	}
	return list
}
