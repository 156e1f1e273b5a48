package deployment

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/approval"
	"slipway/ent/token"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/id"
	"slipway/internal/journal"
	"slipway/internal/record"
	"slipway/internal/textrules"
)

// The voices about a deployment that waits. Each principal has one, and may change it as long as the deployment waits. A
// voice counts as long as its token is valid, and is never that of the author: nor of who made the author's tokens, or was
// made one by the author, since these are in one hand.

// maxComment is how many characters the comment of a voice may have.
const maxComment = 500

// Voice is what a principal says of a deployment that waits for approvals.
type Voice struct {
	DeploymentID string
	// Comment is why, nil for nothing.
	Comment *string
}

// Approved is what an approval comes to.
type Approved struct {
	Deployment *ent.Deployment
	// Started is whether it has been started: by this approval, or before.
	Started bool
	// Refusal is why it was not started, nil where that was not tried.
	Refusal *fault.Error
}

// Approve keeps that the actor approves of a deployment that waits, and starts it where all that the rules demand is met
// and start is set. Where that is refused, the voice stays. The same again changes nothing. It fails with
// DeploymentNotFound, DeploymentForbidden, DeploymentOwnApproval, RequestInvalid, DeploymentWrongState, and with
// DeploymentRejected, DeploymentSuperseded and DeploymentExpired for one that waits no longer.
func (s *Service) Approve(ctx context.Context, in Voice, start bool) (*Approved, error) {
	d, err := s.speak(ctx, "approveDeployment", in, true)
	if err != nil {
		return nil, err
	}
	done := &Approved{Deployment: d, Started: d.Status != StatusAwaiting}
	if done.Started || !start {
		return done, nil
	}
	started, err := s.Start(ctx, Start{DeploymentID: d.ID})
	if err == nil {
		return &Approved{Deployment: started, Started: true}, nil
	}
	refusal, isAnswer := errors.AsType[*fault.Error](err)
	if !isAnswer || refusal.Status() >= http.StatusInternalServerError {
		return nil, err
	}
	done.Refusal = refusal
	if done.Deployment, err = find(ctx, s.Store.Client.Deployment, d.ID); err == nil && hasStarted(done.Deployment) {
		done.Started, done.Refusal = true, nil // somebody else has started it meanwhile
	}
	return done, err
}

// Reject keeps that the actor is against a deployment that waits, and ends it. The same again changes nothing. It fails with
// the errors of Approve but DeploymentOwnApproval.
func (s *Service) Reject(ctx context.Context, in Voice) (*ent.Deployment, error) {
	return s.speak(ctx, "rejectDeployment", in, false)
}

// speak keeps a voice. One against the deployment ends it.
func (s *Service) speak(ctx context.Context, action string, in Voice, approves bool) (*ent.Deployment, error) {
	if in.Comment != nil {
		if violations := textrules.Reason("/comment", *in.Comment, maxComment); len(violations) > 0 {
			return nil, fault.Invalid(fault.RequestInvalid, violations...)
		}
	}
	voiceID := s.Journal.NewID(id.Approval)
	return s.transition(ctx, action, access.Deploy, in.DeploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			a := actor.From(ctx)
			earlier, err := tx.Approval.Query().Where(approval.DeploymentID(d.ID), approval.PrincipalID(a.PrincipalID)).Only(ctx)
			if err != nil && !ent.IsNotFound(err) {
				return err
			}
			if e.SkipAudit = isRepeated(d, earlier, a, in.Comment, approves); e.SkipAudit {
				return nil
			}
			if err := checkAwaiting(d, e.Shared()); err != nil {
				return err
			}
			makers, err := s.makersOf(ctx, tx, []*ent.Deployment{d}, a)
			if err == nil && approves {
				err = checkOther(d, a.PrincipalID, makers)
			}
			if err != nil {
				return err
			}
			now := &ent.Approval{
				ID: voiceID, CreatedAt: e.At, UpdatedAt: e.At, OrganizationID: d.OrganizationID, DeploymentID: d.ID,
				PrincipalID: a.PrincipalID, TokenID: a.ID, CreatedBy: a.Name, Role: a.Role, Approved: approves, Comment: in.Comment,
			}
			if err := keepVoice(ctx, tx, earlier, now); err != nil {
				return err
			}
			e.Changes = map[string]any{"comment": in.Comment}
			if !approves {
				setEnded(u, StatusCanceled, e.At, rejectedError(a.Name, in.Comment))
				e.Changes = map[string]any{"status": StatusCanceled, "comment": in.Comment}
			}
			return nil
		})
}

// keepVoice writes what a principal says now, in the place of what it has said earlier, nil for nothing.
func keepVoice(ctx context.Context, tx *ent.Tx, earlier, now *ent.Approval) error {
	if earlier == nil {
		return record.Insert(ctx, tx, now)
	}
	u := earlier.Update().SetTokenID(now.TokenID).SetCreatedBy(now.CreatedBy).SetRole(now.Role).SetApproved(now.Approved).SetUpdatedAt(now.UpdatedAt)
	if now.Comment == nil {
		u.ClearComment()
	} else {
		u.SetComment(*now.Comment)
	}
	return u.Exec(ctx)
}

