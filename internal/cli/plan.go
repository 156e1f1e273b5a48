package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/cli/manifest"
	"slipway/internal/client"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/inputprop"
	"slipway/internal/release"
	"slipway/internal/setting"
	"slipway/internal/strictjson"
)

// plan is what a deployment would change, as the server judges it now.
type plan struct {
	// Instance is the path of the instance, and Creates whether it is still to be made.
	Instance string `json:"instance"`
	Creates  bool   `json:"creates"`
	// LiveDeployment is what is live, FromVersion its version, and ToVersion the one that would be deployed.
	LiveDeployment *string `json:"liveDeployment"`
	Module         string  `json:"module"`
	FromVersion    *string `json:"fromVersion"`
	ToVersion      string  `json:"toVersion"`
	// Inputs and Artifact are the leaves that would differ from what is live.
	Inputs   []client.ChangeRecord  `json:"inputs"`
	Artifact []client.ChangeRecord  `json:"artifact"`
	Warnings []client.WarningRecord `json:"warnings"`

	// differences are these leaves for people.
	differences []difference
	live        *client.TargetLive
	input       client.CreateDeploymentInput
	place       manifest.Environment
}

var planView = view[plan]{
	columns: []column{{"INSTANCE", "instance"}, {"MODULE", "module"}, {"FROM", "fromVersion"}, {"TO", "toVersion"}},
	name:    func(p *plan) string { return p.Instance },
}

// ofInstance fills in what is known of an instance, and returns the version that is to be deployed.
func (p *plan) ofInstance(i *client.DeployTarget, version string) string {
	p.Instance = i.Project.Slug + "/" + i.Environment.Slug + "/" + i.Name
	p.place = manifest.Environment{Project: i.Project.Slug, Slug: i.Environment.Slug}
	p.Module, p.live, p.input.ModuleInstanceId = i.ModuleDefinition.Type, i.LiveDeployment, i.Id
	if p.live == nil {
		if version == "" {
			return "latest"
		}
		return version
	}
	p.LiveDeployment, p.input.ExpectedLiveDeploymentId = &p.live.Id, &p.live.Id
	if p.live.Release == nil {
		return version
	}
	p.FromVersion = &p.live.Release.ModuleVersion.Version
	if version == "" {
		return p.live.Release.ModuleVersion.Id
	}
	return version
}

