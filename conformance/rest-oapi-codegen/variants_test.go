package conformance_test

import (
	"strings"

	api "slipway-conformance-rest/generated"
)

// union makes a value of a union out of one of its members.
func union[Union, Member any](from func(*Union, Member) error, member Member) (u Union) {
	if err := from(&u, member); err != nil {
		panic(err)
	}
	return u
}

// plain makes an input that is no reference.
func plain[Variant any](from func(*api.ModulePlainInputProperty, Variant) error, v Variant) api.ModuleInputProperty {
	return union((*api.ModuleInputProperty).FromModulePlainInputProperty, union(from, v))
}

// read returns the variant of an input, as the struct that was generated for it.
func read(p api.ModuleInputProperty) (any, error) {
	other, err := p.AsModulePlainInputProperty()
	if err != nil {
		return nil, err
	}
	kind, err := other.Discriminator()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(kind, "$ref:") {
		return p.AsModuleRefInputProperty()
	}
	return other.ValueByDiscriminator()
}

var (
	yes      = new(true)
	help     = new("A help text.")
	showWhen = &api.ModuleShowWhen{"other": map[string]any{"not": "x"}}
	patterns = &[]api.ModuleValidationPattern{{Pattern: "^[a-z]+$", Message: "Lower case letters only."}}
)

// variants has every variant with every one of its fields. The discriminator is written by the generated code.
func variants() []api.ModuleInputProperty {
	text := func(s string) api.ModuleStringValueItem {
		return union((*api.ModuleStringValueItem).FromModuleStringValue, s)
	}
	small := api.ModuleCompoundFieldValues{
		"cpu":   union((*api.ModuleCompoundFieldValue).FromInt32, 1),
		"name":  union((*api.ModuleCompoundFieldValue).FromModuleStringValue, "small"),
		"burst": union((*api.ModuleCompoundFieldValue).FromModuleBooleanValue, false),
	}
	name := plain((*api.ModulePlainInputProperty).FromModuleStringInputProperty, api.ModuleStringInputProperty{ID: "name", Label: "Name"})
	network := union((*api.ModuleInputProperty).FromModuleRefInputProperty, api.ModuleRefInputProperty{ID: "network", Label: "Network", Type: "$ref:aws/vpc"})
	return []api.ModuleInputProperty{
		plain((*api.ModulePlainInputProperty).FromModuleStringInputProperty, api.ModuleStringInputProperty{
			ID: "engine", Label: "Engine", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: new("$values:first"), MinCurrentValue: yes, NoOptionsMessage: new("None yet."), Patterns: patterns, Placeholder: new("pick"),
			Values: new(union((*api.ModuleStringValues).FromModuleStringValueList, api.ModuleStringValueList{
				text("postgres"),
				union((*api.ModuleStringValueItem).FromModuleLabeledStringValue, api.ModuleLabeledStringValue{Value: "mysql", Label: new("MySQL"), Description: help}),
			})),
		}),
		plain((*api.ModulePlainInputProperty).FromModuleTextInputProperty, api.ModuleTextInputProperty{
			ID: "note", Label: "Note", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: new("hello"), Patterns: patterns, Placeholder: new("write"),
		}),
		plain((*api.ModulePlainInputProperty).FromModuleObjectInputProperty, api.ModuleObjectInputProperty{
			ID: "settings", Label: "Settings", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: &api.ModuleObjectValue{"deep": []any{map[string]any{"down": nil}}}, Placeholder: new("{}"),
		}),
		plain((*api.ModulePlainInputProperty).FromModuleObjectMapInputProperty, api.ModuleObjectMapInputProperty{
			ID: "hosts", Label: "Hosts", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: &api.ModuleObjectValue{"web": map[string]any{"name": "web"}}, ItemLabel: new("Host"), ItemInputs: []api.ModuleInputProperty{name, network},
			ItemTitle: &api.ModuleObjectCollectionItemTitleConfig{Template: "{key}", Fallback: new("a host")},
			Key: &api.ModuleMapKeyConfig{
				Description: help, FromFields: &[]*string{new("name"), nil, new("")}, Label: new("Name"), Patterns: patterns, Placeholder: new("web"), Separator: new("_"),
			},
		}),
		plain((*api.ModulePlainInputProperty).FromModuleObjectArrayInputProperty, api.ModuleObjectArrayInputProperty{
			ID: "rules", Label: "Rules", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: &api.ModuleObjectArrayValue{{"name": "web"}}, ItemInputs: []api.ModuleInputProperty{name}, ItemDescription: new("Lets {name} in."),
			ItemLabel: new("Rule"), ItemTitle: &api.ModuleObjectCollectionItemTitleConfig{Template: "{name}"},
		}),
		plain((*api.ModulePlainInputProperty).FromModuleArrayInputProperty, api.ModuleArrayInputProperty{
			ID: "anything", Label: "Anything", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: &api.ModuleArrayValue{1.0, "two", nil, map[string]any{"three": []any{3.0}}}, Placeholder: new("[]"),
		}),
		plain((*api.ModulePlainInputProperty).FromModuleStringArrayInputProperty, api.ModuleStringArrayInputProperty{
			ID: "zones", Label: "Zones", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			AddButtonLabel: new("Add a zone"), Default: &api.ModuleStringArrayValue{"a"}, Patterns: patterns, Placeholder: new("a"),
			Values: new(union((*api.ModuleStringValues).FromModuleDynamicValuesRef, api.ModuleDynamicValuesRef{
				Source: "default_value_definition",
				Params: &map[string]api.ModuleDynamicValuesParam{"givenId": union((*api.ModuleDynamicValuesParam).FromModuleStringValue, "zones")},
			})),
		}),
		plain((*api.ModulePlainInputProperty).FromModuleNumberInputProperty, api.ModuleNumberInputProperty{
			ID: "size", Label: "Size", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: new(union((*api.ModuleNumberDefault).FromInt32, 2)), Min: new(int32(-2147483648)), Max: new(int32(2147483647)),
			MinCurrentValue: yes, NoOptionsMessage: new("None."), Placeholder: new("1"),
			Values: new(union((*api.ModuleNumberValues).FromModuleNumberValueList, api.ModuleNumberValueList{
				union((*api.ModuleNumberValueItem).FromInt32, 1),
				union((*api.ModuleNumberValueItem).FromModuleLabeledNumberValue, api.ModuleLabeledNumberValue{Value: 2, Label: new("two"), Description: help}),
			})),
		}),
		plain((*api.ModulePlainInputProperty).FromModuleBooleanInputProperty, api.ModuleBooleanInputProperty{
			ID: "public", Label: "Public", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Default: false,
		}),
		plain((*api.ModulePlainInputProperty).FromModuleSectionInputProperty, api.ModuleSectionInputProperty{
			ID: "more", Label: "More", Description: help, ShowWhen: showWhen,
		}),
		plain((*api.ModulePlainInputProperty).FromModuleCompoundInputProperty, api.ModuleCompoundInputProperty{
			ID: "instance", Label: "Instance", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: new(union((*api.ModuleCompoundDefault).FromModuleCompoundFieldValues, small)), Fields: []string{"cpu", "name", "burst"},
			MinCurrentValue: yes, NoOptionsMessage: new("None."),
			Values: union((*api.ModuleCompoundValues).FromModuleCompoundValueList, api.ModuleCompoundValueList{{Label: "Small", Description: help, Fields: small}}),
		}),
		reference(),
		plain((*api.ModulePlainInputProperty).FromModuleGitRepoInputProperty, api.ModuleGitRepoInputProperty{
			ID: "source", Label: "Source", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: new("https://git.example/acme/web"), Placeholder: new("https://…"),
		}),
		plain((*api.ModulePlainInputProperty).FromModuleKeyValueInputProperty, api.ModuleKeyValueInputProperty{
			ID: "labels", Label: "Labels", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
			Default: &api.ModuleStringMapValue{"team": "web"},
		}),
	}
}

