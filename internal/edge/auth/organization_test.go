package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/auth"
	"slipway/internal/test/testkit"
)

// register is a Finder that the test holds in its hands, and a clock.
type register struct {
	*testkit.Clock
	mu     sync.Mutex
	there  []auth.Organization
	asked  []string
	broken error
}

func organizations() (*auth.Organizations, *register) {
	r := &register{Clock: testkit.NewClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), there: []auth.Organization{{ID: "org_1", Slug: "acme"}, {ID: "org_2", Slug: "globex"}}}
	return auth.NewOrganizations(r, r.Now), r
}

// FindOrganization implements auth.Finder.
func (r *register) FindOrganization(ctx context.Context, idOrSlug string) (auth.Organization, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, idOrSlug)
	if _, bounded := ctx.Deadline(); !bounded || ctx.Err() != nil {
		return auth.Organization{}, fmt.Errorf("the question is not the asker's own: %w", ctx.Err())
	}
	for _, o := range r.there {
		if idOrSlug == o.ID || idOrSlug == o.Slug {
			return o, r.broken
		}
	}
	return auth.Organization{}, errors.Join(r.broken, auth.ErrUnknownOrganization)
}

func named(values ...string) http.Header { return http.Header{"Slipway-Organization": values} }

var (
	member     = &actor.Actor{ID: "tok_1", Role: actor.Runner, OrganizationID: "org_1"}
	superadmin = &actor.Actor{ID: "tok_2", Role: actor.Superadmin}
)

