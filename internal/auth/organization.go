package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/httpx"
)

// ErrUnknownOrganization is a Finder's answer for an organization that there is not.
var ErrUnknownOrganization = errors.New("auth: unknown organization")

// Finder looks organizations up.
type Finder interface {
	// FindOrganization gives the organization of an id or a slug. The error is, or wraps, ErrUnknownOrganization
	// where there is none; any other error says that the question could not be answered. The context ends
	// after five seconds at the latest.
	FindOrganization(ctx context.Context, idOrSlug string) (Organization, error)
}

// Organization is the id and the slug of an organization.
type Organization struct{ ID, Slug string }

// Organizations finds the organization that a request names. It remembers what its Finder said of those that
// there are, for at most five seconds, and asks once for requests that come at the same time.
//
// A member's request never has a name looked up that is not the member's: so nothing, not even the time that it
// takes, tells another's organization from one that is not there.
type Organizations struct {
	finder  Finder
	now     func() time.Time
	lookups singleflight.Group
	mu      sync.Mutex
	known   *recent[string, found]
}

// found is what the Finder said, and when it was asked.
type found struct {
	Organization
	asked time.Time
}

// NewOrganizations makes Organizations on a Finder; now is the clock.
func NewOrganizations(finder Finder, now func() time.Time) *Organizations {
	return &Organizations{finder: finder, now: now, known: newRecent[string, found](maxTokens)}
}

// Enter returns the actor acting where the Slipway-Organization header says: in the organization of that id or
// slug, or for a superadmin on what is global. Without the header it is the actor as it was. The error is fault's
// RequestInvalid for a header that is repeated or can name nothing, OrganizationNotFound for an organization that
// is not there or not the actor's, and RequestUnauthenticated where somebody without a token names one; any other
// error says that the organization could not be looked up.
func (o *Organizations) Enter(ctx context.Context, a *actor.Actor, header http.Header) (*actor.Actor, error) {
	values := header.Values(httpx.OrganizationHeader)
	if len(values) == 0 {
		return a, nil
	}
	if a.IsAnonymous() {
		return nil, fault.New(fault.RequestUnauthenticated, "A bearer token is needed to act in an organization; none was sent.")
	}
	named, err := name(values)
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
	there, err := o.find(ctx, named)
	if errors.Is(err, ErrUnknownOrganization) {
		return nil, notThere(named)
	}
	if err != nil {
		return nil, err
	}
	return a.In(there.ID), nil
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
		return nil, notThere(named)
	}
	return a, nil
}

// wellFormed is the form that ids and slugs have in common.
var wellFormed = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$`)

// name is the one value of the header.
func name(values []string) (string, error) {
	if len(values) > 1 {
		return "", fault.New(fault.RequestInvalid, "%s may be given once; found %d of it.", httpx.OrganizationHeader, len(values))
	}
	if !wellFormed.MatchString(values[0]) {
		return "", fault.New(fault.RequestInvalid,
			"%s must be the id or the slug of one organization, 1 to 60 letters, digits, underscores and hyphens; found %.70q.",
			httpx.OrganizationHeader, values[0])
	}
	return values[0], nil
}

func notThere(named string) error {
	return fault.New(fault.OrganizationNotFound, "There is no organization %q that you may act in.", named)
}

// find gives an organization as it was five seconds ago at the earliest.
func (o *Organizations) find(ctx context.Context, idOrSlug string) (Organization, error) {
	if there, ok := o.recall(idOrSlug); ok {
		return there, nil
	}
	answered := o.lookups.DoChan(idOrSlug, func() (any, error) {
		return o.lookUp(context.WithoutCancel(ctx), idOrSlug)
	})
	select {
	case <-ctx.Done():
		return Organization{}, fmt.Errorf("auth: find organization: %w", context.Cause(ctx))
	case outcome := <-answered:
		there, _ := outcome.Val.(Organization)
		return there, outcome.Err
	}
}

func (o *Organizations) recall(idOrSlug string) (Organization, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	there, ok := o.known.get(idOrSlug)
	return there.Organization, ok && o.now().Sub(there.asked) < goodFor
}

// lookUp asks the Finder and remembers what it says. It runs on a goroutine of its own, where a panic would
// end the process instead of one request: it becomes an error.
func (o *Organizations) lookUp(ctx context.Context, idOrSlug string) (there Organization, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, goodFor)
	defer cancel()
	asked := o.now()
	if there, err = o.finder.FindOrganization(ctx, idOrSlug); err != nil {
		return Organization{}, fmt.Errorf("auth: find organization: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known.put(idOrSlug, found{there, asked})
	return there, nil
}
