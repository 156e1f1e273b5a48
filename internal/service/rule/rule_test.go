package rule_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	entrule "slipway/ent/rule"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/gate"
	"slipway/internal/service/account"
	"slipway/internal/service/rule"
	"slipway/internal/test/worldtest"
)

var (
	frozenFrom = time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC)
	frozen     = gate.Demand{Kind: &gate.Freeze{From: frozenFrom}}
)

// violated returns where a request is wrong, and what rules that breaks, or else the code of the refusal.
func violated(t *testing.T, err error) string {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatal(err)
	}
	var list []string
	for _, v := range f.Violations {
		list = append(list, v.Pointer+" "+v.Rule)
	}
	if list == nil {
		return string(f.Code)
	}
	return strings.Join(list, ", ")
}

func TestAnOrganizationHasAtMostTwoHundredRulesInForce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		create := func(i int) error {
			_, _, err := w.Rules.Create(admin, rule.New{Name: fmt.Sprint("rule ", i), Demand: frozen})
			return err
		}
		for i := range rule.Limit - 1 {
			if err := create(i); err != nil {
				t.Fatal(err)
			}
		}
		// Of two that make the last one at once, one does.
		var all sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			all.Go(func() { errs[i] = create(rule.Limit + i) })
		}
		all.Wait()
		if refused := errors.Join(errs...); (errs[0] == nil) == (errs[1] == nil) || !fault.Is(errs[0], fault.RuleLimit) && !fault.Is(errs[1], fault.RuleLimit) {
			t.Errorf("of the last two: %v", refused)
		}
		in := w.Store.Client.Rule.Query().Where(entrule.EndedAtIsNil())
		if n := in.Clone().CountX(admin); n != rule.Limit {
			t.Errorf("%d rules are in force", n)
		}
		if err := create(0); !fault.Is(err, fault.RuleLimit) {
			t.Errorf("one more: %v", err)
		}
		// Others have theirs, and one that ends makes room.
		if _, _, err := w.Rules.Create(w.Globex.As(actor.Admin), rule.New{Name: "theirs", Demand: frozen}); err != nil {
			t.Error(err)
		}
		if _, err := w.Rules.End(admin, in.Clone().FirstIDX(admin), nil); err != nil {
			t.Fatal(err)
		}
		if err := create(2 * rule.Limit); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}

func TestWhoMakesARuleIsToldWhereTooFewCouldApprove(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		admin := w.Acme.As(actor.Admin)
		token := func(in account.NewToken) { w.Token(t, w.Acme, in) }
		// Acme has a developer and an admin, each a person of its own. Two tokens of one holder are one; and what has another
		// scope, or has run out, counts for nothing.
		for _, name := range []string{"laptop", "phone"} {
			token(account.NewToken{Name: name, Role: actor.Developer, Holder: new("alice")})
		}
		token(account.NewToken{Name: "elsewhere", Role: actor.Developer, Holder: new("bob"), Scope: &actor.Scope{Projects: []string{other.Project.ID}}})
		could := func(demand gate.Approvals) bool {
			t.Helper()
			made, warnings, err := w.Rules.Create(admin, rule.New{Name: "R", EnvironmentID: &p.Environment.ID, Demand: gate.Demand{Kind: &demand}})
			if err == nil {
				_, err = w.Rules.End(admin, made.ID, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(warnings) > 0 && (warnings[0].Rule != "unsatisfiable" || warnings[0].Pointer != "/demand/approvals") {
				t.Errorf("%+v", warnings)
			}
			return len(warnings) == 0 || !strings.Contains(warnings[0].Message, "nobody can")
		}
		for _, c := range []struct {
			demand gate.Approvals
			could  bool
		}{
			{gate.Approvals{Count: 3, Role: actor.Developer}, true},
			{gate.Approvals{Count: 4, Role: actor.Developer}, false},
			{gate.Approvals{Count: 1, Role: actor.Admin}, true},
			{gate.Approvals{Count: 2, Role: actor.Admin}, false},
			{gate.Approvals{Count: 1, Role: actor.Developer, Holders: []string{"alice"}}, true},
			{gate.Approvals{Count: 1, Role: actor.Developer, Holders: []string{"bob"}}, false},
			{gate.Approvals{Count: 1, Role: actor.Admin, Holders: []string{"alice"}}, false},
		} {
			if got := could(c.demand); got != c.could {
				t.Errorf("%+v: could be met %t", c.demand, got)
			}
		}
	})
}

func TestRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		theirs := w.Fixture(t, w.Globex, "theirs")
		before := w.Rows(t)
		live := func(ids ...string) gate.Demand { return gate.Demand{Kind: &gate.LiveIn{EnvironmentIDs: ids}} }
		for want, in := range map[string]rule.New{
			"/name min_length":                          {Name: "", Demand: frozen},
			"/environmentId other_project":              {Name: "R", Demand: frozen, ProjectID: &other.Project.ID, EnvironmentID: &p.Environment.ID},
			"slipway:Project:NOT_FOUND":                 {Name: "R", Demand: frozen, ProjectID: &theirs.Project.ID},
			"slipway:Environment:NOT_FOUND":             {Name: "R", Demand: frozen, EnvironmentID: &theirs.Environment.ID},
			"/demand/liveIn/environmentIds/1 not_found": {Name: "R", Demand: live(p.Environment.ID, theirs.Environment.ID)},
		} {
			_, _, err := w.Rules.Create(w.Acme.As(actor.Admin), in)
			if got := violated(t, err); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		if after := w.Rows(t); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("a refusal has written: %v, was %v", after, before)
		}
	})
}

func TestARuleThatHasEndedStays(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		made, _, err := w.Rules.Create(admin, rule.New{Name: "R", Demand: frozen})
		if err != nil {
			t.Fatal(err)
		}
		changed, _, err := w.Rules.Update(admin, made.ID, rule.Patch{Operations: []gate.Operation{gate.Rollback}})
		if err != nil || changed.Version != 2 || len(changed.Operations) != 1 || changed.Demand.Kind == nil || changed.Name != "R" {
			t.Fatalf("%+v, %v", changed, err)
		}
		ended, err := w.Rules.End(admin, made.ID, nil)
		if err != nil || ended.EndedAt == nil {
			t.Fatalf("%+v, %v", ended, err)
		}
		again, err := w.Rules.End(admin, made.ID, nil)
		if err != nil || !again.EndedAt.Equal(*ended.EndedAt) || again.Version != ended.Version {
			t.Errorf("%+v, %v", again, err)
		}
		if _, _, err := w.Rules.Update(admin, made.ID, rule.Patch{Name: new("S")}); violated(t, err) != "/id ended" {
			t.Errorf("%v", err)
		}
	})
}