func TestTheHeaderDecidesWhereTheActorActs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		who    *actor.Actor
		values []string
		// want is the organization, "global" for what is everybody's.
		want    string
		code    fault.Code
		message string
	}{
		"a member, none":                 {who: member, want: "org_1"},
		"a member, its id":               {who: member, values: []string{"org_1"}, want: "org_1"},
		"a member, its slug":             {who: member, values: []string{"acme"}, want: "org_1"},
		"a member, another id":           {who: member, values: []string{"org_2"}, code: fault.OrganizationNotFound, message: `There is no organization "org_2" that you may act in.`},
		"a member, another slug":         {who: member, values: []string{"globex"}, code: fault.OrganizationNotFound, message: `There is no organization "globex" that you may act in.`},
		"a member, an absent slug":       {who: member, values: []string{"initech"}, code: fault.OrganizationNotFound, message: `There is no organization "initech" that you may act in.`},
		"a member, its slug in capitals": {who: member, values: []string{"ACME"}, code: fault.OrganizationNotFound, message: `There is no organization "ACME" that you may act in.`},
		"a member, global":               {who: member, values: []string{"global"}, code: fault.OrganizationNotFound, message: `There is no organization "global" that you may act in.`},
		"a superadmin, none":             {who: superadmin, want: ""},
		"a superadmin, an id":            {who: superadmin, values: []string{"org_2"}, want: "org_2"},
		"a superadmin, a slug":           {who: superadmin, values: []string{"globex"}, want: "org_2"},
		"a superadmin, global":           {who: superadmin, values: []string{"global"}, want: "global"},
		"a superadmin, Global":           {who: superadmin, values: []string{"Global"}, code: fault.OrganizationNotFound, message: `There is no organization "Global" that you may act in.`},
		"a superadmin, absent":           {who: superadmin, values: []string{"org_3"}, code: fault.OrganizationNotFound, message: `There is no organization "org_3" that you may act in.`},
		"twice":                          {who: superadmin, values: []string{"acme", "acme"}, code: fault.RequestInvalid, message: "Slipway-Organization may be given once; found 2 of it."},
		"twice, by a member":             {who: member, values: []string{"acme", "acme"}, code: fault.RequestInvalid, message: "Slipway-Organization may be given once; found 2 of it."},
		"empty":                          {who: superadmin, values: []string{""}, code: fault.RequestInvalid, message: "Slipway-Organization must be"},
		"two in one":                     {who: superadmin, values: []string{"acme, globex"}, code: fault.RequestInvalid, message: "Slipway-Organization must be"},
		"quoted":                         {who: superadmin, values: []string{`"acme"`}, code: fault.RequestInvalid, message: "Slipway-Organization must be"},
		"too long":                       {who: superadmin, values: []string{strings.Repeat("a", 61)}, code: fault.RequestInvalid, message: "Slipway-Organization must be"},
		"nobody, none":                   {who: actor.Anonymous(), want: ""},
		"nobody":                         {who: actor.Anonymous(), values: []string{"acme"}, code: fault.RequestUnauthenticated, message: "A bearer token is needed"},
		"nobody, malformed":              {who: actor.Anonymous(), values: []string{""}, code: fault.RequestUnauthenticated, message: "A bearer token is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := organizations()
			before := *c.who
			got, err := o.Enter(t.Context(), c.who, named(c.values...))
			if *c.who != before {
				t.Errorf("the actor itself is changed: %+v", c.who)
			}
			if c.code != "" {
				if got != nil || !fault.Is(err, c.code) || !strings.Contains(err.Error(), c.message) {
					t.Errorf("%+v, %v, want %s: %s", got, err, c.code, c.message)
				}
				return
			}
			want := *c.who
			want.OrganizationID, want.Globally = c.want, c.want == actor.Global
			if want.Globally {
				want.OrganizationID = ""
			}
			if err != nil || *got != want {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestAMembersRequestLooksNothingUpButItsOwn(t *testing.T) {
	t.Parallel()
	o, r := organizations()
	for _, name := range []string{"org_1", "org_2", "globex", "initech", "global", "acme"} {
		_, _ = o.Enter(t.Context(), member, named(name))
	}
	if fmt.Sprint(r.asked) != "[org_1]" {
		t.Errorf("asked for %v", r.asked)
	}
}

func TestAnOrganizationIsAskedForOnceInFiveSeconds(t *testing.T) {
	t.Parallel()
	o, r := organizations()
	enter := func(want int) {
		t.Helper()
		if got, err := o.Enter(t.Context(), superadmin, named("acme")); err != nil || got.OrganizationID != "org_1" {
			t.Errorf("%v, %v", got, err)
		}
		if len(r.asked) != want {
			t.Errorf("asked %d times, want %d", len(r.asked), want)
		}
	}
	enter(1)
	r.Advance(5*time.Second - 1)
	enter(1)
	r.Advance(1)
	enter(2)
	r.Advance(5 * time.Second)
	r.broken = errors.New("no database")
	if got, err := o.Enter(t.Context(), superadmin, named("acme")); got != nil || fault.Status(err) != 500 || !errors.Is(err, r.broken) {
		t.Errorf("what cannot be looked up: %v, %v", got, err)
	}
}

func TestAnOrganizationIsThereAsSoonAsItIsMade(t *testing.T) {
	t.Parallel()
	o, r := organizations()
	if _, err := o.Enter(t.Context(), superadmin, named("initech")); !fault.Is(err, fault.OrganizationNotFound) {
		t.Error(err)
	}
	r.there = append(r.there, auth.Organization{ID: "org_3", Slug: "initech"})
	if got, err := o.Enter(t.Context(), superadmin, named("initech")); err != nil || got.OrganizationID != "org_3" {
		t.Errorf("%v, %v", got, err)
	}
}

// patient is a Finder that answers once it is let.
type patient struct{ asked, answer chan struct{} }

func (p *patient) FindOrganization(context.Context, string) (auth.Organization, error) {
	p.asked <- struct{}{}
	<-p.answer
	return auth.Organization{ID: "org_1", Slug: "acme"}, nil
}

func TestWhoLeavesDoesNotTakeTheAnswerFromOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &patient{asked: make(chan struct{}, 9), answer: make(chan struct{})}
		o := auth.NewOrganizations(p, time.Now)
		leaving, leave := context.WithCancel(t.Context())
		outcomes := make([]error, 9)
		var all sync.WaitGroup
		for i := range outcomes {
			ctx := t.Context()
			if i == 0 {
				ctx = leaving
			}
			all.Go(func() { _, outcomes[i] = o.Enter(ctx, superadmin, named("acme")) })
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		close(p.answer)
		all.Wait()
		if err := errors.Join(outcomes[1:]...); !errors.Is(outcomes[0], context.Canceled) || err != nil {
			t.Errorf("who left: %v, the others: %v", outcomes[0], err)
		}
		if len(p.asked) != 1 {
			t.Errorf("asked %d times", len(p.asked))
		}
	})
}

func (panicking) FindOrganization(context.Context, string) (auth.Organization, error) { panic("mine") }

func TestAFinderThatPanicsFailsItsRequestOnly(t *testing.T) {
	t.Parallel()
	o := auth.NewOrganizations(panicking{}, time.Now)
	if _, err := o.Enter(t.Context(), superadmin, named("acme")); err == nil || fault.Status(err) != 500 {
		t.Error(err)
	}
}