// ofNew fills in what is known of an instance that is still to be made, and returns how, and its environment.
func (p *plan) ofNew(ctx context.Context, s *session, d *deploying, ref string) (*made[client.InstanceRecord], string, error) {
	m, err := d.instance(ctx, s, ref)
	if err != nil {
		return nil, "", err
	}
	module, err := s.module(ctx, d.module())
	if err != nil {
		return nil, "", err
	}
	last := strings.LastIndexByte(ref, '/')
	environment, err := s.environment(ctx, ref[:last])
	if err != nil {
		return nil, "", err
	}
	p.Instance, p.Creates, p.Module = ref, true, module.Type
	p.place.Project, p.place.Slug, _ = strings.Cut(ref[:last], "/")
	return &m, environment.Id, nil
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

// versions tells in markdown which version takes the place of which.
func (p *plan) versions() string {
	switch {
	case p.FromVersion == nil:
		return fmt.Sprintf("%s, %s for the first time", code(p.Module), code(p.ToVersion))
	case *p.FromVersion == p.ToVersion:
		return fmt.Sprintf("%s, still %s", code(p.Module), code(p.ToVersion))
	}
	return fmt.Sprintf("%s, from %s to %s", code(p.Module), code(*p.FromVersion), code(p.ToVersion))
}

// judge has the server judge the values, and adds what would differ from what is live, leaf by leaf.
func (p *plan) judge(ctx context.Context, s *session, version *client.DeployableVersion, g *givenInputs, environmentID string) error {
	in := client.InputValuesInput{ModuleVersionId: &version.Id, Values: g.sent, InputsFrom: g.from, WithoutInputs: g.without}
	if p.Creates {
		in.EnvironmentId = &environmentID
	} else {
		in.ModuleInstanceId = &p.input.ModuleInstanceId
	}
	r, err := client.JudgeValues(ctx, s.conn, in)
	switch {
	case isCode(err, fault.DeploymentInputsUnknown):
		return refusedf("what was given to %s, which is live at %s, is not kept: give --values; slipway values --instance %[2]s writes them", *g.from, p.Instance)
	case err != nil:
		return err
	}
	if wrong := r.ValidateInputs.Violations; len(wrong) > 0 {
		violations := make([]fault.Violation, len(wrong))
		for i, v := range wrong {
			violations[i] = fault.Violation{Pointer: v.Pointer, Rule: v.Rule, Message: v.Message}
		}
		return s.violations(g.values.Findings(violations))
	}
	p.Warnings = r.ValidateInputs.Warnings
	p.input.Inputs, p.input.InputsFrom, p.input.WithoutInputs = g.sent, g.from, g.without
	var before json.RawMessage
	if p.live != nil && p.live.Release != nil {
		before = p.live.Release.Inputs
	}
	changes, err := release.Diff(ctx, before, r.ResolveInputs.Values)
	if err != nil {
		return err
	}
	for _, c := range changes {
		record := changeRecord(c)
		p.Inputs = append(p.Inputs, record)
		d := differenceOf("", record)
		keys := fault.Keys(c.Pointer)
		if c.Kind != release.Removed && len(keys) > 0 && !slices.Contains(g.ids, keys[0]) {
			d.Note = "default of " + version.Version
		}
		p.differences = append(p.differences, d)
	}
	return nil
}

// compareArtifact adds what would differ of the artifact, where one is given.
func (p *plan) compareArtifact(ctx context.Context) error {
	if p.input.Artifact == nil {
		return nil
	}
	changes, err := release.Diff(ctx, p.liveArtifact(), p.input.Artifact)
	for _, c := range changes {
		record := changeRecord(c)
		p.Artifact = append(p.Artifact, record)
		p.differences = append(p.differences, differenceOf("artifact:", record))
	}
	return err
}

// liveArtifact returns the artifact that is live, nil where there is none.
func (p *plan) liveArtifact() json.RawMessage {
	if p.live == nil || p.live.Release == nil || string(p.live.Release.Artifact) == "null" {
		return nil
	}
	return p.live.Release.Artifact
}

func changeRecord(c release.Change) client.ChangeRecord {
	return client.ChangeRecord{
		Pointer: c.Pointer, Kind: client.ReleaseChangeKind(c.Kind), Before: c.Before, After: c.After, Masked: c.Masked, Immutable: c.Immutable,
	}
}

// inputsOf returns the inputs of a version.
func inputsOf(v *client.DeployableVersion) ([]inputprop.Property, error) {
	n, err := strictjson.ParseStored(v.InputsJson)
	if err != nil {
		return nil, err
	}
	inputs, violations := inputprop.DecodeList(n, "")
	if len(violations) > 0 {
		return nil, fmt.Errorf("the inputs of %s %s have what this program does not know: %s %s; is it older than the server?",
			v.ModuleDefinition.Type, v.Version, violations[0].Pointer, violations[0].Message)
	}
	return inputs, nil
}

// lines tell of a plan what it comes to, for people.
func (p *plan) lines(s *session) []string {
	head := p.Instance + gap + p.Module + " "
	if p.FromVersion != nil && *p.FromVersion != p.ToVersion {
		head += *p.FromVersion + " -> "
	}
	head += p.ToVersion + gap
	switch {
	case p.Creates:
		head += "a new instance"
	case p.live == nil:
		head += "nothing is live"
	default:
		head += "live: " + s.when(p.live.CompletedAt) + "by " + p.live.CreatedBy
	}
	lines := append([]string{head}, linesOfDifferences(p.differences)...)
	for _, w := range p.Warnings {
		lines = append(lines, "warning: "+w.Pointer+" "+w.Message)
	}
	return lines
}

// when returns a moment as people read it on standard error, with a blank after it; nothing for none.
func (s *session) when(at *time.Time) string {
	switch {
	case at == nil:
		return ""
	case s.asks:
		return age(*at, s.config.Now(), true) + " "
	}
	return at.UTC().Format(time.RFC3339) + " "
}

// linesOfDifferences returns differences one below the other.
func linesOfDifferences(all []difference) (lines []string) {
	if len(all) == 0 {
		return []string{"nothing differs from what is live"}
	}
	var where, values int
	texts := make([]string, len(all))
	for i, d := range all {
		switch d.Sign {
		case "~":
			texts[i] = d.Before + " -> " + d.After
		default:
			texts[i] = cmp.Or(d.Before, d.After)
		}
		if d.Before == "" && d.After == "" {
			texts[i] = ""
		}
		where, values = max(where, widthOf(d.Where)), max(values, widthOf(texts[i]))
	}
	for i, d := range all {
		line := d.Sign + " " + pad(d.Where, where) + gap + texts[i]
		if d.Note != "" {
			line = d.Sign + " " + pad(d.Where, where) + gap + pad(texts[i], values) + gap + d.Note
		}
		lines = append(lines, line)
	}
	return lines
}
