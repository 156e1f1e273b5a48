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

// claimed is the answer of claimDeployment.
type claimed struct {
	ClaimDeployment struct {
		Lease      *granted
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

// errLate says that a deployment was claimed, and has ended before anybody here knew of it.
var errLate = errors.New("the answer to a claim came too late")

// errNotBegun says that a deployment was claimed whose program could not be run.
var errNotBegun = errors.New("the program could not be run")

// claim takes the oldest deployment that waits, and gives nil where there is none. A claim whose answer
// was lost is made again under the same lease, so that it takes no second deployment; once ctx has ended,
// only such a one is.
func (r *runner) claim(ctx context.Context) (*job, error) {
	asking, done := after(ctx, settling)
	defer done()
	unsure := r.unsure
	leaseID := cmp.Or(unsure, "lease_"+rand.Text())
	r.unsure = ""
	var a claimed
	var sent keeper.Instant
	lost, doubtful := false, false
	try := func() (again bool, err error) {
		sent = r.Clock()
		err = r.client.post(asking, patience, claimDeployment, map[string]any{"deploymentTypes": r.Kinds, "leaseId": leaseID}, &a)
		said, ok := errors.AsType[*refusal](err)
		again = err != nil && !(ok && said.final())
		lost = lost || again && !unsent(err)
		doubtful = again && (doubtful || !unsent(err))
		if err != nil {
			a = claimed{}
		}
		return again, err
	}
	err := r.client.retry(ctx, "claimDeployment", try)
	if doubtful {
		err = r.client.retry(asking, "claimDeployment", try)
	}
	said, refused := errors.AsType[*refusal](err)
	switch {
	case refused && said.code == string(fault.DeploymentLeaseLost):
		return nil, fmt.Errorf("%w: %w", errLate, err)
	case refused && said.final():
		return nil, fmt.Errorf("the server %s gives no work: %w", r.Server, err)
	case a.ClaimDeployment.Deployment == nil || a.ClaimDeployment.Lease == nil:
		if lost && unsure == "" {
			r.unsure = leaseID
		}
		return nil, nil
	}
	return r.begin(a, leaseID, sent)
}

// begin starts the program of a deployment that was claimed. Where that fails it completes the deployment
// and returns errNotBegun.
func (r *runner) begin(a claimed, leaseID string, sent keeper.Instant) (*job, error) {
	d := a.ClaimDeployment.Deployment
	d.ModuleInstanceName = d.ModuleInstance.Name
	w := work{Deployment: d.deployment, Release: d.Release, Live: d.ModuleInstance.LiveDeployment}
	j, err := r.start(w, a.ClaimDeployment.Lease.lease(leaseID, sent))
	if err == nil {
		return j, nil
	}
	_, failed := r.complete(d.ID, leaseID, notRun(err.Error()), false)
	return nil, errors.Join(fmt.Errorf("%w: %s: %w", errNotBegun, d.ID, err), failed)
}
