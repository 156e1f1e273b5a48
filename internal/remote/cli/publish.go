package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// publication is a version that is to be published.
type publication struct {
	draft, global bool
	version       string

	manifest *manifest.Manifest
	content  *content
	// module is the module that it becomes a version of, nil if that is still to be made.
	module *client.ModuleRecord
	// shadowed says that there is a global module of the type, which the organization's own goes before.
	shadowed bool
	// warnings are the server's.
	warnings manifest.Findings
}

func (c *Config) modulesPublishCommand() *cobra.Command {
	var p publication
	cmd := c.changing(&cobra.Command{
		Use: "publish [FILE]", Short: "Publish a module version", Args: cobra.MaximumNArgs(1),
		Long: `Publish the module version of a manifest (default: ` + manifest.FileName + `; - is standard
input). The module is created if it is missing. Publishing succeeds if the version exists with the
same content. If the content differs, the version is rejected and the difference is shown.

The manifest is checked first, as by slipway modules lint. Without a source, the manifest gets the
URL of git's remote "origin", the current commit and the folder of the manifest.`,
		Example: "  slipway modules publish\n  slipway modules publish modules/queue.yaml --version 1.4.0 --yes",
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, versionView); err != nil {
			return err
		}
		if err := p.checkOrganization(s.conn.Organization); err != nil {
			return err
		}
		if err := p.read(ctx, s, fileOf(args)); err != nil {
			return err
		}
		return p.publish(ctx, s)
	})
	setting.AddFlag(cmd.Flags(), &p.version, "version", "", setting.Text,
		"version to publish, instead of the version in the manifest")
	setting.AddFlag(cmd.Flags(), &p.draft, "draft", "false", setting.Bool,
		"if the module is new, create it as a draft")
	setting.AddFlag(cmd.Flags(), &p.global, "global", "false", setting.Bool,
		"publish for all organizations; needs --organization global; superadmins only")
	return cmd
}

// global is what stands for all organizations if one is named.
const global = "global"

// checkOrganization makes sure that what is published for all organizations is meant for them.
func (p *publication) checkOrganization(name string) error {
	switch isGlobal := name == global; {
	case p.global && !isGlobal && name == "":
		return setting.Usagef("--global: want --organization %s as well, found none", global)
	case p.global && !isGlobal:
		return setting.Usagef("--global: want --organization %s as well, found %q", global, name)
	case !p.global && isGlobal:
		return setting.Usagef("--organization %s: want --global as well, to publish for all organizations, found none",
			global)
	}
	return nil
}

// read reads the manifest, and refuses one in which something is wrong.
func (p *publication) read(ctx context.Context, s *session, name string) error {
	text, err := s.readFile(ctx, name, document.MaxBytes)
	if err != nil {
		return err
	}

	m, list, err := lintFile(ctx, titleOfFile(name), text, p.version)
	if err != nil {
		return err
	}
	if len(list.Errors()) > 0 {
		return s.refuse(fault.RequestInvalid, "The manifest cannot be published", list)
	}
	s.tellWarnings(list)

	if p.version == "" {
		p.version = m.Version
	}

	source, err := s.sourceOf(ctx, m, filepath.Dir(name))
	if err != nil {
		return err
	}

	p.manifest, p.content = m, contentOfManifest(m, source)
	return nil
}

// sourceOf returns the source of a manifest, git's if it names none.
func (s *session) sourceOf(ctx context.Context, m *manifest.Manifest, folder string) (*manifest.Source, error) {
	var below *string
	if m.Source != nil {
		if m.Source.URL != nil || m.Source.Ref != nil {
			return m.Source, nil
		}
		below = m.Source.Path
	}

	source, err := manifest.GitSource(ctx, folder, below)
	if err != nil {
		return nil, err
	}

	changed, err := manifest.IsChanged(ctx, folder)
	if err != nil {
		return nil, err
	}
	if changed {
		s.note("warning: there are changes that are in no commit of git; the version has the source of the commit %s",
			*source.Ref)
	}
	return source, nil
}

func (p *publication) publish(ctx context.Context, s *session) error {
	published, err := p.look(ctx, s)
	if err != nil {
		return err
	}
	if published != nil {
		s.note("%s %s is published already", p.manifest.Type, p.version)
		return show(s, versionView, published)
	}

	lines, err := p.news(ctx, s)
	if err != nil {
		return err
	}
	if err := s.confirm(ctx, change{
		question: fmt.Sprintf("Publish %s %s?", p.manifest.Type, p.version), lines: lines,
	}); err != nil {
		return err
	}

	if err := p.makeModule(ctx, s); err != nil {
		return p.placed(s, err)
	}

	err = s.conn.write(ctx, func(ctx context.Context) (bool, error) {
		published, err = p.published(ctx, s)
		return published != nil, err
	}, func(ctx context.Context, g graphql.Client) error {
		r, err := client.PublishVersion(ctx, g, p.input())
		if isCode(err, fault.ModuleVersionTaken) { // by somebody else at the same time
			published, err = p.published(ctx, s)
			return err
		}
		if err != nil {
			return err
		}
		published = &r.PublishModuleVersion.ModuleVersion
		p.warnings = append(p.warnings, p.manifest.Warnings(warningsOf(r.PublishModuleVersion.Warnings))...)
		return nil
	})

	s.tellWarnings(p.warnings)
	if err != nil {
		return p.placed(s, err)
	}
	return show(s, versionView, published)
}

