package runner

import (
	"context"
	"fmt"

	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

// failure is the error of a failed deployment, and nil if it succeeded. Its description may be empty.
type failure struct{ message, description string }

// notStarted returns the failure of a deployment whose program could not be started.
func notStarted(why string) *failure { return &failure{"The program could not be run.", why} }

// failureOf returns how the program failed, with the last lines of its standard error; nil if it succeeded.
func (r *runner) failureOf(end keeper.End) *failure {
	switch {
	case end.Stopped == keeper.Unknown:
		const message = "How the program ended is unknown: its keeper process is gone, and nobody else has seen it."
		return &failure{message, end.Stderr}
	case end.Stopped == keeper.Shutdown:
		message := fmt.Sprintf("The runner was shut down, and the program had not ended %s later.", r.ShutdownTimeout)
		return &failure{message, end.Stderr}
	case end.Stopped == keeper.LeaseExpiring:
		return &failure{"The program was stopped because its lease could not be renewed in time.", end.Stderr}
	case end.Failure != "":
		return notStarted(end.Failure)
	case end.Signal != 0:
		return &failure{fmt.Sprintf("The program was ended by signal %d (%s).", end.Signal, end.Signal), end.Stderr}
	case end.ExitCode != 0:
		return &failure{fmt.Sprintf("The program ended with exit code %d.", end.ExitCode), end.Stderr}
	}
	return nil
}

// complete completes the deployment and returns its new status.
func (j *job) complete(end keeper.End) (status client.DeploymentStatus, err error) {
	end.Stderr = j.mask.lines(end.Stderr)
	failed := j.failureOf(end)
	if failed == nil {
		return j.succeed()
	}
	input := failed.completion(j.DeploymentID, j.lease().ID)
	if end.Stopped == keeper.Canceled {
		input.Canceled = new(true)
	}
	return j.runner.complete(input)
}

// completion returns the request that completes a deployment which has failed so.
func (f *failure) completion(deploymentID, leaseID string) client.CompleteDeploymentInput {
	input := client.CompleteDeploymentInput{
		Id: deploymentID, LeaseId: leaseID, Error: &client.DeploymentErrorInput{Message: f.message},
	}
	if f.description != "" {
		input.Error.Description = &f.description
	}
	return input
}

// complete completes a deployment, and repeats the request until it is answered or refused. It does so also after the
// end of the lease, for the server decides whether that has ended.
func (r *runner) complete(input client.CompleteDeploymentInput) (status client.DeploymentStatus, err error) {
	err = r.client.Retry(r.requestCtx, "completeDeployment", func() (bool, error) {
		ctx, cancel := context.WithTimeout(r.requestCtx, requestTimeout)
		defer cancel()
		response, err := client.CompleteDeployment(ctx, r.client, input)
		if err != nil {
			return client.Transient(err), err
		}
		status = response.CompleteDeployment.Deployment.Status
		return false, nil
	})
	return status, err
}
