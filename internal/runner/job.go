package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"syscall"
	"time"
)

// job is one deployment that this runner carries out.
type job struct {
	*runner
	work
	*lease
	log *slog.Logger
}

// failure is how a deployment failed, as completeDeployment takes it; nil where it succeeded.
type failure struct {
	Message     string `json:"message"`
	Description string `json:"description,omitempty"`
}

// carryOut runs the program and completes the deployment, unless the lease is lost before.
func (j *job) carryOut() {
	begun := time.Now()
	j.log.Info("claimed", "kind", j.Deployment.DeploymentType, "trigger", j.Deployment.TriggerSource)
	defer j.end()
	go j.keepLease()
	var said tail
	reports := j.newReporter()
	err := j.runProgram(reports, &said)
	reports.finish()
	if j.held.Err() != nil {
		j.log.Warn("stopped, and not completed", "why", context.Cause(j.held), "duration", time.Since(begun))
		return
	}
	failed := j.explain(err, said.text())
	if err := j.complete(failed); err != nil {
		j.log.Warn("not completed", "error", err, "duration", time.Since(begun))
		return
	}
	status, why := "SUCCEEDED", ""
	if failed != nil {
		status, why = "FAILED", failed.Message
	}
	j.log.Info("finished", "status", status, "why", why, "duration", time.Since(begun))
}

// runProgram runs the command in the folder of the instance. It gives errHalted where the command was
// stopped because the runner is to end.
func (j *job) runProgram(reports *reporter, said *tail) error {
	running, halt := context.WithCancelCause(j.held)
	defer halt(nil)
	defer context.AfterFunc(j.working, func() { halt(errHalted) })()
	dir, err := j.folder(running, reports)
	if err != nil {
		return err
	}
	defer leave(dir)
	input, err := j.input()
	if err != nil {
		return err
	}
	p := program{
		command: j.Command, dir: dir, env: j.environ(j.Environ), input: input, grace: j.StopGrace,
		stdout: reports.line,
		stderr: func(line string) {
			said.add(line)
			j.log.Debug("standard error", "line", line)
		},
	}
	return p.run(running)
}

// explain says how the program failed, with the end of what it said on standard error.
func (j *job) explain(err error, said string) *failure {
	exited, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errHalted):
		return &failure{fmt.Sprintf("The runner was told to end, and the program had not ended %s later.", j.ShutdownTimeout), said}
	case !ok:
		return &failure{"The program could not be run.", err.Error()}
	}
	if status, ok := exited.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &failure{fmt.Sprintf("The program was ended by signal %d (%s).", status.Signal(), status.Signal()), said}
	}
	return &failure{fmt.Sprintf("The program ended with exit code %d.", exited.ExitCode()), said}
}

const completeDeployment = `mutation($input: CompleteDeploymentInput!) {
	completeDeployment(input: $input) { deployment { id } }
}`

// complete says how the deployment ended until that is answered or refused: that the lease has run out
// meanwhile is for the server to say.
func (j *job) complete(failed *failure) error {
	input := map[string]any{"id": j.Deployment.ID, "leaseId": j.lease.id}
	if failed != nil {
		input["error"] = failed
	}
	return j.client.retry(j.last, "completeDeployment", func() (bool, error) {
		var data struct{}
		err := j.client.post(j.last, j.timeout(), completeDeployment, input, &data)
		return err != nil && transient(err), err
	})
}
