package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"slipway/graph/model"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
)

const (
	idempotencyHeader  = "Idempotency-Key"
	expectedLiveHeader = "Expected-Live-Deployment"
	overrideHeader     = "Slipway-Override-Reason"
	reasonHeader       = "Slipway-Reason"
	// statusHeader tells where a deployment stands, which the record does not.
	statusHeader = "Slipway-Status"
)

// deployment is the record of a deployment.
type deployment struct {
	ID                     string      `json:"id"`
	CreatedAt              time.Time   `json:"createdAt"`
	UpdatedAt              time.Time   `json:"updatedAt"`
	OrganizationID         string      `json:"organizationId"`
	ProjectID              string      `json:"projectId"`
	EnvironmentID          string      `json:"environmentId"`
	ModuleInstanceID       string      `json:"moduleInstanceId"`
	DeploymentType         string      `json:"deploymentType"`
	TriggerSource          string      `json:"triggerSource"`
	Description            *string     `json:"description,omitempty"`
	StartedAt              *time.Time  `json:"startedAt,omitempty"`
	CompletedAt            *time.Time  `json:"completedAt,omitempty"`
	Error                  *fault.Data `json:"error,omitempty"`
	ExternalDeploymentID   *string     `json:"externalDeploymentId,omitempty"`
	PipelineRunID          *string     `json:"pipelineRunId,omitempty"`
	StepExecutionID        *string     `json:"stepExecutionId,omitempty"`
	ResourceARN            *string     `json:"resourceArn,omitempty"`
	ResourceName           *string     `json:"resourceName,omitempty"`
	RedeployOfDeploymentID *string     `json:"redeployOfDeploymentId,omitempty"`
	RollbackToDeploymentID *string     `json:"rollbackToDeploymentId,omitempty"`
	// Data is written behind the rest.
	Data json.RawMessage `json:"-"`
}

// end implements ender.
func (d deployment) end() (name string, value json.RawMessage) { return "data", d.Data }

func deploymentOf(d *record.Deployment) deployment {
	return deployment{
		ID: d.ID, CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
		OrganizationID: d.OrganizationID, ProjectID: d.ProjectID, EnvironmentID: d.EnvironmentID,
		ModuleInstanceID: d.ModuleInstanceID, DeploymentType: d.DeploymentType, TriggerSource: d.TriggerSource,
		Description: d.Description, StartedAt: utc(d.StartedAt), CompletedAt: utc(d.CompletedAt), Error: d.Error,
		ExternalDeploymentID: d.ExternalDeploymentID, PipelineRunID: d.PipelineRunID, StepExecutionID: d.StepExecutionID,
		ResourceARN: d.ResourceArn, ResourceName: d.ResourceName,
		RedeployOfDeploymentID: d.RedeployOfDeploymentID, RollbackToDeploymentID: d.RollbackToDeploymentID,
		Data: d.Data.JSON(),
	}
}

func getDeployment(q Queries, w Waiting) func(request) (answer, error) {
	return func(r request) (answer, error) {
		if err := r.checkNoInput(); err != nil {
			return answer{}, err
		}
		ctx, err := r.enter()
		if err != nil {
			return answer{}, err
		}
		ctx = record.WithColumns(ctx, shown)
		return w.untilChanged(ctx, r, r.id(), func() (answer, error) {
			d, err := q.Deployment(ctx, r.id())
			if err != nil {
				return answer{}, err
			}
			return answer{etag: etag(d.Version), state: string(d.Status), body: envelope{Data: deploymentOf(d)}}, nil
		})
	}
}

// replayHeaders are what a replay takes beyond the path, for it takes no body.
type replayHeaders struct {
	live, key, reason, override graphql.Omittable[*string]
}

func readReplayHeaders(h http.Header) (in replayHeaders, err error) {
	if in.key, err = idempotencyKey(h); err != nil {
		return in, err
	}
	if in.live, err = singleHeader(h, expectedLiveHeader); err != nil {
		return in, err
	}
	if in.reason, err = encodedHeader(h, reasonHeader, "/reason"); err != nil {
		return in, err
	}
	in.override, err = encodedHeader(h, overrideHeader, "/overrideReason")
	return in, err
}

