package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/release"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// deployPlan is the plan of a deployment with values of its own.
type deployPlan struct {
	*plan
	was   *client.TargetLive
	input client.CreateDeploymentInput
	// environmentID is that of the instance, and place its path.
	environmentID string
	place         manifest.Environment
}

// ofInstance fills in what is known of an instance, and returns the version that is to be deployed.
func (p *deployPlan) ofInstance(i *client.DeployTarget, version string) string {
	p.Instance = i.Project.Slug + "/" + i.Environment.Slug + "/" + i.Name
	p.environmentID = i.Environment.Id
	p.place = manifest.Environment{Project: i.Project.Slug, Slug: i.Environment.Slug}
	p.Module, p.was, p.input.ModuleInstanceId = i.ModuleDefinition.Type, i.LiveDeployment, i.Id

	if p.was == nil {
		if version == "" {
			return "latest"
		}
		return version
	}

	p.LiveDeployment, p.input.ExpectedLiveDeploymentId = &p.was.Id, &p.was.Id
	p.live = &client.PlannedLive{Id: p.was.Id, CompletedAt: p.was.CompletedAt, CreatedBy: p.was.CreatedBy}

	if p.was.Release == nil {
		return version
	}
	p.FromVersion = &p.was.Release.ModuleVersion.Version

	if version == "" {
		return p.was.Release.ModuleVersion.Id
	}
	return version
}

// ofNew fills in what is known of an instance that is still to be made, and returns how.
func (p *deployPlan) ofNew(
	ctx context.Context, s *session, d *deploying, ref string,
) (*made[client.InstanceRecord], error) {
	m, err := d.instance(ctx, s, ref)
	if err != nil {
		return nil, err
	}
	module, err := s.module(ctx, d.module())
	if err != nil {
		return nil, err
	}
	last := strings.LastIndexByte(ref, '/')
	environment, err := s.environment(ctx, ref[:last])
	if err != nil {
		return nil, err
	}
	p.Instance, p.Creates, p.Module, p.environmentID = ref, true, module.Type, environment.Id
	p.place.Project, p.place.Slug, _ = strings.Cut(ref[:last], "/")
	return &m, nil
}

// versionToDeploy returns a version of a module, by its id or its number.
func (s *session) versionToDeploy(ctx context.Context, module, version string) (*client.DeployableVersion, error) {
	if version == "" {
		return nil, setting.Usagef("--version: want a version, found none, and the one that is live is not known")
	}
	versionID := version
	if !id.Of(id.ModuleVersion, version) {
		var err error
		if versionID, err = s.versionID(ctx, module+"@"+version); err != nil {
			return nil, err
		}
	}
	r, err := client.VersionToDeploy(ctx, s.conn, versionID)
	if err != nil {
		return nil, err
	}
	return r.ModuleVersion, nil
}

// askWith has the server plan the deployment with values.
func (p *deployPlan) askWith(ctx context.Context, s *session, g *givenInputs, version *client.DeployableVersion) error {
	if p.Creates {
		return p.judge(ctx, s, version, g)
	}

	p.input.Inputs, p.input.InputsFromDeploymentId, p.input.WithoutInputs = g.sent, g.from, g.without
	if g.from == nil && p.input.Artifact == nil && p.was != nil && p.was.Release != nil &&
		string(p.was.Release.Artifact) != "null" {
		p.input.Artifact = p.was.Release.Artifact
	}

	planned, err := p.ask(ctx, s, client.DeploymentPlanInput{Create: &p.input})
	if err != nil {
		return err
	}

	if p.Refusal != nil && p.Refusal.Code == string(fault.DeploymentInputsUnknown) {
		return refusedf("what was given to %s, which is live at %s, is not kept: give --values; "+
			"slipway values --instance %[2]s writes them", *g.from, p.Instance)
	}
	if p.refused != nil && p.refused.Code == string(fault.DeploymentForbidden) {
		return p.judge(ctx, s, version, g)
	}
	if wrong := violationsInValues(planned.Violations); len(wrong) > 0 {
		return s.violations(g.values.Findings(wrong))
	}

	for i, c := range p.Inputs {
		p.differences[i] = g.differenceOf(c, version.Version)
	}
	return nil
}

