package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"slipway/internal/client"
	"slipway/internal/fault"
	"slipway/internal/keeper"
)

// errClaimTooLate is the error of a claim whose answer was lost until its lease had ended.
var errClaimTooLate = errors.New("the answer to a claim came too late")

// errNotStarted is the error of a claimed deployment whose program could not be started.
var errNotStarted = errors.New("the program could not be run")

// claim claims the oldest deployment that waits, and returns nil if there is none. If the answer may have been lost,
// the server may have given a deployment to this runner; so the claim is repeated with the same lease id, for which
// the server returns the same deployment. After ctx has ended, claims are repeated only for this reason.
func (r *runner) claim(ctx context.Context) (*job, error) {
	requestCtx, cancel := afterDone(ctx, finalRequestTime)
	defer cancel()
	unconfirmed := r.unconfirmed
	leaseID := cmp.Or(unconfirmed, "lease_"+rand.Text())
	r.unconfirmed = ""
	var claimed client.ClaimDeploymentPayload
	var sent keeper.Instant
	// everLost is whether an answer may have been lost, lost whether none has come since.
	everLost, lost := false, false
	try := func() (again bool, err error) {
		sent = r.Clock()
		claimed, err = r.askForWork(requestCtx, leaseID)
		refused, ok := errors.AsType[*client.Error](err)
		again = err != nil && !(ok && refused.Permanent())
		everLost = everLost || again && !client.NotSent(err)
		lost = again && (lost || !client.NotSent(err))
		return again, err
	}
	err := r.client.Retry(ctx, "claimDeployment", try)
	if lost {
		err = r.client.Retry(requestCtx, "claimDeployment", try)
	}
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && refused.Code == string(fault.DeploymentLeaseLost):
		return nil, fmt.Errorf("%w: %w", errClaimTooLate, err)
	case ok && refused.Permanent():
		return nil, fmt.Errorf("the server %s gives no work: %w", r.Server, err)
	case claimed.Deployment == nil || claimed.Lease == nil:
		if everLost && unconfirmed == "" {
			r.unconfirmed = leaseID
		}
		return nil, nil
	}
	return r.startClaimed(claimed, leaseID, sent)
}

// askForWork sends a claim once. It returns a payload without a deployment if there is none.
func (r *runner) askForWork(ctx context.Context, leaseID string) (client.ClaimDeploymentPayload, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	response, err := client.ClaimDeployment(ctx, r.client, client.ClaimDeploymentInput{
		DeploymentTypes: r.Kinds, LeaseId: &leaseID,
	})
	if err != nil {
		return client.ClaimDeploymentPayload{}, err
	}
	return response.ClaimDeployment, nil
}

// startClaimed starts the program of a claimed deployment. If that fails it completes the deployment as failed and
// returns errNotStarted.
func (r *runner) startClaimed(claimed client.ClaimDeploymentPayload, leaseID string, sent keeper.Instant) (*job, error) {
	j, err := r.start(newInput(claimed.Deployment), grantedLease(*claimed.Lease, leaseID, sent))
	if err == nil {
		return j, nil
	}
	_, failed := r.complete(claimed.Deployment.Id, leaseID, notStarted(err.Error()), false)
	return nil, errors.Join(fmt.Errorf("%w: %s: %w", errNotStarted, claimed.Deployment.Id, err), failed)
}
