package releases

import (
	"context"
	"encoding/json"

	"slipway/ent"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/release"
)

// ChangesFrom returns how what is shipped differs from what a deployment ships; all of it is added if there is none.
func (s *Service) ChangesFrom(
	ctx context.Context, deploymentID *string, shipped release.Content,
) (inputs, artifact []release.Change, err error) {
	before := release.Content{Inputs: json.RawMessage("{}")}
	if deploymentID != nil {
		d, err := s.Store.Client.Deployment.Get(ctx, *deploymentID)
		if err != nil {
			return nil, nil, err
		}
		releases, err := s.releasesOf(ctx, d)
		if err != nil {
			return nil, nil, err
		}

		if r := releases[optional.OrZero(d.ReleaseID)]; r != nil {
			if err := meter.Decode(ctx, meter.Stored, r.Content); err != nil {
				return nil, nil, err
			}
			if before, err = Content(r); err != nil {
				return nil, nil, err
			}
		}
	}

	if inputs, err = release.Diff(ctx, before.Inputs, shipped.Inputs); err != nil {
		return nil, nil, err
	}
	if artifact, err = release.Diff(ctx, before.Artifact, shipped.Artifact); err != nil {
		return nil, nil, err
	}
	versions, err := s.versionsByID(ctx, shipped.ModuleVersionID)
	if err != nil {
		return nil, nil, err
	}
	to := versions[shipped.ModuleVersionID]
	return inputs, artifact, markImmutable(ctx, inputs, to.ID, to.Inputs)
}

// ArtifactOf returns the artifact that a deployment ships, nil if it has none.
func (s *Service) ArtifactOf(ctx context.Context, d *ent.Deployment) (*strictjson.Node, error) {
	if d.ReleaseID == nil {
		return nil, NotStored(d.ID)
	}
	r, err := s.Store.Client.Release.Get(ctx, *d.ReleaseID)
	if ent.IsNotFound(err) {
		return nil, NotStored(d.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := meter.Decode(ctx, meter.Stored, r.Content); err != nil {
		return nil, err
	}
	content, err := Content(r)
	if err != nil || content.Artifact == nil {
		return nil, err
	}
	return strictjson.ParseStored(content.Artifact)
}