// violationsInValues returns violations with their places in the values, none if there are others as well.
func violationsInValues(records []client.ViolationRecord) []fault.Violation {
	violations := make([]fault.Violation, len(records))
	for i, v := range records {
		_, place, found := strings.Cut(v.Pointer, "/inputs")
		if !found {
			return nil
		}
		violations[i] = fault.Violation{Pointer: place, Rule: v.Rule, Message: v.Message}
	}
	return violations
}

// judge has the server judge the values alone, if it does not plan the deployment: of an instance that is still to
// be made, and for who may only read, who is told what would change if somebody else deploys it.
func (p *deployPlan) judge(ctx context.Context, s *session, version *client.DeployableVersion, g *givenInputs) error {
	in := client.InputValuesInput{
		ModuleVersionId: &version.Id, Values: g.sent, InputsFromDeploymentId: g.from, WithoutInputs: g.without,
	}
	if p.Creates {
		in.EnvironmentId = &p.environmentID
	} else {
		in.ModuleInstanceId = &p.input.ModuleInstanceId
	}

	r, err := client.JudgeValues(ctx, s.conn, in)
	if err != nil {
		return err
	}

	if wrong := r.ValidateInputs.Violations; len(wrong) > 0 {
		violations := make([]fault.Violation, len(wrong))
		for i, v := range wrong {
			violations[i] = fault.Violation{Pointer: v.Pointer, Rule: v.Rule, Message: v.Message}
		}
		return s.violations(g.values.Findings(violations))
	}

	demanded, err := client.EnvironmentRequirements(ctx, s.conn, p.environmentID)
	if err != nil {
		return err
	}

	p.differences = nil // of what was planned for somebody who may not make it
	p.Refusal, p.Warnings, p.Requirements = nil, r.ValidateInputs.Warnings, demanded.Environment.Requirements
	p.input.Inputs, p.input.InputsFromDeploymentId, p.input.WithoutInputs = g.sent, g.from, g.without

	return p.compare(ctx, r.ResolveInputs.Values, version, g)
}

// compare notes how values, and the artifact that was given, differ from what is live.
func (p *deployPlan) compare(
	ctx context.Context, values json.RawMessage, version *client.DeployableVersion, g *givenInputs,
) (err error) {
	var before client.TargetRelease
	if p.was != nil && p.was.Release != nil {
		before = *p.was.Release
	}

	if p.Inputs, err = changesBetween(ctx, before.Inputs, values); err != nil {
		return err
	}
	for _, c := range p.Inputs {
		p.differences = append(p.differences, g.differenceOf(c, version.Version))
	}

	if p.input.Artifact == nil {
		return nil
	}
	p.Artifact, err = changesBetween(ctx, before.Artifact, p.input.Artifact)
	for _, c := range p.Artifact {
		p.differences = append(p.differences, differenceOf("artifact:", c))
	}
	return err
}

// differenceOf returns how an input differs, noting that it is the default of the version if nobody has given it.
func (g *givenInputs) differenceOf(c client.ChangeRecord, version string) difference {
	d := differenceOf("", c)
	keys := fault.Keys(c.Pointer)
	if c.Kind != client.ReleaseChangeKindRemoved && len(keys) > 0 && !slices.Contains(g.ids, keys[0]) {
		d.Note = "default of " + version
	}
	return d
}

func changesBetween(ctx context.Context, before, after json.RawMessage) ([]client.ChangeRecord, error) {
	changes, err := release.Diff(ctx, before, after)
	records := make([]client.ChangeRecord, len(changes))
	for i, c := range changes {
		records[i] = client.ChangeRecord{
			Pointer: c.Pointer, Kind: client.ReleaseChangeKind(c.Kind), Before: c.Before, After: c.After, Masked: c.Masked,
			Immutable: c.Immutable,
		}
	}
	return records, err
}

// inputsOf returns the inputs of a version.
func inputsOf(v *client.DeployableVersion) ([]inputprop.Property, error) {
	n, err := strictjson.ParseStored(v.InputsJson)
	if err != nil {
		return nil, err
	}
	inputs, violations := inputprop.DecodeList(n, "")
	if len(violations) > 0 {
		return nil, fmt.Errorf("the inputs of %s %s have what this program does not know: %s %s; "+
			"is it older than the server?",
			v.ModuleDefinition.Type, v.Version, violations[0].Pointer, violations[0].Message)
	}
	return inputs, nil
}
