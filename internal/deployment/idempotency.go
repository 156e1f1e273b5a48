package deployment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/idempotencykey"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/journal"
	"slipway/internal/store"
	"slipway/internal/strictjson"
)

// keepKeys is how long a request under a key is known again.
const keepKeys = 24 * time.Hour

// request is one that creates a deployment, under the key that its caller chose for it.
type request struct {
	// key is "" for a request without one.
	key string
	id  string
	// fingerprint is that of the operation and of all that decides what it does.
	fingerprint string
}

// fingerprintVersion begins every fingerprint. One without it is of a server of before, whose fingerprints depended on
// the order of keys and on whether a value stood in the document: they cannot be compared with.
const fingerprintVersion = "2:"

// canonical returns a value for a fingerprint, in which another order of keys or another spelling of a number is the
// same request.
func canonical(n *strictjson.Node) json.RawMessage {
	if n == nil {
		return nil
	}
	return strictjson.Canonical(n)
}

var keyForm = regexp.MustCompile(`^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$`)

// newRequest makes a request of an operation and all that decides what it does, which is only asked for where there is
// a key.
func (s *Service) newRequest(key *string, operation string, arguments func() []any) (*request, error) {
	if key == nil {
		return &request{}, nil
	}
	if !keyForm.MatchString(*key) {
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/idempotencyKey", Rule: "pattern",
			Message: fmt.Sprintf("must be 1 to 255 printable ASCII characters without spaces around them, found %.60q", *key)})
	}
	text, err := json.Marshal(map[string]any{operation: arguments()})
	if err != nil {
		return nil, fmt.Errorf("deployment: arguments of %s: %w", operation, err)
	}
	sum := sha256.Sum256(text)
	return &request{key: *key, id: s.Journal.NewID(id.IdempotencyKey), fingerprint: fingerprintVersion + hex.EncodeToString(sum[:])}, nil
}

// repeated gives the deployment that the request has made before, as it is now, or nil. It gives
// RequestIdempotencyReused where the actor has used the key for another request.
func (s *Service) repeated(ctx context.Context, r *request) (*ent.Deployment, error) {
	if r.key == "" {
		return nil, nil
	}
	q := s.Store.Client.IdempotencyKey.Query().
		Where(idempotencykey.ActorID(actor.From(ctx).ID), idempotencykey.Key(r.key))
	q.Modify(store.SelectClock)
	used, err := q.Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if now := s.Journal.Shared(store.ReadClock(used)); !used.CreatedAt.After(now.Add(-keepKeys)) {
		return nil, nil
	}
	if used.RequestHash != r.fingerprint && strings.HasPrefix(used.RequestHash, fingerprintVersion) {
		f := fault.New(fault.RequestIdempotencyReused,
			"The idempotency key %q was used at %s for another request, which made the deployment %s.",
			r.key, used.CreatedAt.UTC().Format(time.RFC3339), used.DeploymentID)
		f.Metadata = map[string]any{"idempotencyKey": r.key, "deploymentId": used.DeploymentID}
		return nil, f
	}
	return s.Store.Client.Deployment.Get(ctx, used.DeploymentID)
}

// claimKey makes the request's key its own: of equal requests at once, the others wait here and are then
// refused by the database.
func (r *request) claimKey(ctx context.Context, tx *ent.Tx, e *journal.Entry, deploymentID string) error {
	if r.key == "" {
		return nil
	}
	a := actor.From(ctx)
	_, err := tx.IdempotencyKey.Delete().Where(
		idempotencykey.ActorID(a.ID), idempotencykey.Key(r.key), idempotencykey.CreatedAtLTE(e.Shared.Add(-keepKeys)),
	).Exec(ctx)
	if err != nil {
		return err
	}
	return tx.IdempotencyKey.Create().
		SetID(r.id).SetOrganizationID(a.OrganizationID).SetActorID(a.ID).SetKey(r.key).
		SetRequestHash(r.fingerprint).SetDeploymentID(deploymentID).SetCreatedAt(e.Shared).
		Exec(ctx)
}
