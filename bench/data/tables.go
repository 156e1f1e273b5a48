package data

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
)

// Table is the rows of one table.
type Table struct {
	Name    string
	Columns []string
	// Count is how many numbers there are, and Row returns the row of a number from 0, nil if it has none.
	Count int
	Row   func(number int) ([]any, error)
}

// Tables returns all rows of all tables.
func (w World) Tables() []Table {
	return []Table{
		newTable("organizations", "id created_at updated_at name slug", Organizations, organization),
		newTable(
			"tokens", "id created_at updated_at organization_id name role hash prefix last_four", Organizations+TokensOfLarge-1,
			token,
		),
		newTable("projects", "id created_at updated_at organization_id name slug", Projects, project),
		newTable("environments", "id created_at updated_at organization_id project_id name slug", Environments, environment),
		newTable("module_definitions", "id created_at updated_at organization_id name description type search_text status "+
			"latest_version latest_version_id",
			Definitions, definition),
		newTable("module_versions", "id created_at updated_at organization_id module_definition_id version kind inputs",
			Definitions*len(versions), version),
		newTable("module_instances", "id created_at updated_at organization_id project_id environment_id "+
			"module_definition_id name live_deployment_id",
			Instances, w.instance),
		newTable("cloud_services", "organization_id service_arn module_instance_id created_at updated_at", Instances, owned),
		newTable(
			"releases", "id created_at updated_at organization_id module_version_id digest content",
			Instances*releasesPerInstance, w.sealed,
		),
		newTable("deployments", "id created_at updated_at organization_id project_id environment_id module_instance_id "+
			"release_id deployment_type "+
			"trigger_source status description started_at completed_at error external_deployment_id pipeline_run_id "+
			"step_execution_id resource_arn "+
			"resource_name rollback_to_deployment_id data created_by version", w.Deployments, w.deployment),
	}
}

func newTable(name, columns string, count int, row func(number int) ([]any, error)) Table {
	return Table{Name: name, Columns: strings.Fields(columns), Count: count, Row: row}
}

