package rest

import (
	"context"
	"net/http"
	"regexp"

	"github.com/99designs/gqlgen/graphql"

	"slipway/ent"
	"slipway/graph/model"
	"slipway/internal/fault"
)

const (
	idempotencyHeader  = "Idempotency-Key"
	expectedLiveHeader = "Expected-Live-Deployment"
)

// replay is the operation that creates a deployment from an earlier one, by rollback or redeploy. What
// they may be told beyond the path is in headers, for they take no body.
func replay(create func(ctx context.Context, id string, live, key graphql.Omittable[*string]) (*ent.Deployment, error)) func(request) (answer, error) {
	return func(r request) (answer, error) {
		if err := r.bare(); err != nil {
			return answer{}, err
		}
		key, err := idempotencyKey(r.Header)
		if err != nil {
			return answer{}, err
		}
		live, err := single(r.Header, expectedLiveHeader)
		if err != nil {
			return answer{}, err
		}
		ctx, err := r.enter()
		if err != nil {
			return answer{}, err
		}
		d, err := create(ctx, r.id(), live, key)
		if err != nil {
			return answer{}, err
		}
		return created(d), nil
	}
}

func rollbackDeployment(m Mutations) func(request) (answer, error) {
	return replay(func(ctx context.Context, id string, live, key graphql.Omittable[*string]) (*ent.Deployment, error) {
		made, err := m.RollbackDeployment(ctx, model.RollbackDeploymentInput{ID: id, ExpectedLiveDeploymentID: live, IdempotencyKey: key})
		if err != nil {
			return nil, err
		}
		return made.Deployment, nil
	})
}

func redeployDeployment(m Mutations) func(request) (answer, error) {
	return replay(func(ctx context.Context, id string, live, key graphql.Omittable[*string]) (*ent.Deployment, error) {
		made, err := m.RedeployDeployment(ctx, model.RedeployDeploymentInput{ID: id, ExpectedLiveDeploymentID: live, IdempotencyKey: key})
		if err != nil {
			return nil, err
		}
		return made.Deployment, nil
	})
}

func created(d *ent.Deployment) answer {
	return answer{
		status:   http.StatusCreated,
		location: "/deployments/" + d.ID,
		etag:     etag(d.Version),
		body:     envelope{Data: deploymentOf(d)},
	}
}

var (
	// quotedKey is a String of RFC 9651, as the draft of the Idempotency-Key header has it.
	quotedKey = regexp.MustCompile(`^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$`)
	escaped   = regexp.MustCompile(`\\(["\\])`)
)

// idempotencyKey gives the key of the header, which may stand in quotes or bare.
func idempotencyKey(h http.Header) (graphql.Omittable[*string], error) {
	header, err := single(h, idempotencyHeader)
	if err != nil || !header.IsSet() {
		return header, err
	}
	if quoted := quotedKey.FindStringSubmatch(*header.Value()); quoted != nil {
		return graphql.OmittableOf(new(escaped.ReplaceAllString(quoted[1], "$1"))), nil
	}
	return header, nil
}

// single gives the value of a header that may be given once.
func single(h http.Header, name string) (graphql.Omittable[*string], error) {
	switch values := h.Values(name); len(values) {
	case 0:
		return graphql.Omittable[*string]{}, nil
	case 1:
		return graphql.OmittableOf(&values[0]), nil
	default:
		return graphql.Omittable[*string]{}, fault.New(fault.RequestInvalid, "%s may be given once; found %d of it.", name, len(values))
	}
}
