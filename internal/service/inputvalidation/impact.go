package inputvalidation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	entrelease "slipway/ent/release"
	"slipway/internal/base/meter"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/defaults"
)

// What is looked at for a change of a schema: module versions that name it, and live instances of theirs.
const (
	maxVersions  = 100
	maxInstances = 200
)

// Impact returns what another schema of the definition of a givenId would mean: which module versions take
// options from it, and the live values of which instances would not be valid any more. It implements
// defaults.ImpactFinder.
func (s *Service) Impact(ctx context.Context, givenID string, schema inputprop.Property) (defaults.Impact, error) {
	var impact defaults.Impact
	versions, err := defaults.VersionsNaming(ctx, s.Store, givenID, maxVersions)
	if err != nil || len(versions) == 0 {
		return impact, err
	}

	if len(versions) == maxVersions {
		impact.Warnings = append(
			impact.Warnings,
			warning("not_all_named", "is where %d module versions take options from, and more may", maxVersions),
		)
	}

	impact.Versions = versions
	modules := make([]string, len(versions))
	for i, v := range versions {
		modules[i] = v.ModuleDefinitionID
		impact.Warnings = append(
			impact.Warnings,
			warning("named_by_version", "is where the module version %s (%s) takes options from", v.Version, v.ID),
		)
	}

	instances, err := s.Store.Client.ModuleInstance.Query().
		Where(moduleinstance.ModuleDefinitionIDIn(modules...), moduleinstance.LiveDeploymentIDNotNil()).
		Order(ent.Asc(moduleinstance.FieldID)).Limit(maxInstances + 1).All(ctx)
	if err != nil {
		return impact, err
	}

	if len(instances) > maxInstances {
		instances = instances[:maxInstances]
		impact.Warnings = append(
			impact.Warnings,
			warning("not_all_judged", "is used by more live instances than the %d that were judged", maxInstances),
		)
	}

	live, err := s.liveInstances(ctx, instances)
	if err != nil {
		return impact, err
	}

	for _, i := range instances {
		if !live.hasRoom(ctx, i) {
			impact.Warnings = append(
				impact.Warnings, warning("not_all_judged", "is used by more live values than one request may judge"),
			)
			break
		}
		violations, err := live.newViolations(ctx, i, givenID, schema)
		if err != nil {
			return impact, err
		}

		if len(violations) > 0 {
			impact.Instances = append(impact.Instances, i)
			impact.Warnings = append(impact.Warnings,
				warning("instance_values", "would make the live values of the instance %s (%s) invalid: %s",
					i.Name, i.ID, violations[0]))
		}
	}

	return impact, nil
}

func warning(rule, format string, args ...any) inputprop.Warning {
	return inputprop.Warning{Pointer: "/schema", Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// liveInstances are instances with what they were last deployed with, read together.
type liveInstances struct {
	*Service
	// releases are by the instances that they are live of.
	releases map[string]*ent.Release
	// versions and scopes are those that were read already, by the version, and by the environment and it.
	versions map[string]*ent.ModuleVersion
	scopes   map[[2]string]*Scope
}

func (s *Service) liveInstances(ctx context.Context, instances []*ent.ModuleInstance) (*liveInstances, error) {
	l := &liveInstances{s, map[string]*ent.Release{}, map[string]*ent.ModuleVersion{}, map[[2]string]*Scope{}}
	instanceOf := make(map[string]string, len(instances))
	ids := make([]string, len(instances))
	for i, instance := range instances {
		ids[i] = *instance.LiveDeploymentID
		instanceOf[ids[i]] = instance.ID
	}

	deployments, err := s.Store.Client.Deployment.Query().Where(deployment.IDIn(ids...), deployment.ReleaseIDNotNil()).
		All(ctx)
	if err != nil {
		return nil, err
	}

	of := make(map[string][]string, len(deployments))
	for _, d := range deployments {
		of[*d.ReleaseID] = append(of[*d.ReleaseID], instanceOf[d.ID])
	}

	releases, err := s.Store.Client.Release.Query().Where(entrelease.IDIn(slices.Collect(maps.Keys(of))...)).All(ctx)
	for _, r := range releases {
		for _, instance := range of[r.ID] {
			l.releases[instance] = r
		}
	}

	return l, err
}

// hasRoom reports whether the request may still check the values of an instance.
func (l *liveInstances) hasRoom(ctx context.Context, instance *ent.ModuleInstance) bool {
	const readings = 8 // of the values and of their inputs, with what defaults add
	r := l.releases[instance.ID]
	return r == nil || meter.HasRoom(ctx, meter.Inputs, readings*len(r.Content))
}

// newViolations returns what would be wrong with the live values of an instance; nothing if they are wrong
// already, or if its live version does not name the definition.
func (l *liveInstances) newViolations(
	ctx context.Context, instance *ent.ModuleInstance, givenID string, schema inputprop.Property,
) ([]string, error) {
	r := l.releases[instance.ID]
	if r == nil {
		return nil, nil
	}
	live, err := readRelease(ctx, r)
	if err != nil || live == nil {
		return nil, err
	}

	version, err := l.version(ctx, live.versionID)
	if err != nil {
		return nil, err
	}
	list, err := version.Inputs.Properties(ctx)
	if err != nil || !inputprop.NamesDefinition(list, givenID) {
		return nil, err
	}
	if _, err := l.Rules.DropRefused(ctx, list, ""); err != nil {
		return nil, asUnavailable(err)
	}

	scope, err := l.scope(ctx, instance.EnvironmentID, version)
	if err != nil {
		return nil, err
	}
	if _, err := l.loadReferences(ctx, list, live.values, scope); err != nil {
		return nil, err
	}

	before, err := l.Engine.Validate(ctx, list, live.values, "", scope.env)
	if err != nil || len(before) > 0 {
		return nil, asUnavailable(err)
	}

	changed := scope.env
	changed.Options = l.optionsWith(givenID, schema)
	after, err := l.Engine.Validate(ctx, list, live.values, "", changed)

	messages := make([]string, len(after))
	for i, v := range after {
		messages[i] = v.Pointer + " " + v.Message
	}

	return messages, asUnavailable(err)
}

func (l *liveInstances) version(ctx context.Context, id string) (*ent.ModuleVersion, error) {
	if known := l.versions[id]; known != nil {
		return known, nil
	}
	version, err := l.Store.Client.ModuleVersion.Get(ctx, id)
	if err == nil {
		l.versions[id] = version
	}
	return version, err
}

func (l *liveInstances) scope(ctx context.Context, environmentID string, version *ent.ModuleVersion) (*Scope, error) {
	key := [2]string{environmentID, version.ID}
	if known := l.scopes[key]; known != nil {
		return known, nil
	}
	scope, err := l.EnvironmentScope(ctx, environmentID, version)
	if err == nil {
		l.scopes[key] = scope
	}
	return scope, err
}

// optionsWith returns the function that looks up options as they would be with another schema of a definition.
func (s *Service) optionsWith(
	givenID string, schema inputprop.Property,
) func(context.Context, string, map[string]string) ([]inputprop.Option, error) {
	return func(ctx context.Context, source string, params map[string]string) ([]inputprop.Option, error) {
		if source != inputprop.SourceDefinition || params[inputprop.ParamGivenID] != givenID {
			return s.options(ctx, source, params)
		}
		switch values := schema.ValueSource().(type) {
		case *inputprop.StaticValues:
			return values.Options, nil
		case *inputprop.DynamicValuesRef:
			return s.options(ctx, values.Source, values.Literals())
		}
		return nil, nil
	}
}
