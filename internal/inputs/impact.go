package inputs

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/defaults"
	"slipway/internal/inputprop"
)

// mostJudged is how many live instances are judged for a change of a schema.
const mostJudged = 200

// Impact says what another schema of the definition of a givenId would mean: which module versions take
// options from it, and the live values of which instances would not be valid any more. It implements
// defaults.Rules.
func (s *Service) Impact(ctx context.Context, givenID string, schema inputprop.Property) (defaults.Impact, error) {
	var impact defaults.Impact
	versions, err := defaults.VersionsNaming(ctx, s.Store.Client.ModuleVersion, givenID)
	if err != nil || len(versions) == 0 {
		return impact, err
	}
	impact.Versions = versions
	modules := make([]string, len(versions))
	for i, v := range versions {
		modules[i] = v.ModuleDefinitionID
		impact.Warnings = append(impact.Warnings, about("named_by_version", "is where the module version %s (%s) takes options from", v.Version, v.ID))
	}
	instances, err := s.Store.Client.ModuleInstance.Query().
		Where(moduleinstance.ModuleDefinitionIDIn(modules...), moduleinstance.LiveDeploymentIDNotNil()).
		Order(ent.Asc(moduleinstance.FieldID)).Limit(mostJudged + 1).All(ctx)
	if err != nil {
		return impact, err
	}
	if len(instances) > mostJudged {
		instances = instances[:mostJudged]
		impact.Warnings = append(impact.Warnings, about("not_all_judged", "is used by more live instances than the %d that were judged", mostJudged))
	}
	for _, i := range instances {
		violations, err := s.spoiled(ctx, i, givenID, schema)
		if err != nil {
			return impact, err
		}
		if len(violations) > 0 {
			impact.Instances = append(impact.Instances, i)
			impact.Warnings = append(impact.Warnings, about("instance_values", "would make the live values of the instance %s (%s) invalid: %s",
				i.Name, i.ID, violations[0]))
		}
	}
	return impact, nil
}

func about(rule, format string, args ...any) inputprop.Warning {
	return inputprop.Warning{Pointer: "/schema", Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// spoiled gives what would be wrong with the live values of an instance; nothing where they are wrong
// already, or where its live version does not name the definition.
func (s *Service) spoiled(ctx context.Context, instance *ent.ModuleInstance, givenID string, schema inputprop.Property) ([]string, error) {
	live, err := s.live(ctx, *instance.LiveDeploymentID)
	if err != nil || live == nil {
		return nil, err
	}
	version, err := s.Store.Client.ModuleVersion.Get(ctx, live.versionID)
	if err != nil {
		return nil, err
	}
	list, err := version.Inputs.Properties()
	if err != nil || !inputprop.NamesDefinition(list, givenID) {
		return nil, err
	}
	place, err := s.In(ctx, instance.EnvironmentID, version)
	if err != nil {
		return nil, err
	}
	before, err := s.Engine.Validate(ctx, list, live.values, "", place.context)
	if err != nil || len(before) > 0 {
		return nil, busy(err)
	}
	place.context.Options = s.optionsWith(givenID, schema)
	after, err := s.Engine.Validate(ctx, list, live.values, "", place.context)
	messages := make([]string, len(after))
	for i, v := range after {
		messages[i] = v.Pointer + " " + v.Message
	}
	return messages, busy(err)
}

// optionsWith gives options as they would be with another schema of a definition.
func (s *Service) optionsWith(givenID string, schema inputprop.Property) func(context.Context, string, map[string]string) ([]inputprop.Option, error) {
	return func(ctx context.Context, source string, params map[string]string) ([]inputprop.Option, error) {
		if source != inputprop.SourceDefinition || params[inputprop.ParamGivenID] != givenID {
			return s.options(ctx, source, params)
		}
		choice, ok := schema.(interface{ ValueSource() inputprop.Values })
		if !ok {
			return nil, nil
		}
		switch values := choice.ValueSource().(type) {
		case *inputprop.StaticValues:
			return values.Options, nil
		case *inputprop.DynamicValuesRef:
			return s.options(ctx, values.Source, values.Literals())
		}
		return nil, nil
	}
}
