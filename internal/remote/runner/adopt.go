package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

// identify asks the server for the organization that this runner works for.
func (r *runner) identify(ctx context.Context) error {
	err := r.client.Retry(ctx, "viewer", func() (again bool, err error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()

		answer, err := client.Identify(ctx, r.client)
		if err != nil {
			refused, ok := errors.AsType[*client.Error](err)
			return !ok || !refused.Permanent(), err
		}
		if answer.Viewer != nil && answer.Viewer.OrganizationId != nil {
			r.organizationID = *answer.Viewer.OrganizationId
		}
		return false, nil
	})

	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the server %s gives no work: %w", r.Server, err)
	}
	return nil
}

// adopt returns jobs for the programs that other runners in the work folder have left, because they have ended or were
// killed. Those of another server or organization are others', and what the server has refused is not tried again. The
// organization alone would not do: a copy of the database, as of a staging server, has the same.
func (r *runner) adopt() (jobs []*job) {
	seen, others := map[string]bool{}, 0
	programs, err := keeper.Adopt(filepath.Join(r.WorkDir, keepers), func(program *keeper.Handle) bool {
		var info jobInfo
		if program.Info(&info) != nil || info.Server != r.Server || info.OrganizationID != r.organizationID {
			others++ // of a runner from before servers were noted, too
			return false
		}
		seen[info.DeploymentID] = true
		return !r.hasLetGo(info.DeploymentID)
	})

	r.forgetAllBut(seen)
	if others > r.others {
		r.Log.Info("programs of another server, organization or version are left alone", "programs", others)
	}
	r.others = others

	for _, program := range programs {
		var info jobInfo
		if failed := program.Info(&info); failed != nil {
			program.Detach()
			err = errors.Join(err, failed)
			continue
		}
		j := r.newJob(info, program)
		j.log.Info("adopted a program that another runner started")
		jobs = append(jobs, j)
	}

	if text := fmt.Sprint(err); text != r.adoptError {
		r.adoptError = text
		if err != nil {
			r.Log.Error("cannot adopt programs that other runners started", "error", err)
		}
	}
	return jobs
}

// letGo notes that the server does not let this runner carry a deployment out.
func (r *runner) letGo(deploymentID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused[deploymentID] = true
}

func (r *runner) hasLetGo(deploymentID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused[deploymentID]
}

// forgetAllBut forgets what was let go and is not in the work folder any more.
func (r *runner) forgetAllBut(present map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.refused, func(id string, _ bool) bool { return !present[id] })
}
