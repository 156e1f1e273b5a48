package releases

import (
	"context"
	"errors"

	"slipway/ent"
	entrelease "slipway/ent/release"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/data/journal"
	"slipway/internal/data/record"
	"slipway/internal/pure/release"
	"slipway/internal/service/access"
)

// Release returns one release, or ReleaseNotFound.
func (s *Service) Release(ctx context.Context, releaseID string) (*record.Release, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	return record.Releases.In(s.Store).ByID(ctx, releaseID, fault.ReleaseNotFound)
}

// ReleasesByID returns the releases of the ids that there are, in no order.
func (s *Service) ReleasesByID(ctx context.Context, ids []string) ([]*record.Release, error) {
	return record.Releases.In(s.Store).ByIDs(ctx, ids)
}

// Content returns what a release ships, proved by its digest to be what was stored; otherwise it fails with
// ReleaseDigestMismatch.
func Content(r *ent.Release) (release.Content, error) {
	content, err := release.Open(r.Digest, r.Content)
	return content, ExplainMismatch(r.ID, err)
}

// ExplainMismatch returns an error of package release as a caller is told it: the one that says that a content does not
// have its digest as ReleaseDigestMismatch.
func ExplainMismatch(releaseID string, err error) error {
	if errors.Is(err, release.ErrDigestMismatch) {
		return fault.New(fault.ReleaseDigestMismatch,
			"The release %s is not what was stored: its content does not have its digest.", releaseID).WithCause(err)
	}
	return err
}

// ContentOf is Content for one of many releases that a caller asks for, of which the digest and the content were read:
// reading it is counted as work of the request in the context.
func ContentOf(ctx context.Context, r *record.Release) (release.Content, error) {
	if err := meter.Decode(ctx, meter.Stored, r.Content); err != nil {
		return release.Content{}, err
	}
	return Content(&ent.Release{ID: r.ID, Digest: r.Digest, Content: r.Content})
}

// NoRelease returns the error of a deployment that was started outside, so that Slipway has never had its release.
func NoRelease(deploymentID string) error {
	return fault.New(fault.ReleaseUnavailable, "The deployment %s was started outside of Slipway, which has no release "+
		"of it.", deploymentID)
}

// VerifiedContent returns what a deployment ships, proved by its digest. It fails with ReleaseUnavailable if no
// release is stored, and ReleaseDigestMismatch.
func VerifiedContent(deploymentID string, r *ent.Release) (release.Content, error) {
	if r == nil {
		return release.Content{}, NotStored(deploymentID)
	}
	return Content(r)
}

// NotStored returns the error of a deployment whose release is gone.
func NotStored(deploymentID string) error {
	return fault.New(fault.ReleaseUnavailable, "The release of the deployment %s is no longer stored.", deploymentID)
}

// FindRelease returns what speaks against the organization's release of a digest; it has no release if none is stored
// yet.
func FindRelease(ctx context.Context, tx *ent.Tx, digest string) (known Reputation, err error) {
	r, err := tx.Release.Query().Where(entrelease.Digest(digest)).Only(ctx)
	if ent.IsNotFound(err) {
		return known, nil
	}
	if err != nil {
		return known, err
	}

	known.ReleaseID = r.ID
	open, err := openQuarantine(ctx, tx, r.ID)
	if open != nil {
		known.quarantines = []*ent.Quarantine{open}
	}
	return known, err
}

// InsertRelease stores the organization's release of a content.
func InsertRelease(
	ctx context.Context, tx *ent.Tx, e *journal.Entry, releaseID string, version *ent.ModuleVersion, sealed release.Sealed,
) error {
	return tx.Release.Create().
		SetID(releaseID).SetOrganizationID(actor.From(ctx).OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
		SetModuleVersionID(version.ID).SetDigest(sealed.Digest).SetContent(sealed.JSON).
		Exec(ctx)
}
