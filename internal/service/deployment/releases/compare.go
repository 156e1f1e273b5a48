package releases

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleversion"
	entrelease "slipway/ent/release"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/release"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// Comparison is what differs between what two deployments ship.
type Comparison struct {
	From, To               *record.Deployment
	SameRelease            bool
	FromVersion, ToVersion *record.ModuleVersion
	// Inputs and Artifact are what differs from the one to the other, leaf by leaf. Inputs are Immutable
	// by ToVersion.
	Inputs, Artifact []release.Change
}

// Compare returns what differs between what two deployments ship, whatever their instances and modules. It
// fails with DeploymentNotFound, ReleaseUnavailable and ReleaseDigestMismatch.
func (s *Service) Compare(ctx context.Context, fromID, toID string) (*Comparison, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	from, to, err := s.findPair(ctx, fromID, toID)
	if err != nil {
		return nil, err
	}

	for _, d := range []*ent.Deployment{from, to} {
		if d.TriggerSource == state.TriggerEvent {
			return nil, NoRelease(d.ID)
		}
	}

	before, after, err := s.contents(ctx, from, to)
	if err != nil {
		return nil, err
	}
	versions, err := s.versionsByID(ctx, before.ModuleVersionID, after.ModuleVersionID)
	if err != nil {
		return nil, err
	}

	c := &Comparison{
		From: (*record.Deployment)(from), To: (*record.Deployment)(to), SameRelease: *from.ReleaseID == *to.ReleaseID,
		FromVersion: (*record.ModuleVersion)(versions[before.ModuleVersionID]),
		ToVersion:   (*record.ModuleVersion)(versions[after.ModuleVersionID]),
	}
	if c.SameRelease {
		return c, nil
	}
	if c.Inputs, err = release.Diff(ctx, before.Inputs, after.Inputs); err != nil {
		return nil, err
	}
	if c.Artifact, err = release.Diff(ctx, before.Artifact, after.Artifact); err != nil {
		return nil, err
	}
	if err := markImmutable(ctx, c.Inputs, versions[after.ModuleVersionID]); err != nil {
		return nil, err
	}
	return c, nil
}

// contents returns what two deployments ship.
func (s *Service) contents(ctx context.Context, from, to *ent.Deployment) (before, after release.Content, err error) {
	releases, err := s.releasesOf(ctx, from, to)
	if err != nil {
		return before, after, err
	}
	for _, r := range releases {
		if err := meter.Decode(ctx, meter.Stored, r.Content); err != nil {
			return before, after, err
		}
	}
	before, err = VerifiedContent(from.ID, releases[optional.OrZero(from.ReleaseID)])
	if err != nil || optional.OrZero(to.ReleaseID) == optional.OrZero(from.ReleaseID) {
		return before, before, err
	}
	after, err = VerifiedContent(to.ID, releases[optional.OrZero(to.ReleaseID)])
	return before, after, err
}

// findPair returns two deployments, or DeploymentNotFound for the first that there is not.
func (s *Service) findPair(ctx context.Context, fromID, toID string) (from, to *ent.Deployment, err error) {
	ids := []string{fromID, toID}
	for _, text := range ids {
		if err := store.CheckID(id.Deployment, text, fault.DeploymentNotFound); err != nil {
			return nil, nil, err
		}
	}
	list, err := s.Store.Client.Deployment.Query().Where(deployment.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, nil, err
	}
	found := record.ByKey(list, func(d *ent.Deployment) string { return d.ID })
	for _, text := range ids {
		if found[text] == nil {
			return nil, nil, store.NotFound(text, fault.DeploymentNotFound)
		}
	}
	return found[fromID], found[toID], nil
}

func (s *Service) releasesOf(ctx context.Context, list ...*ent.Deployment) (map[string]*ent.Release, error) {
	var ids []string
	for _, d := range list {
		if d.ReleaseID != nil {
			ids = append(ids, *d.ReleaseID)
		}
	}
	releases, err := s.Store.Client.Release.Query().Where(entrelease.IDIn(ids...)).All(ctx)
	return record.ByKey(releases, func(r *ent.Release) string { return r.ID }), err
}

func (s *Service) versionsByID(ctx context.Context, ids ...string) (map[string]*ent.ModuleVersion, error) {
	list, err := s.Store.Client.ModuleVersion.Query().Where(moduleversion.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, err
	}
	found := record.ByKey(list, func(v *ent.ModuleVersion) string { return v.ID })
	for _, text := range ids {
		if found[text] == nil {
			return nil, store.NotFound(text, fault.ModuleVersionNotFound)
		}
	}
	return found, nil
}

// markImmutable marks the changes of inputs that must not change once a deployment of a version has succeeded.
func markImmutable(ctx context.Context, changes []release.Change, to *ent.ModuleVersion) error {
	if len(changes) == 0 {
		return nil
	}
	list, err := to.Inputs.Properties(ctx)
	if err != nil {
		return fmt.Errorf("deployment: inputs of the version %s: %w", to.ID, err)
	}
	for i := range changes {
		if err := meter.Spend(ctx, meter.Leaves, 1+len(list)/inputsPerLeaf); err != nil {
			return err
		}
		changes[i].Immutable = isImmutable(list, fault.Keys(changes[i].Pointer))
	}
	return nil
}

// inputsPerLeaf is how many inputs are passed over in about the time that comparing a leaf takes.
const inputsPerLeaf = 100

// isImmutable reports whether the path to a value of a level leads through an immutable input. The values of
// mapped inputs are beside that of their reference.
func isImmutable(level []inputprop.Property, path []string) bool {
	if len(path) == 0 {
		return false
	}

	for _, p := range level {
		nested := p.Nested()
		if !nested.IsCollection() && isImmutable(nested.Inputs, path) {
			return true
		}
		if p.Head().ID != path[0] {
			continue
		}
		if p.Traits().Immutable {
			return true
		}
		// Within an entry, whose key or index is the second step.
		if nested.IsCollection() && len(path) > 2 && isImmutable(nested.Inputs, path[2:]) {
			return true
		}
	}

	return false
}
