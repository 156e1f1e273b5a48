package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"slipway/internal/client"
	"slipway/internal/fault"
	"slipway/internal/runner/keeper"
)

// errClaimTooLate is the error of a claim whose answer was lost until its lease had ended.
var errClaimTooLate = errors.New("the answer to a claim came too late")

// errNotStarted is the error of a claimed deployment whose program could not be started.
var errNotStarted = errors.New("the program could not be run")

// claimWait is for how long the server lets a claim wait for a deployment. Proxies close what is silent for longer.
const claimWait = 20 * time.Second

// claim claims the oldest deployment that waits, and returns nil if there is none and none has come. If the answer may
// have been lost, the server may have given a deployment to this runner; so the claim is repeated with the same lease
// id, for which the server returns the same deployment. After ctx has ended, claims are repeated only for this reason.
func (r *runner) claim(ctx context.Context) (*job, error) {
	requestCtx, cancel := afterDone(ctx, finalRequestTime)
	defer cancel()
	wait, unconfirmed := r.claimWait(), r.unconfirmed
	leaseID := cmp.Or(unconfirmed, "lease_"+rand.Text())
	r.unconfirmed = ""
	var claimed client.ClaimDeploymentPayload
	var sent keeper.Instant
	// everLost is whether an answer may have been lost, lost whether none has come since.
	everLost, lost := false, false
	ask := func() (again bool, err error) {
		sent = r.Clock()
		if wait > 0 && ctx.Err() == nil {
			claimed, err = r.askForWork(ctx, leaseID, wait) // there is no need to wait for longer than ctx lasts
		} else {
			claimed, err = r.askForWork(requestCtx, leaseID, 0)
		}
		refused, ok := errors.AsType[*client.Error](err)
		again = err != nil && !(ok && refused.Permanent())
		if wait > 0 && ok && refused.Code == string(fault.DocumentVariablesInvalid) {
			wait, r.serverWaits, again = 0, false, true // it is older than this runner
		}
		everLost = everLost || again && !client.NotSent(err)
		lost = again && (lost || !client.NotSent(err))
		return again, err
	}
	err := r.client.Retry(ctx, "claimDeployment", ask)
	if lost {
		// The server may take a moment to see that a claim that waits has nobody any more to answer to.
		sleep(requestCtx, min(r.Poll, time.Second))
		err = r.client.Retry(requestCtx, "claimDeployment", ask)
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

// claimWait returns for how long the next claim is to wait.
func (r *runner) claimWait() time.Duration {
	if r.Once || r.unconfirmed != "" || !r.serverWaits {
		return 0
	}
	return claimWait
}

// askForWork sends a claim once, which waits. It returns a payload without a deployment if there is none.
func (r *runner) askForWork(ctx context.Context, leaseID string, wait time.Duration) (client.ClaimDeploymentPayload, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout+wait)
	defer cancel()
	response, err := client.ClaimDeployment(ctx, r.client, client.ClaimDeploymentInput{
		DeploymentTypes: r.Kinds, LeaseId: &leaseID, Wait: int(wait / time.Second),
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