// reference is the variant whose type is the reference itself.
func reference() api.ModuleInputProperty {
	mapped := []api.ModuleRefFallbackInputProperty{
		union((*api.ModuleRefFallbackInputProperty).FromModuleStringInputProperty, api.ModuleStringInputProperty{
			ID: "cidr", Label: "CIDR", Default: new("${{ ref.input.cidr }}"),
		}),
		union((*api.ModuleRefFallbackInputProperty).FromModuleRefFallbackNumberInputProperty, api.ModuleRefFallbackNumberInputProperty{
			ID: "count", Label: "Count", Default: new(union((*api.ModuleRefFallbackNumberDefault).FromModuleRefTemplate, "${{ ref.stack.output.count }}")),
		}),
		union((*api.ModuleRefFallbackInputProperty).FromModuleRefFallbackBooleanInputProperty, api.ModuleRefFallbackBooleanInputProperty{
			ID: "flag", Label: "Flag", Default: union((*api.ModuleRefFallbackBooleanDefault).FromModuleBooleanValue, true),
		}),
	}
	return union((*api.ModuleInputProperty).FromModuleRefInputProperty, api.ModuleRefInputProperty{
		ID: "network", Label: "Network", Type: "$ref:aws/vpc", Description: help, ShowWhen: showWhen, Collapsible: yes, Immutable: yes, Required: yes,
		MappedInputs: &mapped,
	})
}
