package releases

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
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
	// From is nil if To is compared with nothing.
	From, To    *record.Deployment
	SameRelease bool
	// FromVersionID is nil if From is.
	FromVersionID *string
	ToVersionID   string
	// Inputs and Artifact are what differs from the one to the other, leaf by leaf. Inputs are Immutable by the version
	// of To.
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
	compared, err := s.compare(ctx, []Comparison{{From: (*record.Deployment)(from), To: (*record.Deployment)(to)}})
	if err != nil {
		return nil, err
	}
	return compared[0].Comparison, compared[0].Err
}

// Compared is a comparison, or why there is none.
type Compared struct {
	Comparison *Comparison
	Err        error
}

// ChangesFromLive returns for some deployments, by their ids, how what each ships differs from what is live in its
// instance; if nothing is live, all of it is added. It has nothing of those that ship no release. It reads the
// instances, the live deployments, the releases and the inputs of the versions by one statement each. The deployments
// have LiveColumns.
func (s *Service) ChangesFromLive(ctx context.Context, list []*record.Deployment) (map[string]Compared, error) {
	var wanted []Comparison
	var instanceIDs []string
	for _, d := range list {
		if d.ReleaseID != nil && d.TriggerSource != state.TriggerEvent {
			wanted, instanceIDs = append(wanted, Comparison{To: d}), append(instanceIDs, d.ModuleInstanceID)
		}
	}

	live, err := s.liveIn(ctx, distinct(instanceIDs))
	if err != nil {
		return nil, err
	}
	for i, c := range wanted {
		wanted[i].From = live[c.To.ModuleInstanceID]
	}

	compared, err := s.compare(ctx, wanted)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]Compared, len(compared))
	for i, c := range compared {
		byID[wanted[i].To.ID] = c
	}
	return byID, nil
}

// LiveColumns are the columns of a deployment that ChangesFromLive goes by.
var LiveColumns = []string{
	deployment.FieldModuleInstanceID, deployment.FieldReleaseID, deployment.FieldTriggerSource,
}

// liveIn returns the live deployments of instances, by the ids of these.
func (s *Service) liveIn(ctx context.Context, instanceIDs []string) (map[string]*record.Deployment, error) {
	onlyLive := record.NewColumns(map[string][]string{moduleinstance.Table: {moduleinstance.FieldLiveDeploymentID}})
	instances, err := record.ModuleInstances.In(s.Store).ByIDs(record.WithColumns(ctx, onlyLive), instanceIDs)
	if err != nil {
		return nil, err
	}

	var ids []string
	instanceOf := map[string]string{}
	for _, i := range instances {
		if i.LiveDeploymentID != nil {
			ids, instanceOf[*i.LiveDeploymentID] = append(ids, *i.LiveDeploymentID), i.ID
		}
	}
	list, err := record.Deployments.In(s.Store).ByIDs(ctx, ids)
	live := make(map[string]*record.Deployment, len(list))
	for _, d := range list {
		live[instanceOf[d.ID]] = d
	}
	return live, err
}

// compare carries out comparisons, of which From and To are given. The error is that of the request; what is wrong with
// one of the deployments is beside its comparison.
func (s *Service) compare(ctx context.Context, wanted []Comparison) ([]Compared, error) {
	contents, err := s.contentsOf(ctx, wanted)
	if err != nil {
		return nil, err
	}

	compared := make([]Compared, len(wanted))
	var changed []*Comparison
	for i := range wanted {
		c := &wanted[i]
		before, err := contents.of(c.From)
		if err == nil && c.From == nil {
			before.Inputs = json.RawMessage("{}")
		}
		after, errAfter := contents.of(c.To)
		if err := cmp.Or(err, errAfter); err != nil {
			compared[i].Err = err
			continue
		}

		if err := c.diff(ctx, before, after); err != nil {
			return nil, err
		}
		compared[i].Comparison = c
		if len(c.Inputs) > 0 {
			changed = append(changed, c)
		}
	}

	return compared, s.markImmutableIn(ctx, changed)
}

