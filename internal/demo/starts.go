package demo

import (
	"context"

	"slipway/internal/service/deployment/propose"
)

// starter is one way to start a deployment.
type starter struct {
	name string
	run  func(*demo, context.Context, *service) (deploymentID string, err error)
	// settle returns the service's successes after a success of this deployment.
	settle func(s *service, deploymentID string) []string
}

// The ways to start a deployment.
var (
	ship     = starter{"release", (*demo).ship, arrived}
	rollback = starter{"rollback", (*demo).rollBack, returned}
	redeploy = starter{"redeploy", (*demo).redeploy, repeated}
)

func arrived(s *service, deploymentID string) []string { return append(s.succeeded, deploymentID) }

// returned forgets the success that was rolled back: that before it is live again.
func returned(s *service, _ string) []string { return s.succeeded[:len(s.succeeded)-1] }

// repeated counts where what is repeated was no success itself.
func repeated(s *service, deploymentID string) []string {
	if s.last == s.succeeded[len(s.succeeded)-1] {
		return s.succeeded
	}
	return append(s.succeeded, deploymentID)
}

// ship deploys the next release: mostly the pipeline does, now and then a developer.
func (d *demo) ship(ctx context.Context, s *service) (string, error) {
	by := pipeline
	if s.build%4 == 3 {
		by = developer
	}
	versionID, values, tag, err := s.release(d.published[s.Module])
	if err != nil {
		return "", err
	}

	artifact, err := s.artifact(tag)
	if err != nil {
		return "", err
	}

	description := tag + ": " + d.Changes[d.IntN(len(d.Changes))]
	arn, name := s.arn("service", ""), s.family()
	made, _, err := d.Deploy.Propose.Create(d.as(ctx, by), propose.New{
		InstanceID: s.instanceID, VersionID: versionID,
		Inputs: values, Artifact: artifact, Data: s.beforehand(),
		Description: &description, ResourceARN: &arn, ResourceName: &name,
	})
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

// rollBack goes back to the success before the live one.
func (d *demo) rollBack(ctx context.Context, s *service) (string, error) {
	made, _, err := d.Deploy.Propose.Rollback(d.as(ctx, admin), propose.Replay{SourceID: s.succeeded[len(s.succeeded)-2]})
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

// redeploy repeats the last deployment, whatever became of it.
func (d *demo) redeploy(ctx context.Context, s *service) (string, error) {
	made, _, err := d.Deploy.Propose.Redeploy(d.as(ctx, developer), propose.Replay{SourceID: s.last})
	if err != nil {
		return "", err
	}
	return made.ID, nil
}
