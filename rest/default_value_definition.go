package rest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"slipway/graph/model"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/data/record"
	"slipway/internal/pure/inputprop"
)

// defaultValueDefinition is the record of a default value definition.
type defaultValueDefinition struct {
	ID             string          `json:"id"`
	CreatedAt      time.Time       `json:"createdAt"`
	UpdatedAt      time.Time       `json:"updatedAt"`
	OrganizationID string          `json:"organizationId"`
	GivenID        string          `json:"givenId"`
	Name           string          `json:"name"`
	Description    *string         `json:"description,omitempty"`
	Schema         json.RawMessage `json:"schema"`
	CreatedByType  string          `json:"createdByType"`
}

func defaultValueDefinitionOf(d *record.DefaultValueDefinition) defaultValueDefinition {
	return defaultValueDefinition{
		ID: d.ID, CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(), OrganizationID: d.OrganizationID,
		GivenID: d.GivenID, Name: d.Name, Description: d.Description, Schema: d.Schema.JSON(),
		CreatedByType: string(d.CreatedByType),
	}
}

func updateDefaultValueDefinition(m Mutations) func(request) (answer, error) {
	return func(r request) (answer, error) {
		if err := r.checkNoQuery(); err != nil {
			return answer{}, err
		}
		versions, err := ifMatch(r.Header)
		if err != nil {
			return answer{}, err
		}

		input, err := r.definitionPatch()
		if err != nil {
			return answer{}, err
		}
		ctx, err := r.enter()
		if err != nil {
			return answer{}, err
		}

		d, err := update(ctx, m, input, versions)
		if err != nil {
			return answer{}, inData(err)
		}
		return answer{etag: etag(d.Version), body: envelope{Data: defaultValueDefinitionOf(d)}}, nil
	}
}

// update changes the definition if its version is one of those given, or whatever it is where none
// is given.
func update(
	ctx context.Context, m Mutations, input model.UpdateDefaultValueDefinitionInput, versions []int32,
) (*record.DefaultValueDefinition, error) {
	if len(versions) == 0 {
		return updated(m.UpdateDefaultValueDefinition(ctx, input))
	}
	for _, version := range versions {
		input.ExpectedVersion = graphql.OmittableOf(&version)
		d, err := updated(m.UpdateDefaultValueDefinition(ctx, input))
		if !fault.Is(err, fault.RequestPreconditionFailed) {
			return d, err
		}
	}
	return nil, fault.New(fault.RequestPreconditionFailed,
		"If-Match does not name the version that the default value definition %s has now.", input.ID)
}

func updated(p *model.UpdateDefaultValueDefinitionPayload, err error) (*record.DefaultValueDefinition, error) {
	if err != nil {
		return nil, err
	}
	return p.DefaultValueDefinition, nil
}

// inData returns an error's violations their places in the body.
func inData(err error) error {
	found, ok := errors.AsType[*fault.Error](err)
	if !ok || len(found.Violations) == 0 {
		return err
	}
	placed := *found
	placed.Violations = fault.Under("/data", found.Violations)
	return &placed
}

// patchBody is the body of an update.
type patchBody struct {
	Data patchData `json:"data" rules:"required"`
}

type patchData struct {
	Description *string                `json:"description"`
	Name        *string                `json:"name"`
	Schema      *inputprop.RawProperty `json:"schema"`
}

func (r request) definitionPatch() (input model.UpdateDefaultValueDefinitionInput, err error) {
	if len(r.body) == 0 {
		return input, fault.New(
			fault.RequestMalformed, `A body is needed: an object {"data": {…}} with any of description, name and schema.`,
		)
	}
	root, err := strictjson.ParseBody(r.body)
	if err != nil {
		return input, err
	}

	var body patchBody
	if violations := strictjson.Decode(root, &body, ""); len(violations) > 0 {
		return input, refusePatch(violations, body.Data)
	}

	input.ID = r.id()
	if body.Data.Name != nil {
		input.Name = graphql.OmittableOf(body.Data.Name)
	}
	if body.Data.Description != nil {
		input.Description = graphql.OmittableOf(body.Data.Description)
	}
	if body.Data.Schema != nil {
		input.Schema = graphql.OmittableOf(body.Data.Schema)
	}

	return input, nil
}

var readOnly = []string{
	"/data/id", "/data/createdAt", "/data/updatedAt", "/data/organizationId", "/data/givenId", "/data/createdByType",
}

// refusePatch refuses a body whose outer levels are wrong. What the service would check later is checked
// too, so that the caller gets everything at once.
func refusePatch(violations []fault.Violation, data patchData) error {
	code := fault.RequestInvalid
	for i, v := range violations {
		if v.Rule == "unknown_field" || v.Rule == "type" {
			code = fault.RequestMalformed
		}
		if slices.Contains(readOnly, v.Pointer) {
			violations[i].Rule, violations[i].Message = "read_only", "is read-only; only description, name and schema can be "+
				"changed"
		}
	}
	return fault.Invalid(code, append(violations, data.violations(violations)...)...)
}

// violations returns what is wrong with the members, but for those that were already found to be wrong.
func (d patchData) violations(found []fault.Violation) []fault.Violation {
	var more []fault.Violation
	isNew := func(pointer string) bool {
		return !slices.ContainsFunc(found, func(v fault.Violation) bool { return v.Pointer == pointer })
	}
	if isNew("/data/description") {
		more = append(more, textrules.Description("/data/description", d.Description)...)
	}
	if d.Name != nil && isNew("/data/name") {
		more = append(more, textrules.Name("/data/name", *d.Name)...)
	}
	if d.Schema != nil {
		_, wrong := d.Schema.Decode("/data/schema")
		more = append(more, wrong...)
	}
	return more
}
