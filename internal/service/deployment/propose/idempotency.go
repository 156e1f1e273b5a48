package propose

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/idempotencykey"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/deployment/admission"
)

// KeepKeys is how long a request under a key is known again.
const KeepKeys = 24 * time.Hour

// keyed is a request that creates a deployment, under the key that its caller chose for it.
type keyed struct {
	// key is "" for a request without one.
	key string
	id  string
	// fingerprint is that of the operation and of all that decides what it does.
	fingerprint string
	// expired is whether an earlier request under the key is too old to count; it goes with the next write.
	expired bool
	// warnings are what its caller should see to of what it has made, though it was allowed.
	warnings []inputprop.Warning
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

// newKeyed makes the request of an operation; arguments returns all that decides what it does, and is only called for a
// request with a key.
func (s *Service) newKeyed(key *string, operation string, arguments func() []any) (*keyed, error) {
	if key == nil {
		return &keyed{}, nil
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
	return &keyed{
		key: *key, id: s.Journal.NewID(id.IdempotencyKey), fingerprint: fingerprintVersion + hex.EncodeToString(sum[:]),
	}, nil
}

// create carries out a write that creates what an intent comes to, together with its change row and its request's key.
// See afterRefusal for what happens if the database refuses it.
func (s *Service) create(ctx context.Context, in intent, r *keyed, propose proposeFunc) (*ent.Deployment, error) {
	var p *admission.Proposal
	err := s.Journal.Write(in.lock(ctx), in.action, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
		e.ObjectID = in.deploymentID
		if p, err = propose(ctx, tx, e.At); err != nil {
			return err
		}
		if err := s.Admission.Admit(ctx, p, in.Request, e.Shared()); err != nil {
			return err
		}
		if err := s.Admission.Write(ctx, tx, e, p); err != nil {
			return err
		}
		return r.claimKey(ctx, tx, e, in.deploymentID)
	})
	if err == nil {
		r.warnings = p.Warnings
		return p.Created, nil
	}

	switch {
	case store.IsUniqueViolation(err):
		return s.afterRefusal(ctx, r, p.InstanceID, err)
	case fault.Status(err) >= http.StatusInternalServerError:
		return nil, err
	}

	// A request that was made before is refused for what it has made itself.
	if made, findErr := s.earlierResult(ctx, r); made != nil || findErr != nil {
		return made, findErr
	}
	return nil, err
}

// afterRefusal returns what the same request has made meanwhile, if the database has refused a row of it. It fails
// with DeploymentInProgress, which names the blocker, if the instance has an active deployment, and with
// journal.ErrChanged where what was in the way has gone: a blocker that has ended, or an equal release that somebody
// else stored first.
func (s *Service) afterRefusal(
	ctx context.Context, r *keyed, instanceID string, refusal error,
) (*ent.Deployment, error) {
	blocker, err := admission.Active(ctx, s.Store.Client.Deployment, instanceID)
	if err != nil {
		return nil, err
	}
	// In this order: what the same request has made meanwhile, and is refused for, comes with its key.
	if made, err := s.earlierResult(ctx, r); made != nil || err != nil {
		return made, err
	}
	if blocker != nil {
		return nil, s.Admission.InProgress(blocker).WithCause(refusal)
	}
	return nil, fmt.Errorf("%w: %w", journal.ErrChanged, refusal)
}

// earlierResult returns the deployment that the request has made before, as it is now, or nil. It fails with
// RequestIdempotencyReused if the actor has used the key for another request.
func (s *Service) earlierResult(ctx context.Context, r *keyed) (*ent.Deployment, error) {
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

	now := s.Journal.Shared(store.ReadClock(used))
	if r.expired = !used.CreatedAt.After(now.Add(-KeepKeys)); r.expired {
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

// claimKey stores the request's key. The database lets the others of equal requests wait for the first, and refuses
// them then.
func (r *keyed) claimKey(ctx context.Context, tx *ent.Tx, e *journal.Entry, deploymentID string) error {
	if r.key == "" {
		return nil
	}
	a := actor.From(ctx)
	if r.expired {
		_, err := tx.IdempotencyKey.Delete().Where(
			idempotencykey.ActorID(a.ID), idempotencykey.Key(r.key), idempotencykey.CreatedAtLTE(e.Shared().Add(-KeepKeys)),
		).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return tx.IdempotencyKey.Create().
		SetID(r.id).SetOrganizationID(a.OrganizationID).SetActorID(a.ID).SetKey(r.key).
		SetRequestHash(r.fingerprint).SetDeploymentID(deploymentID).SetCreatedAt(e.Shared()).
		Exec(ctx)
}