// isRepeated reports whether an actor's principal has said the same of a deployment before: the answer was lost. An approval
// of what waits is the same only with the same token, role and comment: an earlier token may have been revoked or have
// expired since, and the approval with it.
func isRepeated(d *ent.Deployment, earlier *ent.Approval, a *actor.Actor, comment *string, approves bool) bool {
	switch {
	case earlier == nil || earlier.Approved != approves:
		return false
	case approves && d.Status == StatusAwaiting:
		return earlier.TokenID == a.ID && earlier.Role == a.Role && equalText(earlier.Comment, comment)
	case approves:
		return hasStarted(d)
	}
	return d.Error != nil && d.Error.Code == string(fault.DeploymentRejected)
}

// equalText reports whether two texts, each of which may be nil, are the same.
func equalText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// checkAwaiting returns why nobody can approve of a deployment, reject or start it at a time, nil where it waits.
func checkAwaiting(d *ent.Deployment, at time.Time) error {
	if d.Status == StatusAwaiting && d.WaitsUntil.After(at) {
		return nil
	}
	why := expiredError(d)
	if d.Status != StatusAwaiting {
		if why = d.Error; hasStarted(d) || why == nil || why.Code == string(fault.DeploymentCanceled) {
			return checkStatus(d, "approved, rejected or started", StatusAwaiting)
		}
	}
	return lateError(d, why)
}

// lateError returns the error of who is late for a deployment that has ended while it waited.
func lateError(d *ent.Deployment, why *fault.Data) error {
	f := fault.New(fault.Code(why.Code), "The deployment %s does not wait any more. %s", d.ID, why.Message)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}

// hasStarted reports whether a deployment has waited for nothing, or was started since.
func hasStarted(d *ent.Deployment) bool { return d.Status != StatusAwaiting && d.WaitsUntil == nil }

// checkOther refuses an approval by the author of a deployment, or by somebody in the same hand; makers are those of both.
func checkOther(d *ent.Deployment, principalID string, makers map[string][]string) error {
	if d.CreatedByID == nil || !actor.SamePerson(*d.CreatedByID, principalID, makers) {
		return nil
	}
	f := fault.New(fault.DeploymentOwnApproval, "The deployment %s was made by %s, who is not another than the caller: "+
		"the same principal, or one who has made the other's token.", d.ID, d.CreatedBy)
	f.Metadata = map[string]any{"deploymentId": d.ID}
	return f
}

// Ballot is a voice about a deployment.
type Ballot struct {
	*ent.Approval
	// Counts is whether it counts as an approval.
	Counts bool
	holder string
}

// ballots returns the voices about deployments, by the ids of these, the oldest first; in a transaction, or outside where that is
// nil.
func (s *Service) ballots(ctx context.Context, c *ent.Client, tx *ent.Tx, list []*ent.Deployment, at time.Time) (map[string][]Ballot, error) {
	ids, authors := make([]string, len(list)), map[string]*ent.Deployment{}
	var principals []string
	for i, d := range list {
		ids[i], authors[d.ID] = d.ID, d
		if d.CreatedByID != nil {
			principals = append(principals, *d.CreatedByID)
		}
	}
	voices, err := c.Approval.Query().Where(approval.DeploymentIDIn(ids...)).Order(ent.Asc(approval.FieldCreatedAt, approval.FieldID)).All(ctx)
	if err != nil || len(voices) == 0 {
		return nil, err
	}
	var tokenIDs []string
	for _, v := range voices {
		tokenIDs, principals = append(tokenIDs, v.TokenID), append(principals, v.PrincipalID)
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
	tokenOf := byID(tokens, func(t *ent.Token) string { return t.ID })
	of := map[string][]Ballot{}
	for _, v := range voices {
		d, b := authors[v.DeploymentID], Ballot{Approval: v}
		if t := tokenOf[v.TokenID]; t != nil {
			b.holder = idOrEmpty(t.Holder)
			b.Counts = v.Approved && mayApprove(t, d, at) && !isOneOf(v.PrincipalID, d, of[v.DeploymentID], makers)
		}
		of[v.DeploymentID] = append(of[v.DeploymentID], b)
	}
	return of, nil
}

// isOneOf reports whether a principal may be in one hand with the author of a deployment, or with one whose voice about it
// counts already.
func isOneOf(principalID string, d *ent.Deployment, earlier []Ballot, makers map[string][]string) bool {
	return d.CreatedByID != nil && actor.SamePerson(*d.CreatedByID, principalID, makers) ||
		slices.ContainsFunc(earlier, func(b Ballot) bool { return b.Counts && actor.SamePerson(b.PrincipalID, principalID, makers) })
}

// mayApprove reports whether by a token somebody may approve of a deployment at a time.
func mayApprove(t *ent.Token, d *ent.Deployment, at time.Time) bool {
	if t.RevokedAt != nil || t.ExpiresAt != nil && !at.Before(*t.ExpiresAt) {
		return false
	}
	by := &actor.Actor{ID: t.ID, Name: t.Name, Role: t.Role, Scope: t.Scope, OrganizationID: d.OrganizationID}
	return access.CheckIn(by, access.Deploy, placeOf(d), fault.DeploymentForbidden) == nil
}

// voice returns it as rules have it.
func (b Ballot) voice() gate.Voice { return gate.Voice{Holder: b.holder, Role: b.Role} }

// voices returns those that count, as rules are judged by them.
func voices(list []Ballot) []gate.Voice {
	var all []gate.Voice
	for _, b := range list {
		if b.Counts {
			all = append(all, b.voice())
		}
	}
	return all
}

// rejectedError returns the error of a deployment that somebody rejected.
func rejectedError(by string, comment *string) *fault.Data {
	why := &fault.Data{Code: string(fault.DeploymentRejected), Message: "Rejected by " + by + "."}
	if comment != nil {
		why.Description = *comment
	}
	return why
}
