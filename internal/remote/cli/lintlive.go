package cli

import (
	"context"
	"errors"
	"fmt"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// lintLive returns what the inputs of a manifest refuse in the values that instances of the module live with, at most
// so many of these.
func (s *session) lintLive(ctx context.Context, m *manifest.Manifest, most int) (manifest.Findings, error) {
	module, err := client.Module(ctx, s.conn, nil, &m.Type)
	if isCode(err, fault.ModuleDefinitionNotFound) {
		s.note("nothing is live: there is no module of the type %s yet", m.Type)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	inputs, wrong := inputprop.DecodeList(m.Inputs, "/inputs")
	if len(wrong) > 0 || len(inputs) == 0 { // without inputs every value is left out
		return nil, nil
	}

	var list manifest.Findings
	judged, refused, more := 0, 0, false
	_, err = each(ctx, s.instancesOf(module.ModuleDefinition.Id), allOf, func(page []client.InstanceRecord) (bool, error) {
		for i := range page {
			if page[i].LiveDeployment == nil {
				continue
			}
			if judged == most {
				more = true
				return false, nil
			}

			found, err := s.lintInstance(ctx, m, inputs, &page[i])
			if err != nil {
				return false, err
			}
			judged++
			if len(found.Errors()) > 0 {
				refused++
			}
			list = append(list, found...)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}

	text := fmt.Sprintf("checked the live inputs of %s: the next deployment of %d would be refused",
		counted(judged, "instance"), refused)
	if more {
		text += "; there are more"
	}
	s.note("%s", text)
	return list, nil
}

func (s *session) instancesOf(definitionID string) pageOf[client.InstanceRecord] {
	return func(ctx context.Context, first *int, after *string) ([]client.InstanceRecord, client.PageEnd, error) {
		r, err := client.Instances(ctx, s.conn, &client.ModuleInstanceFilter{ModuleDefinitionId: &definitionID}, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.ModuleInstances.Nodes, r.ModuleInstances.PageInfo, nil
	}
}

// lintInstance returns what inputs refuse in the values that an instance lives with, as its next deployment would take
// these over: without what there is no input for.
func (s *session) lintInstance(
	ctx context.Context, m *manifest.Manifest, inputs []inputprop.Property, instance *client.InstanceRecord,
) (manifest.Findings, error) {
	live, err := s.liveValues(ctx, instance)
	if err != nil {
		if _, isRefusal := errors.AsType[*codeError](err); isRefusal {
			s.note("%s was not checked: %v", nameOfInstance(instance), err)
			return nil, nil
		}
		return nil, err
	}

	level, kept := inputprop.NewLevel(inputs), &strictjson.Node{Kind: strictjson.Object}
	for i, id := range live.values.Keys {
		if in := level.ByID[id]; in != nil && !in.Traits.NoValue {
			kept.Append(id, live.values.Items[i])
		}
	}

	judged, err := s.judge(ctx, client.InputValuesInput{Inputs: jsonForms(m), ModuleInstanceId: &instance.Id}, kept.JSON())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOfInstance(instance), err)
	}

	var list manifest.Findings
	for _, v := range judged.Violations {
		list = append(list, manifest.Finding{
			File: nameOfInstance(instance), Pointer: v.Pointer, Message: v.Message, Code: v.Rule,
		})
	}
	for _, w := range judged.Warnings {
		list = append(list, manifest.Finding{
			File: nameOfInstance(instance), Pointer: w.Pointer, Message: w.Message, Code: w.Rule, Warning: true,
		})
	}
	return list, nil
}
