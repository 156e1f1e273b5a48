package view

import (
	"context"
	"encoding/json"

	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
)

// OutputsOf returns the outputs of deployments by their ids, without those that have none, counted as work of the
// context's request.
func (s *Service) OutputsOf(ctx context.Context, deploymentIDs []string) (map[string]json.RawMessage, error) {
	text := `SELECT "deployment_id", "content" FROM "deployment_outputs" WHERE ` +
		store.Among(`"deployment_id"`, `"organization_id"`, s.Store.Postgres())
	all := map[string]json.RawMessage{}
	args := []any{s.Store.List(deploymentIDs), store.Scope(actor.From(ctx))}
	err := s.Store.Query(ctx, text, args, func(row store.Rows) error {
		var id, content string
		if err := row.Scan(&id, &content); err != nil {
			return err
		}
		all[id] = json.RawMessage(content)
		return meter.Decode(ctx, meter.Stored, content)
	})
	return all, err
}
