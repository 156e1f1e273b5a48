package rest

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"slipway/ent/moduledefinition"
	"slipway/graph/model"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
)

// moduleDefinition is the record of a module definition.
type moduleDefinition struct {
	ID              string    `json:"id"`
	Name            string    `json:"name"`
	Description     *string   `json:"description,omitempty"`
	Type            string    `json:"type"`
	CreatedAt       time.Time `json:"createdAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
	LatestVersion   *string   `json:"latestVersion,omitempty"`
	LatestVersionID *string   `json:"latestVersionId,omitempty"`
	OrganizationID  *string   `json:"organizationId,omitempty"`
}

func moduleDefinitionOf(d *record.ModuleDefinition) moduleDefinition {
	return moduleDefinition{
		ID: d.ID, Name: d.Name, Description: d.Description, Type: d.Type,
		CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
		LatestVersion: d.LatestVersion, LatestVersionID: d.LatestVersionID, OrganizationID: d.OrganizationID,
	}
}

func listModuleDefinitions(q Queries) func(request) (answer, error) {
	return func(r request) (answer, error) {
		in, err := r.listParameters()
		if err != nil {
			return answer{}, err
		}
		ctx, err := r.enter()
		if err != nil {
			return answer{}, err
		}

		filter := model.ModuleDefinitionFilter{Status: graphql.OmittableOf(in.status)}
		found, err := q.ModuleDefinitions(
			record.WithColumns(ctx, shown), &filter, model.ListOrderNewest, in.limit, in.cursor, nil, nil,
		)
		if fault.Is(err, fault.RequestCursorInvalid) {
			return answer{}, fault.New(fault.RequestCursorInvalid,
				"cursor is not one that this list gave to this caller for this status.").WithCause(err)
		}
		if err != nil {
			return answer{}, err
		}

		total, err := found.TotalCount(ctx)
		if err != nil {
			return answer{}, err
		}
		if err := meter.Spend(ctx, meter.Fields, found.Size/recordsPerCost); err != nil {
			return answer{}, err
		}
		return pageOf(found, total, r.maxAnswer), nil
	}
}

// recordsPerCost is how many records of a page cost as much as one field.
const recordsPerCost = 5

// pageOf returns the answer with a page. One that would have more than so many bytes ends before, but not before
// its first record; the cursor goes on from there.
func pageOf(found *page.ModuleDefinitionConnection, total int32, most int) answer {
	records := make([]json.RawMessage, 0, len(found.Edges))
	m := &meta{Limit: found.Size, TotalCount: total}
	if found.PageInfo.HasNextPage {
		m.NextCursor = *found.PageInfo.EndCursor
	}
	size := 0
	for i, edge := range found.Edges {
		record := encoded(moduleDefinitionOf(edge.Node))
		if size += len(record); most > 0 && size > most && i > 0 {
			m.NextCursor = found.Edges[i-1].Cursor
			break
		}
		records = append(records, record)
	}
	return answer{body: envelope{Data: records, Meta: m}}
}

// listParameters are the parameters of the list, nil if they were not given.
type listParameters struct {
	status *moduledefinition.Status
	limit  *int32
	cursor *string
}

func (r request) listParameters() (in listParameters, err error) {
	if err := r.checkNoBody(); err != nil {
		return in, err
	}
	p, err := r.query("status", "limit", "cursor")
	if err != nil {
		return in, err
	}

	if text, ok := p.given["status"]; ok {
		status := moduledefinition.Status(text)
		if moduledefinition.StatusValidator(status) != nil {
			p.addViolation("status", "enum", "must be DRAFT or ACTIVE, found %.60q", text)
		}
		in.status = &status
	}

	if text, ok := p.given["limit"]; ok {
		limit, err := strconv.ParseUint(text, 10, 31)
		if err != nil || limit < 1 || limit > page.MaxSize {
			p.addViolation("limit", "range", "must be a whole number between 1 and %d, found %.60q", page.MaxSize, text)
		}
		size := int32(limit)
		in.limit = &size
	}

	if text, ok := p.given["cursor"]; ok {
		in.cursor = &text
	}
	return in, p.err()
}
