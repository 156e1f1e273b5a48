package inputvalidation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slipway/ent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/ent/moduleinstance"
	"slipway/ent/moduleversion"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputvalues"
)

// Stored is something that was saved, and what today's rules say of it.
type Stored struct {
	// Kind is "definition", "version" or "live release".
	Kind string
	// ID is that of the definition, of the version or of the instance whose release is live.
	ID string
	// Name is the definition's givenId, the version's number or the instance's name.
	Name string
	// Violations are what would be refused if it were saved, or deployed, now.
	Violations []fault.Violation
}

// CheckStored checks the schemas of the actor's organization, and the values that are live, by today's rules, and
// calls f for each. For an actor of no organization they are the global module versions.
func (s *Service) CheckStored(ctx context.Context, f func(Stored) error) error {
	for _, each := range []func(context.Context, func(Stored) error) error{s.eachDefinition, s.eachVersion, s.eachLive} {
		if err := each(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// storedPage is how many rows are in memory at once.
const storedPage = 20

// inPages reads rows in the order of their ids, and calls f for each.
func inPages[T any](read func(after string) ([]T, error), idOf func(T) string, f func(T) error) error {
	for after := ""; ; {
		rows, err := read(after)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := f(row); err != nil {
				return err
			}
		}
		if len(rows) < storedPage {
			return nil
		}
		after = idOf(rows[len(rows)-1])
	}
}

func (s *Service) eachDefinition(ctx context.Context, f func(Stored) error) error {
	read := func(after string) ([]*ent.DefaultValueDefinition, error) {
		return s.Store.Client.DefaultValueDefinition.Query().Where(defaultvaluedefinition.IDGT(after)).
			Order(ent.Asc(defaultvaluedefinition.FieldID)).Limit(storedPage).All(ctx)
	}
	return inPages(read, func(d *ent.DefaultValueDefinition) string { return d.ID },
		func(d *ent.DefaultValueDefinition) error {
			schema, err := d.Schema.Property(ctx)
			if err != nil {
				return f(Stored{"definition", d.ID, d.GivenID, unreadable("/schema", err)})
			}
			violations, _, err := s.CheckOne(ctx, schema, "/schema")
			if err != nil {
				return fmt.Errorf("check the definition %s: %w", d.ID, err)
			}
			return f(Stored{"definition", d.ID, d.GivenID, violations})
		})
}

func (s *Service) eachVersion(ctx context.Context, f func(Stored) error) error {
	owned := moduleversion.OrganizationIDIsNil()
	if scope := store.Scope(actor.From(ctx)); scope != store.GlobalScope {
		owned = moduleversion.OrganizationID(scope)
	}

	read := func(after string) ([]*ent.ModuleVersion, error) {
		return s.Store.Client.ModuleVersion.Query().Where(owned, moduleversion.IDGT(after)).
			Order(ent.Asc(moduleversion.FieldID)).Limit(storedPage).All(ctx)
	}
	return inPages(read, func(v *ent.ModuleVersion) string { return v.ID }, func(v *ent.ModuleVersion) error {
		list, err := v.Inputs.Properties(ctx)
		if err != nil {
			return f(Stored{"version", v.ID, v.Version, unreadable("/inputs", err)})
		}
		violations, _, err := s.Check(ctx, list, "/inputs")
		if err != nil {
			return fmt.Errorf("check the version %s: %w", v.ID, err)
		}
		return f(Stored{"version", v.ID, v.Version, violations})
	})
}

func (s *Service) eachLive(ctx context.Context, f func(Stored) error) error {
	read := func(after string) ([]*ent.ModuleInstance, error) {
		return s.Store.Client.ModuleInstance.Query().
			Where(moduleinstance.LiveDeploymentIDNotNil(), moduleinstance.IDGT(after)).
			Order(ent.Asc(moduleinstance.FieldID)).Limit(storedPage).All(ctx)
	}
	return inPages(read, func(i *ent.ModuleInstance) string { return i.ID }, func(i *ent.ModuleInstance) error {
		violations, err := s.checkLive(ctx, i)
		if err != nil {
			return fmt.Errorf("check the live release of the instance %s: %w", i.ID, err)
		}
		return f(Stored{"live release", i.ID, i.Name, violations})
	})
}

// checkLive checks what is live of an instance as if it were deployed for the first time. It must be allowed to choose
// the instances that it has chosen; what they have may have changed since, which is no matter of rules. But if it
// lacks a value that only an output can give, and that was never reported, nobody has noticed when it was deployed.
func (s *Service) checkLive(ctx context.Context, instance *ent.ModuleInstance) ([]fault.Violation, error) {
	l, err := s.readLiveRelease(ctx, *instance.LiveDeploymentID)
	if err != nil || l == nil {
		return nil, err
	}
	version, err := s.Store.Client.ModuleVersion.Get(ctx, l.versionID)
	if err != nil {
		return nil, err
	}

	list, err := version.Inputs.Properties(ctx)
	if err != nil {
		return nil, nil //nolint:nilerr // eachVersion reports it
	}
	if _, err := s.Rules.DropRefused(ctx, list, "/inputs"); err != nil {
		return nil, err
	}

	scope, err := s.EnvironmentScope(ctx, instance.EnvironmentID, version)
	if err != nil {
		return nil, err
	}

	choices := inputvalues.Choices(list, l.values)
	for i := range choices {
		choices[i].ReadsInput = false
	}

	chosen, err := s.lookUp(ctx, instance.ID, choices)
	if err != nil {
		return nil, err
	}

	scope.env.Reference, scope.env.Ref = chosen.check, chosen.missing
	violations, err := s.Engine.Validate(ctx, list, l.values, "/inputs", scope.env)
	return slices.DeleteFunc(violations, func(v fault.Violation) bool {
		return v.Rule == inputvalues.RuleMappedInput ||
			v.Rule == inputvalues.RuleOutputMissing && hasValue(l.values, fault.Keys(strings.TrimPrefix(v.Pointer, "/inputs")))
	}), err
}

// hasValue reports whether values have one at the place that keys lead to.
func hasValue(values *strictjson.Node, keys []string) bool {
	for _, key := range keys {
		switch index, err := strconv.Atoi(key); {
		case values == nil:
			return false
		case values.Kind == strictjson.Object:
			values = values.Get(key)
		case err == nil && index < len(values.Items):
			values = values.Items[index]
		default:
			return false
		}
	}
	return values != nil
}

// unreadable is what is wrong with a schema that cannot be read any more.
func unreadable(pointer string, err error) []fault.Violation {
	return []fault.Violation{{Pointer: pointer, Rule: "unreadable", Message: "must be readable, found " + err.Error()}}
}
