package graph

import (
	"context"

	"slipway/ent"
	"slipway/graph/scalar"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/waiting"
)

// The functions of this file answer who did something. A record has the name and the id of the token; what else the
// token tells is read for a whole batch when it is first asked for.

// performer returns who did something to a record, nil if the record says that nobody did.
func performer(name, tokenID *string) *actor.Ref {
	if name == nil {
		return nil
	}
	return &actor.Ref{Name: *name, TokenID: tokenID}
}

// actorOf returns who did what a field tells of, which of tells of each record.
func actorOf[P any](ctx context.Context, parent *P, field string, of func(*P) *actor.Ref) (*actor.Ref, error) {
	return derived(ctx, parent, "actor "+field, of)
}

// derived returns what of makes of a record, as a batch for the records of a batch; nil for nothing.
func derived[P, V any](ctx context.Context, parent *P, field string, of func(*P) *V) (*V, error) {
	b, err := batchOf(ctx, parent)
	if err != nil {
		return nil, err
	}
	byParent, err := readOnce(b, field, func(parents []*P) (map[*P]*V, error) {
		made := make(map[*P]*V, len(parents))
		all := make([]*V, 0, len(parents))
		for _, p := range parents {
			if v := of(p); v != nil {
				made[p] = v
				all = append(all, v)
			}
		}
		registerBatch(ctx, all)
		return made, nil
	})
	return byParent[parent], err
}

func deploymentCreator(d *record.Deployment) *actor.Ref {
	return performer(&d.CreatedBy, d.CreatedByActor)
}
func deploymentRunner(d *record.Deployment) *actor.Ref { return performer(d.Runner, d.RunnerActor) }

func deploymentCanceler(d *record.Deployment) *actor.Ref {
	return performer(d.CancelRequestedBy, d.CancelRequestedByActor)
}

func tokenCreator(t *ent.Token) *actor.Ref { return performer(t.CreatedBy, t.CreatedByID) }
func tokenRevoker(t *ent.Token) *actor.Ref { return performer(t.RevokedBy, t.RevokedByActor) }
func ruleCreator(r *ent.Rule) *actor.Ref   { return performer(&r.CreatedBy, r.CreatedByActor) }
func ruleEnder(r *ent.Rule) *actor.Ref     { return performer(r.EndedBy, r.EndedByActor) }

func quarantineCreator(q *ent.Quarantine) *actor.Ref {
	return performer(&q.CreatedBy, q.CreatedByActor)
}
func quarantineEnder(q *ent.Quarantine) *actor.Ref { return performer(q.LiftedBy, q.LiftedByActor) }

func deprecator(d *catalog.Deprecation) *actor.Ref {
	return performer(d.CreatedBy, d.Version.DeprecatedByActor)
}

func overrider(o *gate.Override) *actor.Ref { return performer(&o.By, nilIfZero(o.ByID)) }

func approver(a *waiting.Approval) *actor.Ref {
	return &actor.Ref{Name: a.CreatedBy, TokenID: &a.TokenID, Role: a.Role}
}

func eventActor(e *ent.AuditEvent) *actor.Ref {
	return &actor.Ref{Name: e.ActorName, TokenID: nilIfZero(e.ActorID), Role: actor.Role(e.ActorRole)}
}

// actingToken returns the token of an actor, nil if none acted or none was noted.
func actingToken(ctx context.Context, r *Resolver, who *actor.Ref) (*ent.Token, error) {
	if who.TokenID == nil {
		return nil, nil
	}
	b, err := batchOf(ctx, who)
	if err != nil {
		return nil, err
	}

	byID, err := readOnce(b, "token", func(all []*actor.Ref) (map[string]*ent.Token, error) {
		found, err := r.Accounts.ActingTokens(ctx, references(all, func(r *actor.Ref) *string { return r.TokenID }))
		registerBatch(ctx, found)
		return record.ByKey(found, func(t *ent.Token) string { return t.ID }), err
	})
	return byID[*who.TokenID], err
}

// actorRole returns the role in which an actor acted, that of its token if no other was noted; nil for none.
func actorRole(ctx context.Context, r *Resolver, who *actor.Ref) (*actor.Role, error) {
	if who.Role == actor.System {
		return nil, nil
	}
	if who.Role != "" {
		return &who.Role, nil
	}
	t, err := actingToken(ctx, r, who)
	if err != nil || t == nil {
		return nil, err
	}
	return &t.Role, nil
}

func actorPrincipal(ctx context.Context, r *Resolver, who *actor.Ref) (*string, error) {
	t, err := actingToken(ctx, r, who)
	if err != nil || t == nil {
		return nil, err
	}
	return new(store.PrincipalOf(t)), nil
}

func actorHolder(ctx context.Context, r *Resolver, who *actor.Ref) (*string, error) {
	t, err := actingToken(ctx, r, who)
	if err != nil || t == nil {
		return nil, err
	}
	return t.Holder, nil
}

// actorToken returns the token of an actor to those who may read tokens, nil if it is not one of theirs.
func actorToken(ctx context.Context, r *Resolver, who *actor.Ref) (*ent.Token, error) {
	if err := r.Accounts.CheckReadsTokens(ctx); err != nil {
		return nil, err
	}
	t, err := actingToken(ctx, r, who)
	if err != nil || t == nil || !r.Accounts.IsOwn(ctx, t) {
		return nil, err
	}
	return t, nil
}

// eventObject returns the record of what an audit event tells of, nil if there is none by now.
func eventObject(ctx context.Context, r *Resolver, e *ent.AuditEvent) (scalar.Node, error) {
	b, err := batchOf(ctx, e)
	if err != nil {
		return nil, err
	}
	found, err := readOnce(b, "object", func(all []*ent.AuditEvent) (map[string]lookup, error) {
		ids := references(all, func(e *ent.AuditEvent) *string { return &e.ObjectID })
		return r.lookUp(ctx, ids), nil
	})
	object := found[e.ObjectID]
	if err != nil || fault.Is(object.err, fault.NodeNotFound) {
		return nil, err
	}
	return object.node, object.err
}
