package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

// errClaimTooLate is the error of a claim whose answer was lost until its lease had ended.
var errClaimTooLate = errors.New("the answer to a claim came too late")

// errNotStarted is the error of a claimed deployment whose program could not be started.
var errNotStarted = errors.New("the program could not be run")

// claimWait is for how long the server lets a claim wait for a deployment. Proxies close what is silent for longer.
const claimWait = 20 * time.Second

// claim is a claim that is sent until it is answered.
type claim struct {
	runner  *runner
	leaseID string
	// isRepeated is whether the lease id is that of an earlier claim.
	isRepeated bool
	// wait is how long the server lets it wait.
	wait time.Duration
	// actions are what its program can do, nil if that is not said.
	actions []client.DeploymentAction
	// sent is when it was sent last, and answer what came of that.
	sent   keeper.Instant
	answer client.ClaimDeploymentPayload
	// everLost is whether an answer may have been lost, lost whether none has come since.
	everLost, lost bool
}

// newClaim returns a claim, which repeats the last one if that is unconfirmed.
func (r *runner) newClaim() *claim {
	c := &claim{
		runner: r, leaseID: cmp.Or(r.unconfirmed, "lease_"+rand.Text()), isRepeated: r.unconfirmed != "", wait: r.claimWait(),
	}
	if r.Destroy && r.serverDestroys {
		c.actions = []client.DeploymentAction{client.DeploymentActionApply, client.DeploymentActionDestroy}
	}
	r.unconfirmed = ""
	return c
}

// claim claims the oldest deployment that waits, and returns nil if there is none and none has come. If the answer may
// have been lost, the server may have given a deployment to this runner; so the claim is repeated with the same lease
// id, for which the server returns the same deployment. After ctx has ended, claims are repeated only for this reason.
func (r *runner) claim(ctx context.Context) (*job, error) {
	requestCtx, cancel := afterDone(ctx, finalRequestTime)
	defer cancel()

	c := r.newClaim()
	send := func() (again bool, err error) { return c.send(ctx, requestCtx) }
	err := r.client.Retry(ctx, "claimDeployment", send)

	if c.lost {
		// The server may take a moment to see that a claim that waits has nobody any more to answer to.
		sleep(requestCtx, min(r.Poll, time.Second))
		err = r.client.Retry(requestCtx, "claimDeployment", send)
	}

	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && refused.Code == string(fault.DeploymentLeaseLost):
		return nil, fmt.Errorf("%w: %w", errClaimTooLate, err)
	case ok && refused.Permanent():
		return nil, fmt.Errorf("the server %s gives no work: %w", r.Server, err)
	case c.answer.Deployment == nil || c.answer.Lease == nil:
		if c.everLost && !c.isRepeated {
			r.unconfirmed = c.leaseID
		}
		return nil, nil
	}
	return r.startClaimed(c.answer, c.leaseID, c.sent)
}

// send sends the claim once, and reports whether that is to be repeated. It waits for a deployment for no longer than
// ctx lasts.
func (c *claim) send(ctx, requestCtx context.Context) (again bool, err error) {
	c.sent = c.runner.Clock()
	if c.wait > 0 && ctx.Err() == nil {
		c.answer, err = c.runner.askForWork(ctx, c, c.wait)
	} else {
		c.answer, err = c.runner.askForWork(requestCtx, c, 0)
	}

	again = err != nil && c.isToRepeat(err)
	mayBeLost := again && !client.NotSent(err)
	c.everLost = c.everLost || mayBeLost
	c.lost = mayBeLost || again && c.lost
	return again, err
}

// isToRepeat reports whether the claim is to be repeated after an error. To a server that is older than this runner it
// is repeated as one that does not say what its program can do, and then as one that does not wait.
func (c *claim) isToRepeat(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	switch isUnknown := ok && refused.Code == string(fault.DocumentVariablesInvalid); {
	case isUnknown && c.actions != nil:
		c.actions, c.runner.serverDestroys = nil, false
		return true
	case isUnknown && c.wait > 0:
		c.wait, c.runner.serverWaits = 0, false
		return true
	}
	return !ok || !refused.Permanent()
}

// claimWait returns for how long the next claim is to wait.
func (r *runner) claimWait() time.Duration {
	if r.Once || r.unconfirmed != "" || !r.serverWaits {
		return 0
	}
	return claimWait
}

// askForWork sends a claim once, which waits. It returns a payload without a deployment if there is none.
func (r *runner) askForWork(ctx context.Context, c *claim, wait time.Duration) (client.ClaimDeploymentPayload, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout+wait)
	defer cancel()
	response, err := client.ClaimDeployment(ctx, r.client, client.ClaimDeploymentInput{
		DeploymentTypes: r.Kinds, LeaseId: &c.leaseID, Wait: int(wait / time.Second), Actions: c.actions,
	})
	if err != nil {
		return client.ClaimDeploymentPayload{}, err
	}
	return response.ClaimDeployment, nil
}

// startClaimed starts the program of a claimed deployment. If that fails it completes the deployment as failed and
// returns errNotStarted.
func (r *runner) startClaimed(
	claimed client.ClaimDeploymentPayload, leaseID string, sent keeper.Instant,
) (*job, error) {
	j, err := r.start(newInput(claimed.Deployment), grantedLease(*claimed.Lease, leaseID, sent))
	if err == nil {
		return j, nil
	}
	_, failed := r.complete(notStarted(err.Error()).completion(claimed.Deployment.Id, leaseID))
	return nil, errors.Join(fmt.Errorf("%w: %s: %w", errNotStarted, claimed.Deployment.Id, err), failed)
}