// look finds the module and the version, nil if they are not there.
func (p *publication) look(ctx context.Context, s *session) (*client.VersionRecord, error) {
	r, err := client.Module(ctx, s.conn, nil, &p.manifest.Type)
	if isCode(err, fault.ModuleDefinitionNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r.ModuleDefinition.OrganizationId == nil && !p.global {
		p.shadowed = true
		return nil, nil
	}
	p.module = r.ModuleDefinition
	return p.published(ctx, s)
}

// published returns the version if it was published with the same content, nil if it was not published. It
// refuses one that was published with other content.
func (p *publication) published(ctx context.Context, s *session) (*client.VersionRecord, error) {
	found, err := s.versionOf(ctx, p.module.Id, p.version)
	if err != nil || found == nil {
		return nil, err
	}
	lines, err := p.differences(ctx, s, found.Id)
	if err != nil || len(lines) == 0 {
		return found, err
	}
	return nil, &codeError{exitRefused, &client.Error{Data: fault.Data{
		Code: string(fault.ModuleVersionTaken),
		Message: fmt.Sprintf("%s %s is published already, with other content; publish another version.", p.manifest.Type,
			p.version),
		Details: []fault.Section{{Title: "From what is published to the manifest", Render: fault.RenderList, Items: lines}},
	}}}
}

// differences returns what differs from a version that is published, a line each.
func (p *publication) differences(ctx context.Context, s *session, versionID string) ([]string, error) {
	r, err := client.ModuleVersion(ctx, s.conn, versionID)
	if err != nil {
		return nil, err
	}
	before, err := contentOf(r.ModuleVersion)
	if err != nil {
		return nil, err
	}
	return before.differencesTo(ctx, p.content)
}

// news tells what the publication comes to.
func (p *publication) news(ctx context.Context, s *session) ([]string, error) {
	m := p.manifest
	if p.module == nil {
		module := fmt.Sprintf("+ module %s, %s, %s", m.Type, m.Name, p.status())
		if p.shadowed {
			module += ", which is used instead of the global module of this type"
		}
		return []string{
			module,
			fmt.Sprintf("+ version %s, %s, with %s", p.version, m.DeploymentType, counted(len(m.Inputs.Items), "input")),
		}, nil
	}

	if p.module.Name != m.Name || !same(p.module.Description, m.Description) {
		s.note("warning: the name or the description of the module %s is another one; "+
			"to publish a version does not change them", m.Type)
	}
	if p.draft {
		s.note("warning: the module %s already exists and is %s: --draft changes nothing", m.Type, p.module.Status)
	}

	if p.module.LatestVersion == nil {
		return []string{fmt.Sprintf("+ version %s of %s, the first, %s, with %s", p.version, m.Type, m.DeploymentType,
			counted(len(m.Inputs.Items), "input"))}, nil
	}

	latest, err := s.versionID(ctx, p.module.Id+"@latest")
	if err != nil {
		return nil, err
	}
	lines, err := p.differences(ctx, s, latest)
	if len(lines) == 0 {
		lines = []string{"nothing differs"}
	}
	return append([]string{fmt.Sprintf("%s %s -> %s", m.Type, *p.module.LatestVersion, p.version)}, lines...), err
}

// same reports whether two texts are, where an absent one is empty.
func same(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b || a == nil && *b == "" || b == nil && *a == ""
}

func (p *publication) status() client.ModuleDefinitionStatus {
	if p.draft {
		return client.ModuleDefinitionStatusDraft
	}
	return client.ModuleDefinitionStatusActive
}

// makeModule makes the module if there is none.
func (p *publication) makeModule(ctx context.Context, s *session) error {
	return s.conn.write(ctx, func(ctx context.Context) (bool, error) {
		if p.module != nil {
			return true, nil
		}
		_, err := p.look(ctx, s)
		return p.module != nil, err
	}, func(ctx context.Context, g graphql.Client) error {
		status := p.status()
		r, err := client.CreateModule(ctx, g, client.CreateModuleDefinitionInput{
			Type: p.manifest.Type, Name: p.manifest.Name, Description: p.manifest.Description, Status: &status,
		})
		if err != nil {
			return err
		}
		p.module = &r.CreateModuleDefinition.ModuleDefinition
		p.warnings = p.manifest.Warnings(warningsOf(r.CreateModuleDefinition.Warnings))
		return nil
	})
}

func (p *publication) input() client.PublishModuleVersionInput {
	in := client.PublishModuleVersionInput{
		ModuleDefinitionId: p.module.Id, Version: p.version, DeploymentType: p.manifest.DeploymentType,
		Inputs: jsonForms(p.manifest), SourceUrl: p.content.SourceURL, SourceRef: p.content.SourceRef,
		SourcePath: p.content.SourcePath,
	}
	for _, o := range p.manifest.Outputs {
		in.Outputs = append(in.Outputs, client.ModuleOutputInput{Name: o.Name, Description: o.Description, Secret: &o.Secret})
	}
	return in
}

// placed returns the error of a write. What the server finds wrong is told where it was written.
func (p *publication) placed(s *session, err error) error {
	if violations := violationsOf(err); len(violations) > 0 {
		return s.refuse(fault.RequestInvalid, "The manifest cannot be published", p.manifest.Violations(violations))
	}
	return err
}