// Fingerprint returns a text that is another one if the rows are others, as far as some of each table show.
func (w World) Fingerprint() (string, error) {
	const some = 100
	var text []byte
	for _, t := range w.Tables() {
		text = fmt.Appendln(text, t.Name, t.Columns, t.Count)
		for number := 0; number < t.Count; number += 1 + t.Count/some {
			row, err := t.Row(number)
			if err != nil {
				return "", err
			}
			text = fmt.Appendln(text, row...)
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

func organization(n int) ([]any, error) {
	at := epoch.AddDate(0, 0, -1)
	return []any{ID(id.Organization, n), at, at, OrganizationName(n), OrganizationSlug(n)}, nil
}

// OrganizationName returns the name of an organization.
func OrganizationName(organization int) string { return fmt.Sprintf("Organization %d", organization) }

// OrganizationSlug returns the slug of an organization.
func OrganizationSlug(organization int) string { return fmt.Sprintf("organization-%d", organization) }

// TokenName returns the name of the tokens of an organization.
func TokenName(organization int) string { return fmt.Sprintf("ci-%d", organization) }

// TokenRole is the role of every token.
const TokenRole = actor.Developer

func token(n int) ([]any, error) {
	owner, number := n, 0
	if n >= Organizations {
		owner, number = 0, n-Organizations+1
	}
	secret, at := Token(owner, number), epoch.AddDate(0, 0, -1)
	return []any{ID(id.Token, n), at, at, ID(id.Organization, owner), TokenName(owner), string(TokenRole),
		secret.Hash(), secret.Prefix(), secret.LastFour()}, nil
}

func project(n int) ([]any, error) {
	at := epoch.AddDate(0, 0, -1)
	return []any{
		ID(id.Project, n), at, at, ID(id.Organization, n%Organizations), ProjectName(n), fmt.Sprintf("project-%d", n),
	}, nil
}

// ProjectName returns the name of a project.
func ProjectName(project int) string { return fmt.Sprintf("Project %d", project) }

func environment(n int) ([]any, error) {
	at := epoch.AddDate(0, 0, -1)
	return []any{ID(id.Environment, n), at, at, ID(id.Organization, OrganizationOf(n)), ID(id.Project, ProjectOf(n)),
		EnvironmentName(n), fmt.Sprintf("environment-%d", n)}, nil
}

// EnvironmentName returns the name of an environment.
func EnvironmentName(environment int) string { return fmt.Sprintf("Environment %d", environment) }

// owner returns the organization's id of a definition, nil for a global one.
func (d Definition) owner() any {
	if organization, ok := d.Organization(); ok {
		return ID(id.Organization, organization)
	}
	return nil
}

func definition(n int) ([]any, error) {
	d := Definition(n)
	latest, latestID := d.LatestVersion()
	search := strings.ToLower(d.Name() + "\n" + d.Type() + "\n" + d.Description())
	return []any{
		d.ID(), d.CreatedAt(), d.CreatedAt(), d.owner(), d.Name(), d.Description(), d.Type(), search, "ACTIVE", latest,
		latestID,
	}, nil
}

func version(n int) ([]any, error) {
	d, number := Definition(n/len(versions)), n%len(versions)
	return []any{
		d.VersionID(number), d.CreatedAt(), d.CreatedAt(), d.owner(), d.ID(), versions[number], DeploymentType, moduleInputs,
	}, nil
}

func (w World) instance(n int) ([]any, error) {
	i := InstanceOf(n)
	var live any
	if d, ok := w.Live(i); ok {
		live = d.ID()
	}
	return []any{i.ID(), i.CreatedAt(), i.CreatedAt(), ID(
		id.Organization, OrganizationOf(i.Environment),
	), ID(id.Project, ProjectOf(i.Environment)),
		ID(id.Environment, i.Environment), Definition(i.Definition()).ID(), i.Name(), live}, nil
}

func owned(n int) ([]any, error) {
	i := InstanceOf(n)
	return []any{
		ID(id.Organization, OrganizationOf(i.Environment)), i.ServiceARN(), i.ID(), i.CreatedAt(), i.CreatedAt(),
	}, nil
}

func (w World) sealed(n int) ([]any, error) {
	i, number := InstanceOf(n/releasesPerInstance), n%releasesPerInstance
	if _, ok := w.First(i); !ok {
		return nil, nil // nothing ships it
	}
	s, err := i.seal(number)
	return []any{i.releaseID(number), epoch, epoch, ID(id.Organization, OrganizationOf(i.Environment)),
		Definition(i.Definition()).VersionID(number), s.Digest, s.JSON}, err
}

// failure is the error of every deployment that has failed.
var failure = func() string {
	text, err := json.Marshal(fault.Data{Code: "aws:ecs:TASK_FAILED", Message: "A task did not become healthy in time."})
	if err != nil {
		panic(err) // it has only texts
	}
	return string(text)
}()

func (w World) deployment(n int) ([]any, error) {
	d := w.Deployment(n)
	i := d.Instance()
	var failed, target any
	if !d.Succeeded() {
		failed = failure
	}
	if to, ok := d.RollbackTo(); ok {
		target = to.ID()
	}
	return []any{
		d.ID(), d.CreatedAt(), d.CompletedAt(), ID(id.Organization, OrganizationOf(d.Environment)),
		ID(id.Project, ProjectOf(d.Environment)),
		ID(id.Environment, d.Environment), i.ID(), i.releaseID(d.release()), DeploymentType,
		d.TriggerSource(), d.Status(), d.Description(), d.StartedAt(), d.CompletedAt(), failed,
		fmt.Sprintf("ecs-svc/%019d", n), fmt.Sprintf("run-%d", n), fmt.Sprintf("step-%d", n),
		fmt.Sprintf("arn:aws:ecs:eu-west-1:123456789012:service/main/service-%d", i.Number()),
		d.ResourceName(), target, d.Data(), d.CreatedBy(), 3,
	}, nil
}
