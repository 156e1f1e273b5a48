package inputvalidation

import (
	"context"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/inputbaseline"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputvalues"
)

// UpdateBaseline stores, in the transaction of a success, what the immutable inputs of its instance are compared with
// from now on. live is the deployment that was live until then, nil for none. If the baseline does not know of it,
// as in a database from before there were baselines, that is left to the next who asks for it. It returns the module
// version that the deployment ships, nil if it has no release.
func (s *Service) UpdateBaseline(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, live *string, at time.Time,
) (*ent.ModuleVersion, error) {
	known, err := baselineOf(ctx, tx.InputBaseline, d.ModuleInstanceID)
	if err != nil {
		return nil, err
	}
	version, values, err := shipped(ctx, tx, d)
	if err != nil || !isUpTo(known, live) {
		return version, err
	}
	before, err := contentOf(known)
	if err != nil {
		return nil, err
	}
	now, err := baselineAfter(ctx, version, values, before)
	if err != nil {
		return nil, err
	}
	return version, writeBaseline(ctx, tx, known, d, now, at)
}

// ForgetBaseline stores, in the transaction of a destroy that succeeds, that the immutable inputs of its instance may
// have any value from now on.
func (s *Service) ForgetBaseline(ctx context.Context, tx *ent.Tx, d *ent.Deployment, at time.Time) error {
	known, err := baselineOf(ctx, tx.InputBaseline, d.ModuleInstanceID)
	if err != nil {
		return err
	}
	return writeBaseline(ctx, tx, known, d, nil, at)
}

