package cli

import (
	"context"
	"regexp"
	"strings"

	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// The names that stand for ids. What is wanted of each is said if something else is found.
const (
	wantProject     = "the slug of a project, or prj_…"
	wantEnvironment = "PROJECT/ENVIRONMENT, or env_…"
	wantInstance    = "PROJECT/ENVIRONMENT/INSTANCE, or inst_…"
	wantDeployment  = "dep_…, or INSTANCE@live, INSTANCE@last or INSTANCE@previous"
	wantModule      = "the type of a module, or mod_…"
	wantVersion     = "MODULE@VERSION, MODULE@latest, or mver_…"
	wantRelease     = "rel_…, or a deployment: " + wantDeployment
)

var (
	slug       = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,59}$`)
	moduleType = regexp.MustCompile(`^[0-9A-Za-z_-]+([:/.][0-9A-Za-z_-]+)*$`)
)

// isPath reports whether a text is so many slugs with slashes between.
func isPath(text string, slugs int) bool {
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if !slug.MatchString(part) {
			return false
		}
	}
	return len(parts) == slugs
}

// byIDOrPath tells an id of a kind from a path of so many slugs.
func byIDOrPath(what, text string, kind id.Kind, slugs int, wanted string) (byID, byPath *string, err error) {
	switch {
	case id.Of(kind, text):
		return &text, nil, nil
	case isPath(text, slugs):
		return nil, &text, nil
	}
	return nil, nil, setting.Usagef("%s: want %s, found %q", what, wanted, text)
}

func (s *session) project(ctx context.Context, ref string) (*client.ProjectRecord, error) {
	byID, bySlug, err := byIDOrPath("project", ref, id.Project, 1, wantProject)
	if err != nil {
		return nil, err
	}
	r, err := client.Project(ctx, s.conn, byID, bySlug)
	if err != nil {
		return nil, err
	}
	return r.Project, nil
}

func (s *session) environment(ctx context.Context, ref string) (*client.EnvironmentRecord, error) {
	byID, byPath, err := byIDOrPath("environment", ref, id.Environment, 2, wantEnvironment)
	if err != nil {
		return nil, err
	}
	r, err := client.Environment(ctx, s.conn, byID, byPath)
	if err != nil {
		return nil, err
	}
	return r.Environment, nil
}

func (s *session) instance(ctx context.Context, ref string) (*client.InstanceRecord, error) {
	byID, byPath, err := byIDOrPath("instance", ref, id.ModuleInstance, 3, wantInstance)
	if err != nil {
		return nil, err
	}
	r, err := client.Instance(ctx, s.conn, byID, byPath)
	if err != nil {
		return nil, err
	}
	return r.ModuleInstance, nil
}

// isDeployment reports whether a text has the form of what stands for a deployment.
func isDeployment(ref string) bool { return id.Of(id.Deployment, ref) || strings.Contains(ref, "@") }

// deploymentID returns the id of the deployment that a name stands for.
func (s *session) deploymentID(ctx context.Context, ref string) (string, error) {
	if id.Of(id.Deployment, ref) {
		return ref, nil
	}

	name, which, ok := strings.Cut(ref, "@")
	if !ok || which != "live" && which != "last" && which != "previous" {
		return "", setting.Usagef("deployment: want %s, found %q", wantDeployment, ref)
	}

	instance, err := s.instance(ctx, name)
	if err != nil {
		return "", err
	}

	switch {
	case which == "last" && instance.LastDeployment == nil:
		return "", refusedf("%s never had a deployment", name)
	case which == "last":
		return instance.LastDeployment.Id, nil
	case instance.LiveDeployment == nil:
		return "", refusedf("nothing is live at %s", name)
	case which == "live":
		return instance.LiveDeployment.Id, nil
	}
	return s.previous(ctx, instance)
}

// previous returns the deployment that a rollback goes back to, as the server has it.
func (s *session) previous(ctx context.Context, instance *client.InstanceRecord) (string, error) {
	if instance.LiveDeployment.Release == nil {
		return "", refusedf("the release that is live at %s is not stored", nameOfInstance(instance))
	}
	r, err := client.InstancePrevious(ctx, s.conn, instance.Id)
	if err != nil {
		return "", err
	}
	if r.ModuleInstance.PreviousDeployment == nil {
		return "", refusedf("%s has no earlier release to go back to: none that succeeded before the live one, "+
			"is not quarantined and was not taken back by the cloud", nameOfInstance(instance))
	}
	return r.ModuleInstance.PreviousDeployment.Id, nil
}

func (s *session) deploymentPages(filter *client.DeploymentFilter) pageOf[client.DeploymentRecord] {
	return func(ctx context.Context, first *int, after *string) ([]client.DeploymentRecord, client.PageEnd, error) {
		r, err := client.Deployments(ctx, s.conn, filter, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.Deployments.Nodes, r.Deployments.PageInfo, nil
	}
}

func (s *session) module(ctx context.Context, ref string) (*client.ModuleRecord, error) {
	var byID, byType *string
	switch {
	case id.Of(id.ModuleDefinition, ref):
		byID = &ref
	case moduleType.MatchString(ref):
		byType = &ref
	default:
		return nil, setting.Usagef("module: want %s, found %q", wantModule, ref)
	}
	r, err := client.Module(ctx, s.conn, byID, byType)
	if err != nil {
		return nil, err
	}
	return r.ModuleDefinition, nil
}

// versionID returns the id of the version that a name stands for.
func (s *session) versionID(ctx context.Context, ref string) (string, error) {
	if id.Of(id.ModuleVersion, ref) {
		return ref, nil
	}

	name, number, ok := strings.Cut(ref, "@")
	if !ok || number == "" {
		return "", setting.Usagef("version: want %s, found %q", wantVersion, ref)
	}

	module, err := s.module(ctx, name)
	if err != nil {
		return "", err
	}

	if number == "latest" {
		r, err := client.LatestVersion(ctx, s.conn, module.Id)
		if err != nil {
			return "", err
		}
		if r.ModuleDefinition == nil || r.ModuleDefinition.LatestModuleVersion == nil {
			return "", refusedf("%s has no published version", name)
		}
		return r.ModuleDefinition.LatestModuleVersion.Id, nil
	}

	found, err := s.versionOf(ctx, module.Id, number)
	if err != nil {
		return "", err
	}
	if found == nil {
		return "", refusedf("%s has no version %s", name, number)
	}
	return found.Id, nil
}

// versionOf returns the version of a module that has a number, nil if there is none.
func (s *session) versionOf(ctx context.Context, moduleID, number string) (found *client.VersionRecord, err error) {
	_, err = each(ctx, s.versionPages(moduleID), allOf, func(page []client.VersionRecord) (bool, error) {
		for i := range page {
			if page[i].Version == number {
				found = &page[i]
			}
		}
		return found == nil, nil
	})
	return found, err
}

func (s *session) versionPages(moduleID string) pageOf[client.VersionRecord] {
	return func(ctx context.Context, first *int, after *string) ([]client.VersionRecord, client.PageEnd, error) {
		r, err := client.ModuleVersions(ctx, s.conn, moduleID, first, after)
		if err != nil || r.ModuleDefinition == nil {
			return nil, client.PageEnd{}, err
		}
		return r.ModuleDefinition.Versions.Nodes, r.ModuleDefinition.Versions.PageInfo, nil
	}
}

// releaseID returns the id of a release, which a deployment stands for, too.
func (s *session) releaseID(ctx context.Context, ref string) (string, error) {
	if id.Of(id.Release, ref) {
		return ref, nil
	}
	if !isDeployment(ref) {
		return "", setting.Usagef("release: want %s, found %q", wantRelease, ref)
	}
	d, err := s.deployment(ctx, ref)
	if err != nil {
		return "", err
	}
	if d.Release == nil {
		return "", refusedf("%s has no release that is stored", d.Id)
	}
	return d.Release.Id, nil
}

// deployment returns the deployment that a name stands for.
func (s *session) deployment(ctx context.Context, ref string) (*client.DeploymentDetail, error) {
	found, err := s.deploymentID(ctx, ref)
	if err != nil {
		return nil, err
	}
	r, err := client.Deployment(ctx, s.conn, found)
	if err != nil {
		return nil, err
	}
	return r.Deployment, nil
}
