package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
)

// ErrUnknownOrganization is a Finder's error for an organization that does not exist.
var ErrUnknownOrganization = errors.New("auth: unknown organization")

// Finder looks organizations up.
type Finder interface {
	// FindOrganization returns the organization of an id or a slug. The error is, or wraps, ErrUnknownOrganization
	// if there is none; any other error means that the question could not be answered. The context ends after
	// five seconds at the latest.
	FindOrganization(ctx context.Context, idOrSlug string) (Organization, error)
}

// Organization is the id and the slug of an organization.
type Organization struct{ ID, Slug string }

// Organizations finds the organization that a request names. It caches the organizations that its Finder found,
// for at most five seconds, and asks once for requests that come at the same time.
//
// For a member it looks up the member's own organization only. So nothing in the answer, not even the time that it
// takes, shows a member whether another organization exists.
type Organizations struct {
	finder  Finder
	now     func() time.Time
	lookups singleflight.Group
	cache   *lru.Cache[string, found]
}

// found is the Finder's answer, and when it was asked.
type found struct {
	Organization
	asked time.Time
}

// maxOrganizations bounds the cache of organizations.
const maxOrganizations = 10_000

// NewOrganizations returns Organizations that ask a Finder; now is their clock.
func NewOrganizations(finder Finder, now func() time.Time) *Organizations {
	return &Organizations{finder: finder, now: now, cache: newCache[string, found](maxOrganizations)}
}

// Enter returns the actor acting if the Slipway-Organization header says: in the organization of that id or
// slug, or for a superadmin on what is global. Without the header it returns the actor as it is. The error is
// fault's RequestInvalid for a header that is repeated or malformed, OrganizationNotFound for an organization that
// does not exist or is not the actor's, and RequestUnauthenticated if somebody without a token names one; any other
// error means that the organization could not be looked up.
func (o *Organizations) Enter(ctx context.Context, a *actor.Actor, header http.Header) (*actor.Actor, error) {
	values := header.Values(httpx.OrganizationHeader)
	if len(values) == 0 {
		return a, nil
	}
	if a.IsAnonymous() {
		return nil, fault.New(fault.RequestUnauthenticated,
			"A bearer token is needed to act in an organization; none was sent.")
	}
	named, err := headerName(values)
	switch {
	case err != nil:
		return nil, err
	case a.IsSuperadmin():
		return o.enterAny(ctx, a, named)
	default:
		return o.enterOwn(ctx, a, named)
	}
}

func (o *Organizations) enterAny(ctx context.Context, a *actor.Actor, named string) (*actor.Actor, error) {
	if named == actor.Global {
		return a.InGlobal(), nil
	}
	organization, err := o.find(ctx, named)
	if errors.Is(err, ErrUnknownOrganization) {
		return nil, notFound(named)
	}
	if err != nil {
		return nil, err
	}
	return a.In(organization.ID), nil
}

func (o *Organizations) enterOwn(ctx context.Context, a *actor.Actor, named string) (*actor.Actor, error) {
	if named == a.OrganizationID {
		return a, nil
	}
	own, err := o.find(ctx, a.OrganizationID)
	if err != nil {
		return nil, err
	}
	if named != own.Slug || named == actor.Global {
		return nil, notFound(named)
	}
	return a, nil
}

// wellFormed is the form that ids and slugs have in common.
var wellFormed = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$`)

// headerName returns the name in the one value of the header.
func headerName(values []string) (string, error) {
	if len(values) > 1 {
		return "", fault.New(fault.RequestInvalid,
			"%s may be given once; found %d of it.", httpx.OrganizationHeader, len(values))
	}
	if !wellFormed.MatchString(values[0]) {
		return "", fault.New(fault.RequestInvalid,
			"%s must be the id or the slug of one organization, 1 to 60 letters, digits, underscores and hyphens; found %.70q.",
			httpx.OrganizationHeader, values[0])
	}
	return values[0], nil
}

func notFound(named string) error {
	return fault.New(fault.OrganizationNotFound, "There is no organization %q that you may act in.", named)
}

// find returns an organization as it was at most five seconds ago.
func (o *Organizations) find(ctx context.Context, idOrSlug string) (Organization, error) {
	if cached, ok := o.cache.Get(idOrSlug); ok && o.now().Sub(cached.asked) < goodFor {
		return cached.Organization, nil
	}
	organization, err := ask(ctx, &o.lookups, idOrSlug, o.lookUp, func(error) {})
	if err != nil {
		return Organization{}, fmt.Errorf("auth: find organization: %w", err)
	}
	return organization, nil
}

// lookUp asks the Finder and caches its answer.
func (o *Organizations) lookUp(ctx context.Context, idOrSlug string) (Organization, error) {
	asked := o.now()
	organization, err := o.finder.FindOrganization(ctx, idOrSlug)
	if err != nil {
		return Organization{}, err
	}
	o.cache.Add(idOrSlug, found{organization, asked})
	return organization, nil
}
