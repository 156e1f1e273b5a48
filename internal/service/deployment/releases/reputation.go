package releases

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/optional"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/service/deployment/state"
)

// Reputation is what is known against a deployment that others may be made of: replays of it, promotions, and what goes
// back to it by itself. Whoever makes one, offers one or counts how long it was live asks it.
type Reputation struct {
	// ReleaseID is what the deployment ships, "" for nothing that is known.
	ReleaseID string
	// quarantines are the open ones, which may have ended by themselves: of its release, and of the releases of what it
	// was promoted from, the nearest first.
	quarantines []*ent.Quarantine
	Setbacks    *ecs.Setbacks
}

// NewReputation returns that of a deployment that was not promoted.
func NewReputation(releaseID *string, setbacks *ecs.Setbacks, open *OpenQuarantineRow) Reputation {
	return Reputation{optional.OrZero(releaseID), open.appendTo(nil), setbacks}
}

// Quarantine returns the one that holds at a time, nil for none.
func (r Reputation) Quarantine(at time.Time) *ent.Quarantine {
	for _, q := range r.quarantines {
		if Holds(q, at) {
			return q
		}
	}
	return nil
}

// TakenBack returns what the cloud did with a deployment after its success, nil for nothing.
func (r Reputation) TakenBack() *ecs.Setback { return r.Setbacks.Last() }

// CheckQuarantine returns why its release may not be shipped again at a time, nil if it may.
func (r Reputation) CheckQuarantine(at time.Time) error {
	q := r.Quarantine(at)
	if q == nil {
		return nil
	}
	f := quarantined(q)
	if q.ReleaseID != r.ReleaseID {
		f.Message = fmt.Sprintf("The release %s was promoted from one that is not to be deployed. %s", r.ReleaseID, f.Message)
	}
	return f
}

// CheckPromoted returns why a deployment that has succeeded may not be promoted at a time, nil if it may.
func (r Reputation) CheckPromoted(deploymentID string, at time.Time) error {
	if err := r.CheckQuarantine(at); err != nil {
		return err
	}
	back := r.TakenBack()
	if back == nil {
		return nil
	}
	why := state.RolledBack(back)
	f := fault.New(fault.DeploymentRolledBack,
		"The deployment %s cannot be promoted: it had succeeded, but %s Promote another, or deploy it again first.",
		deploymentID, state.CloudSays(back))
	f.Details, f.Metadata = why.Details, map[string]any{"deploymentId": deploymentID}
	return f
}

// maxPromotions is how far back the promotions that led to a deployment are followed.
const maxPromotions = 100

// reputationTexts read, for deployments by their ids, what speaks against each and against what it was promoted from;
// by whether the database is PostgreSQL.
var reputationTexts = map[bool]string{false: newReputationText(false), true: newReputationText(true)}

func newReputationText(postgres bool) string {
	return strings.NewReplacer(
		"{these}", store.Among(`"d"."id"`, `"d"."organization_id"`, postgres), "{most}", strconv.Itoa(maxPromotions),
	).Replace(
		`WITH RECURSIVE "chain" ("of", "promoted_from", "release_id", "setbacks", "step") AS (
SELECT "d"."id", "d"."promoted_from", "d"."release_id", "d"."setbacks", 0 FROM "deployments" AS "d" WHERE {these}
UNION ALL
SELECT "c"."of", "n"."promoted_from", "n"."release_id", "c"."setbacks", "c"."step" + 1 FROM "chain" AS "c"
JOIN "deployments" AS "n" ON "n"."id" = "c"."promoted_from" AND "n"."organization_id" = $2 WHERE "c"."step" < {most}
)
SELECT "c"."of", "c"."release_id", "c"."setbacks", "q"."id", "q"."release_id", "q"."reason", "q"."created_by",
"q"."created_at", "q"."until" FROM "chain" AS "c"
LEFT JOIN "quarantines" AS "q" ON "q"."release_id" = "c"."release_id" AND "q"."lifted_at" IS NULL AND
"q"."organization_id" = $2
WHERE "q"."id" IS NOT NULL OR "c"."step" = 0
ORDER BY "c"."of", "c"."step"`)
}

// Reputations returns those of the deployments of the ids that there are.
func (s *Service) Reputations(ctx context.Context, read store.Reader, ids []string) (map[string]Reputation, error) {
	of := make(map[string]Reputation, len(ids))
	if len(ids) == 0 {
		return of, nil
	}
	args := []any{s.Store.List(ids), store.Scope(actor.From(ctx))}
	err := read(ctx, reputationTexts[s.Store.Postgres()], args, func(row store.Rows) error {
		var id string
		var releaseID, setbacks *string
		var q OpenQuarantineRow
		if err := row.Scan(append([]any{&id, &releaseID, &setbacks}, q.targets()...)...); err != nil {
			return err
		}

		one, known := of[id]
		if !known { // the first is of the deployment itself
			one.ReleaseID = optional.OrZero(releaseID)
		}
		if one.quarantines = q.appendTo(one.quarantines); setbacks != nil {
			var err error
			if one.Setbacks, err = DecodeSetbacks(setbacks); err != nil {
				return err
			}
		}
		of[id] = one
		return nil
	})
	return of, err
}

// ReputationOf returns that of a deployment, in a transaction.
func (s *Service) ReputationOf(ctx context.Context, tx *ent.Tx, deploymentID string) (Reputation, error) {
	of, err := s.Reputations(ctx, store.InTx(tx), []string{deploymentID})
	return of[deploymentID], err
}

// OnlyGood returns those of some deployments that have succeeded which nothing speaks against at a time, in their
// order.
func (s *Service) OnlyGood(ctx context.Context, ids []string, at time.Time) (good []string, err error) {
	of, err := s.Reputations(ctx, s.Store.Query, ids)
	for _, id := range ids {
		if known, found := of[id]; found && known.Quarantine(at) == nil && known.TakenBack() == nil {
			good = append(good, id)
		}
	}
	return good, err
}

// DecodeSetbacks reads a column of setbacks, nil for none.
func DecodeSetbacks(text *string) (*ecs.Setbacks, error) {
	if text == nil {
		return nil, nil
	}
	setbacks := &ecs.Setbacks{}
	if err := json.Unmarshal([]byte(*text), setbacks); err != nil {
		return nil, fmt.Errorf("releases: setbacks: %w", err)
	}
	return setbacks, nil
}

// OpenQuarantineRow is an open quarantine that a statement joins; its columns are null if there is none.
type OpenQuarantineRow struct {
	ID, ReleaseID, Reason, By *string
	At, Until                 *time.Time
}

func (q *OpenQuarantineRow) targets() []any {
	return []any{&q.ID, &q.ReleaseID, &q.Reason, &q.By, &q.At, &q.Until}
}

// appendTo appends the quarantine, if there is one.
func (q *OpenQuarantineRow) appendTo(list []*ent.Quarantine) []*ent.Quarantine {
	if q.ID == nil {
		return list
	}
	return append(list, &ent.Quarantine{
		ID: *q.ID, ReleaseID: *q.ReleaseID, Reason: *q.Reason, CreatedBy: *q.By, CreatedAt: *q.At, Until: q.Until,
	})
}
