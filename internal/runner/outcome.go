package runner

import (
	"fmt"

	"slipway/internal/keeper"
)

// failure is how a deployment failed, as completeDeployment takes it; nil where it succeeded.
type failure struct {
	Message     string `json:"message"`
	Description string `json:"description,omitempty"`
}

// notRun is how a deployment failed whose program was not run.
func notRun(why string) *failure { return &failure{"The program could not be run.", why} }

// explain says how the program failed, with the end of what it said on standard error.
func (r *runner) explain(end keeper.End) *failure {
	switch {
	case end.Stopped == keeper.Unkept:
		return &failure{"The process that keeps the program was ended, and the program with it.", end.Stderr}
	case end.Stopped == keeper.Halted:
		return &failure{fmt.Sprintf("The runner was told to end, and the program had not ended %s later.", r.ShutdownTimeout), end.Stderr}
	case end.Stopped == keeper.Expiring:
		return &failure{"The program was stopped, because its lease could not be renewed in time.", end.Stderr}
	case end.Failure != "":
		return notRun(end.Failure)
	case end.Signal != 0:
		return &failure{fmt.Sprintf("The program was ended by signal %d (%s).", end.Signal, end.Signal), end.Stderr}
	case end.ExitCode != 0:
		return &failure{fmt.Sprintf("The program ended with exit code %d.", end.ExitCode), end.Stderr}
	}
	return nil
}

const completeDeployment = `mutation($input: CompleteDeploymentInput!) {
	completeDeployment(input: $input) { deployment { id status } }
}`

// complete says how the deployment ended, and returns the status that it got.
func (j *job) complete(end keeper.End) (status string, err error) {
	failed := j.explain(end)
	return j.runner.complete(j.DeploymentID, j.lease().ID, failed, failed != nil && end.Stopped == keeper.Canceled)
}

// complete says how a deployment ended until that is answered or refused: that the lease has run out
// meanwhile is for the server to say.
func (r *runner) complete(deploymentID, leaseID string, failed *failure, canceled bool) (status string, err error) {
	input := map[string]any{"id": deploymentID, "leaseId": leaseID}
	if failed != nil {
		input["error"] = failed
	}
	if canceled {
		input["canceled"] = true
	}
	var data struct {
		CompleteDeployment struct{ Deployment struct{ Status string } }
	}
	err = r.client.retry(r.last, "completeDeployment", func() (bool, error) {
		err := r.client.post(r.last, patience, completeDeployment, input, &data)
		return err != nil && transient(err), err
	})
	return data.CompleteDeployment.Deployment.Status, err
}
