package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"slipway/internal/fault"
	"slipway/internal/keeper"
)

const claimDeployment = `mutation($input: ClaimDeploymentInput!) {
	claimDeployment(input: $input) {
		lease { seconds cancelSeconds }
		deployment {
			id fence organizationId projectId environmentId moduleInstanceId deploymentType triggerSource description
			createdAt createdBy rollbackToDeploymentId redeployOfDeploymentId externalDeploymentId resourceArn resourceName
			data: dataJson
			project { name slug }
			environment { name slug }
			moduleInstance { name liveDeployment { deploymentId: id release { ...shipped } } }
			release { ...shipped }
		}
	}
}
fragment shipped on Release {
	id digest inputs artifact
	moduleVersion { id version deploymentType sourceUrl sourceRef moduleDefinition { type name } }
}`

// claimResponse is the data of claimDeployment's answer.
type claimResponse struct {
	ClaimDeployment struct {
		Lease      *leaseGrant
		Deployment *struct {
			deployment
			ModuleInstance struct {
				Name           string
				LiveDeployment *live
			}
			Release *release
		}
	}
}

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
	var response claimResponse
	var sent keeper.Instant
	// everLost is whether an answer may have been lost, lost whether none has come since.
	everLost, lost := false, false
	try := func() (again bool, err error) {
		sent = r.Clock()
		err = r.client.post(requestCtx, requestTimeout, claimDeployment, map[string]any{"deploymentTypes": r.Kinds, "leaseId": leaseID}, &response)
		refused, ok := errors.AsType[*apiError](err)
		again = err != nil && !(ok && refused.permanent())
		everLost = everLost || again && !notSent(err)
		lost = again && (lost || !notSent(err))
		if err != nil {
			response = claimResponse{}
		}
		return again, err
	}
	err := r.client.retry(ctx, "claimDeployment", try)
	if lost {
		err = r.client.retry(requestCtx, "claimDeployment", try)
	}
	refused, ok := errors.AsType[*apiError](err)
	switch {
	case ok && refused.code == string(fault.DeploymentLeaseLost):
		return nil, fmt.Errorf("%w: %w", errClaimTooLate, err)
	case ok && refused.permanent():
		return nil, fmt.Errorf("the server %s gives no work: %w", r.Server, err)
	case response.ClaimDeployment.Deployment == nil || response.ClaimDeployment.Lease == nil:
		if everLost && unconfirmed == "" {
			r.unconfirmed = leaseID
		}
		return nil, nil
	}
	return r.startClaimed(response, leaseID, sent)
}

// startClaimed starts the program of a claimed deployment. If that fails it completes the deployment as failed and
// returns errNotStarted.
func (r *runner) startClaimed(response claimResponse, leaseID string, sent keeper.Instant) (*job, error) {
	d := response.ClaimDeployment.Deployment
	d.ModuleInstanceName = d.ModuleInstance.Name
	in := input{Deployment: d.deployment, Release: d.Release, Live: d.ModuleInstance.LiveDeployment}
	j, err := r.start(in, response.ClaimDeployment.Lease.lease(leaseID, sent))
	if err == nil {
		return j, nil
	}
	_, failed := r.complete(d.ID, leaseID, notStarted(err.Error()), false)
	return nil, errors.Join(fmt.Errorf("%w: %s: %w", errNotStarted, d.ID, err), failed)
}
