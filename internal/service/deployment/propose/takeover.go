package propose

import (
	"context"

	"slipway/internal/pure/ecs"
	"slipway/internal/service/inputvalidation"
)

// takeOver returns what is to be created, with what was given to the deployment that it names as InputsFrom, as far as
// it gives nothing itself. It fails with the errors of [inputvalidation.Service.TakeOver], and where the release is
// needed with ReleaseUnavailable and ReleaseDigestMismatch.
func (s *Service) takeOver(ctx context.Context, in New, p *prepared) (New, error) {
	if in.InputsFrom == nil {
		return in, nil
	}
	var err error
	if p.taken, err = s.Inputs.TakeOver(
		ctx, in.takeover(), in.Inputs, p.instance.ModuleDefinitionID, p.instance.ID,
	); err != nil {
		return in, err
	}

	in.Inputs = p.taken.Values
	from := p.taken.From
	if in.Artifact == nil && p.version.Kind == ecs.Type {
		if in.Artifact, err = s.Releases.ArtifactOf(ctx, from); err != nil {
			return in, err
		}
	}

	if from.ModuleInstanceID != p.instance.ID {
		return in, nil
	}
	if in.ResourceARN == nil {
		in.ResourceARN = from.ResourceArn
	}
	if in.ResourceName == nil {
		in.ResourceName = from.ResourceName
	}

	if in.Data == nil && p.version.Kind == ecs.Type {
		p.target, err = from.Data.Target()
	}
	return in, err
}

// takeover returns whose inputs are taken over.
func (in New) takeover() inputvalidation.Takeover {
	return inputvalidation.Takeover{InputsFrom: in.InputsFrom, WithoutInputs: in.WithoutInputs}
}