func baselineOf(ctx context.Context, c *ent.InputBaselineClient, instanceID string) (*ent.InputBaseline, error) {
	known, err := c.Query().Where(inputbaseline.ModuleInstanceID(instanceID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return known, err
}

// isUpTo reports whether a deployment is the last that a baseline takes into account, or if none is live, that it is
// that of the destroy before, or that there is none of either.
func isUpTo(known *ent.InputBaseline, live *string) bool {
	if known == nil || live == nil {
		return live == nil
	}
	return known.DeploymentID == *live
}

func contentOf(known *ent.InputBaseline) (*strictjson.Node, error) {
	if known == nil {
		return nil, nil
	}
	return strictjson.ParseStored([]byte(known.Content))
}

// shipped returns the module version that a deployment ships, and the values; nil for what is not stored any more, and
// for values that are not what was stored.
func shipped(ctx context.Context, tx *ent.Tx, d *ent.Deployment) (*ent.ModuleVersion, *strictjson.Node, error) {
	if d.ReleaseID == nil {
		return nil, nil, nil
	}
	r, err := tx.Release.Get(ctx, *d.ReleaseID)
	if err != nil {
		return nil, nil, err
	}
	version, err := tx.ModuleVersion.Get(ctx, r.ModuleVersionID)
	if err != nil {
		return nil, nil, err
	}
	content, err := openRelease(r)
	if err != nil || content == nil {
		return version, nil, err
	}
	return version, content.values, nil
}

// baselineAfter returns the baseline once a deployment has succeeded with values of a version. Without values it is as
// it was.
func baselineAfter(
	ctx context.Context, version *ent.ModuleVersion, values, before *strictjson.Node,
) (*strictjson.Node, error) {
	if values == nil {
		return before, nil
	}
	list, err := version.Inputs.Properties(meter.Without(ctx)) // a success is recorded, whatever that takes
	if err != nil {
		return nil, err
	}
	return inputvalues.Baseline(list, values, before), nil
}

func writeBaseline(
	ctx context.Context, tx *ent.Tx, known *ent.InputBaseline, d *ent.Deployment, content *strictjson.Node, at time.Time,
) error {
	if content == nil {
		content = &strictjson.Node{Kind: strictjson.Object}
	}
	if known == nil {
		return tx.InputBaseline.Create().SetOrganizationID(d.OrganizationID).SetModuleInstanceID(d.ModuleInstanceID).
			SetDeploymentID(d.ID).SetContent(string(content.JSON())).SetUpdatedAt(at).Exec(ctx)
	}
	return tx.InputBaseline.Update().Where(inputbaseline.ModuleInstanceID(d.ModuleInstanceID)).
		SetDeploymentID(d.ID).SetContent(string(content.JSON())).SetUpdatedAt(at).Exec(ctx)
}

// baseline returns what the immutable inputs of an instance are compared with, nil before its first success.
func (s *Service) baseline(ctx context.Context, instance *ent.ModuleInstance) (*strictjson.Node, error) {
	if instance.LiveDeploymentID == nil {
		return nil, nil
	}
	live := instance.LiveDeploymentID
	known, err := baselineOf(ctx, s.Store.Client.InputBaseline, instance.ID)
	for err == nil && !isUpTo(known, live) {
		known, live, err = s.catchUp(ctx, instance.ID)
		if store.IsUniqueViolation(err) { // others have begun it in the same moment
			known, err = baselineOf(ctx, s.Store.Client.InputBaseline, instance.ID)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := meter.Decode(ctx, meter.Inputs, known.Content); err != nil {
		return nil, err
	}
	return contentOf(known)
}

// maxCatchUp bounds the successes that one transaction looks at.
const maxCatchUp = 20

// catchUp lets the baseline of an instance know of more of its successes, in their order; the live deployment is the
// last. It is for an instance from before there were baselines, and after a success that a server of before carried
// out. Each success is read once in all, and what was read is kept, so it is not counted as work of a request.
// It returns the baseline, and the deployment that is live now.
func (s *Service) catchUp(ctx context.Context, instanceID string) (known *ent.InputBaseline, live *string, err error) {
	committed := func(context.Context, *ent.Client) (bool, error) { return false, nil } // again does no harm
	err = s.Store.Tx(ctx, committed, func(ctx context.Context, tx *ent.Tx) error {
		instance, err := tx.ModuleInstance.Get(ctx, instanceID)
		if err != nil {
			return err
		}
		live = instance.LiveDeploymentID
		if known, err = baselineOf(ctx, tx.InputBaseline, instanceID); err != nil || isUpTo(known, live) {
			return err
		}
		if err := addMissed(ctx, tx, instance, known); err != nil {
			return err
		}
		known, err = baselineOf(ctx, tx.InputBaseline, instanceID)
		return err
	})
	return known, live, err
}

// addMissed adds the next successes to a baseline that does not know of them.
func addMissed(ctx context.Context, tx *ent.Tx, instance *ent.ModuleInstance, known *ent.InputBaseline) error {
	content, err := contentOf(known)
	if err != nil {
		return err
	}
	missed, err := missedSuccesses(ctx, tx, instance, known)
	if err != nil {
		return err
	}

	for _, d := range missed {
		version, values, err := shipped(ctx, tx, d)
		if err == nil {
			content, err = baselineAfter(ctx, version, values, content)
		}
		if err != nil {
			return err
		}
	}

	last := missed[len(missed)-1]
	return writeBaseline(ctx, tx, known, last, content, last.UpdatedAt)
}

// missedSuccesses returns the next successes that a baseline does not know of, at least one: the live deployment comes
// after all others.
func missedSuccesses(
	ctx context.Context, tx *ent.Tx, instance *ent.ModuleInstance, known *ent.InputBaseline,
) ([]*ent.Deployment, error) {
	q := tx.Deployment.Query().Where(deployment.ModuleInstanceID(
		instance.ID,
	), deployment.StatusEQ(deployment.StatusSUCCEEDED),
		deployment.IDNEQ(*instance.LiveDeploymentID)).
		Order(ent.Asc(deployment.FieldCreatedAt, deployment.FieldID)).Limit(maxCatchUp)

	if known != nil {
		last, err := tx.Deployment.Get(ctx, known.DeploymentID)
		if err != nil {
			return nil, err
		}
		// One comparison of both is a range of the index, and begins there.
		q.Where(func(s *sql.Selector) {
			s.Where(sql.CompositeGT([]string{s.C(deployment.FieldCreatedAt), s.C(deployment.FieldID)}, last.CreatedAt, last.ID))
		})
	}

	missed, err := q.All(ctx)
	if err != nil || len(missed) == maxCatchUp {
		return missed, err
	}

	live, err := tx.Deployment.Get(ctx, *instance.LiveDeploymentID)
	return append(missed, live), err
}
