// Package inputvalidation judges the typed inputs of modules and the values that are given for them: it joins the
// pure rules of package inputprop to what the server knows, which is where a module is deployed, what is
// live there, and the options of dynamic values.
package inputvalidation

import (
	"context"
	"errors"
	"slices"

	"slipway/internal/catalog"
	"slipway/internal/defaults"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/inputrules"
	"slipway/internal/inputvalidation/valuesource"
	"slipway/internal/inputvalues"
	"slipway/internal/jsregexp"
	"slipway/internal/meter"
	"slipway/internal/store"
)

// Service judges inputs and values.
type Service struct {
	Store    *store.Store
	Engine   *inputvalues.Engine
	Rules    *inputrules.Engine
	Catalog  *catalog.Service
	Defaults *defaults.Service
	Dynamic  *valuesource.Registry
}

// busy turns the refusal of an engine that has too much to do into one that says to try again.
func busy(err error) error {
	if errors.Is(err, jsregexp.ErrBusy) {
		return fault.New(fault.ServerUnavailable, "Too many patterns are being tried at once.")
	}
	return err
}

// optionBytes is about how much there is to read and to compare with for an option.
const optionBytes = 64

// options gives the options of a source, as inputprop asks for them.
func (s *Service) options(ctx context.Context, source string, params map[string]string) ([]inputprop.Option, error) {
	all, err := s.Dynamic.All(ctx, source, params)
	if fault.Is(err, fault.DefaultValueDefinitionNotFound) {
		// Another value may have named the definition, so that this is about the values, not the request.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := meter.Spend(ctx, meter.Inputs, optionBytes*len(all)); err != nil {
		return nil, err
	}
	options := make([]inputprop.Option, len(all))
	for i, o := range all {
		options[i] = *o
	}
	return options, nil
}

// Check gives every violation of the rules in the inputs of a module, and warnings; pointers start with
// at.
func (s *Service) Check(ctx context.Context, list []inputprop.Property, at string) ([]fault.Violation, []inputprop.Warning, error) {
	violations, warnings, err := s.Rules.CheckVersion(ctx, list, at)
	if err != nil {
		return nil, nil, busy(err)
	}
	p := places{}
	inputprop.Walk(list, at, p.add)
	return s.known(ctx, p, violations, warnings)
}

// CheckOne is Check for a schema that stands alone.
func (s *Service) CheckOne(ctx context.Context, schema inputprop.Property, at string) ([]fault.Violation, []inputprop.Warning, error) {
	violations, warnings, err := s.Rules.Check(ctx, schema, at)
	if err != nil {
		return nil, nil, busy(err)
	}
	p := places{}
	inputprop.WalkOne(schema, at, p.add)
	return s.known(ctx, p, violations, warnings)
}

// places are where inputs name what the server may have or not, by pointer.
type places struct {
	sources []place[*inputprop.DynamicValuesRef]
	types   []place[string]
}

type place[T any] struct {
	pointer string
	named   T
}

func (p *places) add(input inputprop.Property, pointer string) {
	if ref := inputprop.DynamicRef(input); ref != nil {
		p.sources = append(p.sources, place[*inputprop.DynamicValuesRef]{pointer + "/values", ref})
	}
	if r, ok := input.(*inputprop.ReferenceProperty); ok {
		p.types = append(p.types, place[string]{pointer + "/type", r.ModuleType()})
	}
}

// known adds what is wrong with references to dynamic values, and warns of references to module types
// that the catalogue does not have.
func (s *Service) known(ctx context.Context, p places, violations []fault.Violation, warnings []inputprop.Warning) ([]fault.Violation, []inputprop.Warning, error) {
	for _, at := range p.sources {
		params := make(map[string]string, len(at.named.Params))
		for name, param := range at.named.Params {
			params[name] = param.Text
		}
		violations = append(violations, fault.Under(at.pointer, s.Dynamic.Check(at.named.Source, params))...)
	}
	if len(p.types) == 0 {
		return violations, warnings, nil
	}
	types := make([]string, len(p.types))
	for i, at := range p.types {
		types[i] = at.named
	}
	known, err := s.Catalog.KnownTypes(ctx, types)
	for _, at := range p.types {
		if err == nil && !slices.Contains(known, at.named) {
			warnings = append(warnings, inputprop.Warning{Pointer: at.pointer, Rule: "unknown_module_type",
				Message: "names the module type " + at.named + ", which no module that you see has"})
		}
	}
	return violations, warnings, err
}