// diff sets what differs between what is shipped.
func (c *Comparison) diff(ctx context.Context, before, after release.Content) (err error) {
	c.ToVersionID = after.ModuleVersionID
	if c.From != nil {
		c.FromVersionID = &before.ModuleVersionID
		c.SameRelease = *c.From.ReleaseID == *c.To.ReleaseID
	}
	if c.SameRelease {
		return nil
	}
	if c.Inputs, err = release.Diff(ctx, before.Inputs, after.Inputs); err != nil {
		return err
	}
	c.Artifact, err = release.Diff(ctx, before.Artifact, after.Artifact)
	return err
}

// opened is what a release ships, or why that cannot be said.
type opened struct {
	content release.Content
	err     error
}

// contents are what releases ship, by their ids.
type contents map[string]opened

// of returns what a deployment ships; nothing if there is none.
func (c contents) of(d *record.Deployment) (release.Content, error) {
	switch {
	case d == nil:
		return release.Content{}, nil
	case d.TriggerSource == state.TriggerEvent:
		return release.Content{}, NoRelease(d.ID)
	}
	found, ok := c[optional.OrZero(d.ReleaseID)]
	if !ok {
		return release.Content{}, NotStored(d.ID)
	}
	return found.content, found.err
}

// contentsOf returns what the deployments of comparisons ship, each release proved once.
func (s *Service) contentsOf(ctx context.Context, wanted []Comparison) (contents, error) {
	var ids []string
	for _, c := range wanted {
		for _, d := range []*record.Deployment{c.From, c.To} {
			if d != nil && d.ReleaseID != nil {
				ids = append(ids, *d.ReleaseID)
			}
		}
	}

	columns := record.NewColumns(map[string][]string{entrelease.Table: {entrelease.FieldDigest, entrelease.FieldContent}}).
		Charging(entrelease.Table, meter.Stored, entrelease.FieldContent)
	releases, err := record.Releases.In(s.Store).ByIDs(record.WithColumns(ctx, columns), distinct(ids))
	if err != nil {
		return nil, err
	}

	found := make(contents, len(releases))
	for _, r := range releases {
		content, err := ContentOf(ctx, r)
		if err := meter.Err(ctx); err != nil {
			return nil, err
		}
		found[r.ID] = opened{content, err}
	}
	return found, nil
}

// markImmutableIn marks the changes of comparisons that must not be made, by the versions that are compared to.
func (s *Service) markImmutableIn(ctx context.Context, changed []*Comparison) error {
	if len(changed) == 0 {
		return nil
	}
	ids := make([]string, len(changed))
	for i, c := range changed {
		ids[i] = c.ToVersionID
	}

	onlyInputs := record.NewColumns(map[string][]string{moduleversion.Table: {moduleversion.FieldInputs}})
	versions, err := record.ModuleVersions.In(s.Store).ByIDs(record.WithColumns(ctx, onlyInputs), distinct(ids))
	if err != nil {
		return err
	}
	byID := record.ByKey(versions, func(v *record.ModuleVersion) string { return v.ID })
	for _, c := range changed {
		v := byID[c.ToVersionID]
		if v == nil {
			return store.NotFound(c.ToVersionID, fault.ModuleVersionNotFound)
		}
		if err := markImmutable(ctx, c.Inputs, v.ID, v.Inputs); err != nil {
			return err
		}
	}
	return nil
}

// distinct returns ids, each once.
func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
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
func markImmutable(
	ctx context.Context, changes []release.Change, versionID string, inputs inputprop.ListColumn,
) error {
	if len(changes) == 0 {
		return nil
	}
	list, err := inputs.Properties(ctx)
	if err != nil {
		return fmt.Errorf("deployment: inputs of the version %s: %w", versionID, err)
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