// What a statement reads of the rules is what there is of them: each field of a rule that is judged by.
func TestRulesAreReadAsTheyWereMade(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		admin := w.Acme.As(actor.Admin)
		var want []gate.Rule
		for i, demand := range []gate.Demand{
			{Kind: &gate.Approvals{Count: 2, Role: actor.Admin, Holders: []string{"alice", "bob"}}},
			{Kind: &gate.Hours{TimeZone: "Europe/Berlin", Spans: []gate.Span{{Days: gate.Weekdays, From: "09:00", To: "17:00"}}}},
			{Kind: &gate.Freeze{From: frozenFrom, Until: new(frozenFrom.Add(time.Hour))}},
			{Kind: &gate.LiveIn{EnvironmentIDs: []string{other.Environment.ID}, Minutes: 30}},
		} {
			made, _, err := w.Rules.Create(admin, rule.New{Name: fmt.Sprintf(`say "R%d"`, i), EnvironmentID: &p.Environment.ID, Demand: demand, Overridable: i%2 == 0})
			if err == nil {
				made, _, err = w.Rules.Update(admin, made.ID, rule.Patch{Operations: []gate.Operation{gate.Promote}}) // so that its version is another
			}
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, rule.Judged(made))
		}
		var text *string
		query := `SELECT ` + rule.InForce("$1", "$2", "$3", w.Store.Postgres())
		if err := w.Raw(t, w.Acme).QueryRowContext(t.Context(), query, w.Acme.ID, p.Project.ID, p.Environment.ID).Scan(&text); err != nil {
			t.Fatal(err)
		}
		got, err := rule.Decode(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestARuleHasItsNameForItselfInItsPlaceAsLongAsItIsInForce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		admin := w.Acme.As(actor.Admin)
		places := []rule.New{
			{}, {ProjectID: &p.Project.ID}, {EnvironmentID: &p.Environment.ID}, {ProjectID: &other.Project.ID},
			{EnvironmentID: &other.Environment.ID},
		}
		for i, in := range places {
			in.Name, in.Demand = "R", frozen
			made, _, err := w.Rules.Create(admin, in)
			if err != nil {
				t.Fatalf("place %d: %v", i, err)
			}

			_, _, err = w.Rules.Create(admin, in)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.RuleNameTaken || f.Metadata["ruleId"] != made.ID {
				t.Errorf("place %d: another of the name: %v", i, err)
			}

			in.Name = "r"
			second, _, err := w.Rules.Create(admin, in)
			if err != nil {
				t.Fatalf("place %d: another name: %v", i, err)
			}
			if _, _, err := w.Rules.Update(admin, second.ID, rule.Patch{Name: new("R")}); !fault.Is(err, fault.RuleNameTaken) {
				t.Errorf("place %d: renamed: %v", i, err)
			}
			if _, _, err := w.Rules.Update(admin, made.ID, rule.Patch{Name: new("R"), Overridable: new(true)}); err != nil {
				t.Errorf("place %d: with its own name: %v", i, err)
			}

			if _, err := w.Rules.End(admin, made.ID, nil); err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.Rules.Update(admin, second.ID, rule.Patch{Name: new("R")}); err != nil {
				t.Errorf("place %d: after the first has ended: %v", i, err)
			}
		}
		if _, _, err := w.Rules.Create(w.Globex.As(actor.Admin), rule.New{Name: "R", Demand: frozen}); err != nil {
			t.Errorf("another organization: %v", err)
		}
	})
}

func TestOfTwoRulesOfANameAtOnceOneIsMade(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		third, _, err := w.Rules.Create(admin, rule.New{Name: "third", Demand: frozen})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			all.Go(func() {
				if i == 3 {
					_, _, errs[i] = w.Rules.Update(admin, third.ID, rule.Patch{Name: new("R")})
				} else {
					_, _, errs[i] = w.Rules.Create(admin, rule.New{Name: "R", Demand: frozen})
				}
			})
		}
		all.Wait()
		taken := 0
		for _, err := range errs {
			if fault.Is(err, fault.RuleNameTaken) {
				taken++
			} else if err != nil {
				t.Error(err)
			}
		}
		if n := w.Store.Client.Rule.Query().Where(entrule.Name("R")).CountX(admin); n != 1 || taken != 3 {
			t.Errorf("%d of the name, %d refused", n, taken)
		}
	})
}

func TestAChangeOfARuleMayNameTheVersionThatItIsOf(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		r, _, err := w.Rules.Create(admin, rule.New{Name: "R", Demand: frozen})
		if err != nil {
			t.Fatal(err)
		}
		change := rule.Patch{Name: new("S"), ExpectedVersion: &r.Version}
		changed, _, err := w.Rules.Update(admin, r.ID, change)
		if err != nil || changed.Version != r.Version+1 {
			t.Fatalf("%v, %v", changed, err)
		}

		// The same again is what there is.
		if again, _, err := w.Rules.Update(admin, r.ID, change); err != nil || again.Version != changed.Version {
			t.Errorf("the same again: %v, %v", again, err)
		}
		change.Name = new("T")
		if _, _, err := w.Rules.Update(admin, r.ID, change); !fault.Is(err, fault.RequestPreconditionFailed) {
			t.Errorf("of an earlier version: %v", err)
		}
		if _, err := w.Rules.End(admin, r.ID, &r.Version); !fault.Is(err, fault.RequestPreconditionFailed) {
			t.Errorf("ended at an earlier version: %v", err)
		}

		for range 2 { // the second answer, where the first was lost
			if ended, err := w.Rules.End(admin, r.ID, &changed.Version); err != nil || ended.EndedAt == nil {
				t.Errorf("ended: %v, %v", ended, err)
			}
		}
	})
}