// replayDeployment returns the operation that creates a deployment from an earlier one, by rollback or redeploy.
func replayDeployment(
	create func(ctx context.Context, id string, in replayHeaders) (*record.Deployment, error),
) func(request) (answer, error) {
	return func(r request) (answer, error) {
		if err := r.checkNoInput(); err != nil {
			return answer{}, err
		}
		in, err := readReplayHeaders(r.Header)
		if err != nil {
			return answer{}, err
		}
		ctx, err := r.enter()
		if err != nil {
			return answer{}, err
		}
		d, err := create(ctx, r.id(), in)
		if err != nil {
			return answer{}, err
		}
		return createdDeployment(d), nil
	}
}

func rollbackDeployment(m Mutations) func(request) (answer, error) {
	return replayDeployment(func(ctx context.Context, id string, in replayHeaders) (*record.Deployment, error) {
		made, err := m.RollbackDeployment(ctx, model.RollbackDeploymentInput{
			ID: id, ExpectedLiveDeploymentID: in.live, IdempotencyKey: in.key, Reason: in.reason, OverrideReason: in.override,
		})
		if err != nil {
			return nil, err
		}
		return made.Deployment, nil
	})
}

func redeployDeployment(m Mutations) func(request) (answer, error) {
	return replayDeployment(func(ctx context.Context, id string, in replayHeaders) (*record.Deployment, error) {
		made, err := m.RedeployDeployment(ctx, model.RedeployDeploymentInput{
			ID: id, ExpectedLiveDeploymentID: in.live, IdempotencyKey: in.key, Reason: in.reason, OverrideReason: in.override,
		})
		if err != nil {
			return nil, err
		}
		return made.Deployment, nil
	})
}

// createdDeployment returns the answer with a deployment that was created.
func createdDeployment(d *record.Deployment) answer {
	return answer{
		status:   http.StatusCreated,
		location: "/deployments/" + d.ID,
		etag:     etag(d.Version),
		state:    string(d.Status),
		body:     envelope{Data: deploymentOf(d)},
	}
}

var (
	// quotedKey is a String of RFC 9651, as the draft of the Idempotency-Key header has it.
	quotedKey = regexp.MustCompile(`^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$`)
	escaped   = regexp.MustCompile(`\\(["\\])`)
)

// idempotencyKey returns the key of the header, which may stand in quotes or bare.
func idempotencyKey(h http.Header) (graphql.Omittable[*string], error) {
	header, err := singleHeader(h, idempotencyHeader)
	if err != nil || !header.IsSet() {
		return header, err
	}
	if quoted := quotedKey.FindStringSubmatch(*header.Value()); quoted != nil {
		return graphql.OmittableOf(new(escaped.ReplaceAllString(quoted[1], "$1"))), nil
	}
	return header, nil
}

// encodedHeader is singleHeader for a text that people write, whose characters beyond printable ASCII, and the percent
// sign, are percent-encoded UTF-8. What is wrong with it is named at a pointer.
func encodedHeader(h http.Header, name, pointer string) (graphql.Omittable[*string], error) {
	header, err := singleHeader(h, name)
	if err != nil || !header.IsSet() {
		return header, err
	}
	text, err := url.PathUnescape(*header.Value())
	if err != nil || !utf8.ValidString(text) || !isPrintableASCII(*header.Value()) {
		return header, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: pointer, Rule: "encoding",
			Message: fmt.Sprintf(
				"must be UTF-8 that is percent-encoded beyond printable ASCII, in the header %s; found %.80q", name,
				*header.Value(),
			)})
	}
	return graphql.OmittableOf(&text), nil
}

func isPrintableASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// singleHeader returns the value of a header that may be given once.
func singleHeader(h http.Header, name string) (graphql.Omittable[*string], error) {
	switch values := h.Values(name); len(values) {
	case 0:
		return graphql.Omittable[*string]{}, nil
	case 1:
		return graphql.OmittableOf(&values[0]), nil
	default:
		return graphql.Omittable[*string]{}, fault.New(
			fault.RequestInvalid, "%s may be given once; found %d of it.", name, len(values),
		)
	}
}
