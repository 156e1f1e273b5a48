package cli_test

import (
	"strings"
	"testing"

	"slipway/internal/actor"
)

func TestFlagsOfARuleThatAreWrong(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	before := s.Rows(t)["rules"]
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--name: want what the rule is called, found nothing", []string{"--approvals", "1"}},
		{"want one of --approvals, --hours, --freeze or --live-in, found none", []string{"--name", "x"}},
		{"want one of --approvals, --hours, --freeze or --live-in, found --approvals and --freeze", []string{"--name", "x", "--approvals", "1", "--freeze", "2026-12-20T00:00:00Z/"}},
		{"--role: want it with --approvals, found none", []string{"--name", "x", "--freeze", "2026-12-20T00:00:00Z/", "--role", "admin"}},
		{"--by: want it with --approvals, found none", []string{"--name", "x", "--live-in", "shop/production", "--by", "ann"}},
		{"--minutes: want it with --live-in, found none", []string{"--name", "x", "--approvals", "1", "--minutes", "5"}},
		{"--approvals: want a number from 1 to 5", []string{"--name", "x", "--approvals", "0"}},
		{"--role: want one of developer, admin, found \"viewer\"", []string{"--name", "x", "--approvals", "1", "--role", "viewer"}},
		{`--hours: want a time zone, days and hours such as "Europe/Berlin mon-fri 09:00-17:00", found "UTC mon-xyz 09:00-17:00"`, []string{"--name", "x", "--hours", "UTC mon-xyz 09:00-17:00"}},
		{"--hours: want a time zone", []string{"--name", "x", "--hours", "UTC mon 09:00"}},
		{"--hours: want a time zone", []string{"--name", "x", "--hours", "mon 09:00-17:00"}},
		{"--hours: want one time zone, found UTC and Europe/Berlin", []string{"--name", "x", "--hours", "UTC mon 09:00-17:00", "--hours", "Europe/Berlin tue 09:00-17:00"}},
		{"--freeze: want two times with a / between", []string{"--name", "x", "--freeze", "2026-12-20T00:00:00Z"}},
		{"--freeze: want two times with a / between", []string{"--name", "x", "--freeze", "2026-12-20T00:00:00Z/soon"}},
		{"--operations: want some of create, promote, redeploy, rollback, destroy, between commas, found \"apply\"", []string{"--name", "x", "--approvals", "1", "--operations", "apply"}},
		{"environment: want PROJECT/ENVIRONMENT, or env_…, found \"shop\"", []string{"--name", "x", "--approvals", "1", "--environment", "shop"}},
	} {
		h.mustFail(t, 2, []string{c.says}, append([]string{"rules", "create"}, c.args...)...)
	}
	h.mustFail(t, 5, []string{"/input/demand/hours/spans/0/to"}, "rules", "create", "--name", "x", "--hours", "UTC mon 09:00-25:00")
	h.mustFail(t, 2, []string{"want what is to change, --name, --operations, --overridable, --approvals"}, "rules", "update", "x")
	h.mustFail(t, 5, []string{`there is no rule "x" that you may see`, "slipway:Rule:NOT_FOUND"}, "rules", "end", "x")
	if after := s.Rows(t)["rules"]; after != before {
		t.Errorf("%d rules, before %d", after, before)
	}
}

// The hours that are shown are those that the flags take.
func TestHoursAreShownAsTheyAreGiven(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	for given, shown := range map[string]string{
		"Europe/Berlin mon-fri 09:00-17:00": "", "UTC mon,wed,sat-sun 00:00-24:00": "", "UTC MON-TUE 22:00-06:00": "UTC mon-tue 22:00-06:00",
		"UTC fri-mon 09:00-17:00": "UTC fri-sun,mon 09:00-17:00",
	} {
		if shown == "" {
			shown = given
		}
		if got := h.must(t, "rules", "create", "--name", "x", "--hours", given, "--fields", "demands", "-o", "tsv"); got != shown+"\n" {
			t.Errorf("%s is shown as %s", given, got)
		}
	}
	got := h.must(t, "rules", "create", "--name", "two", "--hours", "UTC mon-thu 09:00-17:00", "--hours", "UTC fri 09:00-12:00", "--fields", "demands", "-o", "tsv")
	if got != "UTC mon-thu 09:00-17:00, fri 09:00-12:00\n" {
		t.Errorf("two spans are shown as %s", got)
	}
}

// What no flag names stays, and a name that several rules have is none.
func TestRuleIsChangedAndEnded(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	fields := []string{"--fields", "name,environment.slug,operations,demands,overridable", "-o", "tsv"}
	h.must(t, "rules", "create", "--name", "Eyes", "--environment", "shop/production", "--approvals", "1", "--operations", "create,destroy", "--overridable=false")
	for _, c := range []struct{ change, want string }{
		{"--name Four", "Four\tproduction\tCREATE,DESTROY\t1 approval by developer\tfalse\n"},
		{"--overridable", "Four\tproduction\tCREATE,DESTROY\t1 approval by developer\ttrue\n"},
		{"--operations rollback", "Four\tproduction\tROLLBACK\t1 approval by developer\ttrue\n"},
		{"--freeze 2027-01-01T00:00:00Z/2027-01-02T00:00:00Z", "Four\tproduction\tROLLBACK\tfreeze 2027-01-01T00:00:00Z/2027-01-02T00:00:00Z\ttrue\n"},
		{"--name Eyes", "Eyes\tproduction\tROLLBACK\tfreeze 2027-01-01T00:00:00Z/2027-01-02T00:00:00Z\ttrue\n"},
	} {
		name := "Four"
		if c.change == "--name Four" {
			name = "Eyes"
		}
		if got := h.must(t, append(append([]string{"rules", "update", name}, strings.Fields(c.change)...), fields...)...); got != c.want {
			t.Errorf("with %s it is %q, want %q", c.change, got, c.want)
		}
	}
	second := strings.TrimSpace(h.must(t, "rules", "create", "--name", "Eyes", "--approvals", "1", "-o", "name"))
	h.mustFail(t, 5, []string{"several rules are called \"Eyes\": name one by its id, " + second}, "rules", "end", "Eyes")
	for range 2 { // the same again
		if got := h.must(t, "rules", "end", second, "--fields", "endedAt", "-o", "tsv"); !strings.HasPrefix(got, "2026-03-01T") {
			t.Errorf("it ended at %s", got)
		}
	}
	if in, all := h.must(t, "rules", "list", "-o", "name"), h.must(t, "rules", "list", "--ended", "-o", "name"); strings.Contains(in, second) || !strings.Contains(all, second) {
		t.Errorf("in force are %s of %s", in, all)
	}
	h.must(t, "rules", "end", "Eyes")
	h.must(t, "rules", "list")
}
