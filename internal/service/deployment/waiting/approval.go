package waiting

import (
	"context"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/approval"
	"slipway/ent/token"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/pure/gate"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// Approval is what a principal decided about a deployment that waits or has waited: an approval, or a rejection. Each
// principal has one, and may change it as long as the deployment waits. It counts as long as its token is valid and it
// is not in one hand with the author: given by the author, by whoever made a token of the author's, or by somebody
// whose token the author made.
type Approval struct {
	*ent.Approval
	// Counts is whether it counts towards what the rules demand.
	Counts bool
	holder string
}

// ApprovalConnection is a page of approvals.
type ApprovalConnection = page.Connection[*Approval]

// ApprovalEdge is an approval on a page.
type ApprovalEdge = page.Edge[*Approval]

// approvals returns the approvals of deployments, by the ids of these, the oldest first; in a transaction, or outside
// if tx is nil. Each is work of the context's request.
func (s *Service) approvals(
	ctx context.Context, c *ent.Client, tx *ent.Tx, list []*ent.Deployment, at time.Time,
) (map[string][]Approval, error) {
	ids, authors := make([]string, len(list)), map[string]*ent.Deployment{}
	var principals []string
	for i, d := range list {
		ids[i], authors[d.ID] = d.ID, d
		if d.CreatedByID != nil {
			principals = append(principals, *d.CreatedByID)
		}
	}
	given, err := c.Approval.Query().Where(approval.DeploymentIDIn(ids...)).
		Order(ent.Asc(approval.FieldCreatedAt, approval.FieldID)).All(ctx)
	if err == nil {
		err = meter.Spend(ctx, meter.Rules, len(given))
	}
	if err != nil || len(given) == 0 {
		return nil, err
	}

	var tokenIDs []string
	for _, a := range given {
		tokenIDs, principals = append(tokenIDs, a.TokenID), append(principals, a.PrincipalID)
	}
	tokens, err := c.Token.Query().Where(token.IDIn(tokenIDs...)).All(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(principals)
	makers, err := s.Store.MakersOf(ctx, tx, slices.Compact(principals))
	if err != nil {
		return nil, err
	}
	tokenOf := record.ByKey(tokens, func(t *ent.Token) string { return t.ID })

	of := map[string][]Approval{}
	for _, row := range given {
		d, a := authors[row.DeploymentID], Approval{Approval: row}
		if t := tokenOf[row.TokenID]; t != nil {
			a.holder = optional.OrZero(t.Holder)
			a.Counts = row.Approved && mayApprove(t, d, at) && !isInOneHand(row.PrincipalID, d, of[row.DeploymentID], makers)
		}
		of[row.DeploymentID] = append(of[row.DeploymentID], a)
	}
	return of, nil
}

// isInOneHand reports whether a principal is in one hand with the author of a deployment, or with somebody whose
// approval of it counts already.
func isInOneHand(principalID string, d *ent.Deployment, earlier []Approval, makers map[string][]string) bool {
	return d.CreatedByID != nil && actor.SamePerson(*d.CreatedByID, principalID, makers) ||
		slices.ContainsFunc(
			earlier, func(a Approval) bool { return a.Counts && actor.SamePerson(a.PrincipalID, principalID, makers) },
		)
}

// mayApprove reports whether the holder of a token may approve a deployment at a time.
func mayApprove(t *ent.Token, d *ent.Deployment, at time.Time) bool {
	if t.RevokedAt != nil || t.ExpiresAt != nil && !at.Before(*t.ExpiresAt) {
		return false
	}
	by := &actor.Actor{ID: t.ID, Name: t.Name, Role: t.Role, Scope: t.Scope, OrganizationID: d.OrganizationID}
	return access.CheckIn(by, access.Deploy, state.PlaceOf(d), fault.DeploymentForbidden) == nil
}

// fact returns an approval as rules are judged by it.
func (a Approval) fact() gate.Approval {
	return gate.Approval{ID: a.ID, Holder: a.holder, Role: a.Role}
}

// facts returns the approvals that count, as rules are judged by them.
func facts(list []Approval) []gate.Approval {
	var all []gate.Approval
	for _, a := range list {
		if a.Counts {
			all = append(all, a.fact())
		}
	}
	return all
}

// checkOther refuses an approval by the author of a deployment or by somebody in one hand with the author; makers are
// who made the tokens of both.
func checkOther(d *ent.Deployment, principalID string, makers map[string][]string) error {
	if d.CreatedByID == nil || !actor.SamePerson(*d.CreatedByID, principalID, makers) {
		return nil
	}
	f := fault.New(fault.DeploymentOwnApproval, "You cannot approve %s: you are its author, %s, or one of you created "+
		"the other's token.", d.ID, d.CreatedBy)
	f.Metadata = map[string]any{"deploymentId": d.ID}
	return f
}
