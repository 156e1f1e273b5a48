package cli_test

import (
	"os"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/pure/gate"
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
	for _, flag := range []string{"--role admin", "--by ann", "--minutes 5"} { // before anything is looked up
		h.mustFail(t, 2, []string{"found none"}, append([]string{"rules", "create", "--name", "x"}, strings.Fields(flag)...)...)
	}
	h.mustFail(t, 5, []string{"/input/demand/hours/spans/0/to"}, "rules", "create", "--name", "x", "--hours", "UTC mon 09:00-25:00")
	h.mustFail(t, 2, []string{"want what is to change, --name, --operations, --overridable, --approvals"}, "rules", "update", "x")
	h.mustFail(t, 5, []string{`there is no rule "x" that you may see`, "slipway:Rule:NOT_FOUND"}, "rules", "end", "x", "--yes")
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
		if got := h.must(t, "rules", "create", "--name", given, "--hours", given, "--fields", "demands", "-o", "tsv"); got != shown+"\n" {
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
	h.mustFail(t, 5, []string{"several rules are called \"Eyes\": name one by its id, " + second}, "rules", "end", "Eyes", "--yes")
	for range 2 { // the same again
		if got := h.must(t, "rules", "end", second, "--yes", "--fields", "endedAt", "-o", "tsv"); !strings.HasPrefix(got, "2026-03-01T") {
			t.Errorf("it ended at %s", got)
		}
	}
	if in, all := h.must(t, "rules", "list", "-o", "name"), h.must(t, "rules", "list", "--ended", "-o", "name"); strings.Contains(in, second) || !strings.Contains(all, second) {
		t.Errorf("in force are %s of %s", in, all)
	}
	h.must(t, "rules", "end", "Eyes", "--yes")
	h.must(t, "rules", "list")
}

// Each flag of an update, given alone, changes what it names and nothing else. A flag that is not tried fails.
func TestAnUpdateOfARuleKeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	for _, slug := range []string{"staging", "other"} {
		h.must(t, "environments", "create", "shop/"+slug, "--name", slug)
	}
	kinds := map[string]struct {
		create  string
		changes []string // of the demand, a flag each
	}{
		"approvals": {"--approvals 1 --role admin --by ann,bob,cyd", []string{"--approvals 2", "--role developer", "--by ann,bob", "--by anybody"}},
		"hours":     {"--hours=UTC_mon_09:00-17:00", []string{"--hours=UTC_tue_09:00-17:00"}},
		"freeze":    {"--freeze 2027-01-01T00:00:00Z/2027-01-02T00:00:00Z", []string{"--freeze 2027-01-01T00:00:00Z/"}},
		"live-in":   {"--live-in shop/staging --minutes 60", []string{"--live-in shop/other", "--minutes 5"}},
	}
	args := func(text string) []string {
		list := strings.Fields(text)
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], "_", " ")
		}
		return list
	}
	parts := map[string][]string{ // of the words of a demand, what each flag may change
		"--approvals": {"1 approval", "2 approvals"}, "--role": {"by admin", "by developer"}, "--by": {" of ann,bob,cyd", " of ann,bob", ""},
		"--hours": {"UTC mon 09:00-17:00", "UTC tue 09:00-17:00"}, "--freeze": {"/2027-01-02T00:00:00Z", "/"},
		"--live-in": {"shop/staging", "shop/other"}, "--minutes": {"60 minutes", "5 minutes"},
	}
	tried := map[string]bool{}
	fields := []string{"--fields", "name,environment.slug,operations,overridable,demands", "-o", "tsv"}
	for kind, c := range kinds {
		for _, change := range append(c.changes, "--name changed", "--operations create", "--overridable=true") {
			flag, _, _ := strings.Cut(strings.ReplaceAll(change, "=", " "), " ")
			tried[flag] = true
			create := append([]string{"rules", "create", "--name", "kept", "--environment", "shop/production", "--operations", "create,promote",
				"--overridable=false", "-o", "name"}, args(c.create)...)
			id := strings.TrimSpace(h.must(t, create...))
			before := strings.Split(h.must(t, append([]string{"rules", "list", "--limit", "1"}, fields...)...), "\t")
			after := strings.Split(h.must(t, append(append([]string{"rules", "update", id}, args(change)...), fields...)...), "\t")
			for i, name := range []string{"--name", "", "--operations", "--overridable", "demands"} {
				switch changed := before[i] != after[i]; {
				case name == "demands" && parts[flag] != nil:
					if rest(before[i], parts[flag]) != rest(after[i], parts[flag]) || !changed {
						t.Errorf("%s with %s: %q became %q", kind, change, before[i], after[i])
					}
				case changed != (name == flag):
					t.Errorf("%s with %s: %q became %q", kind, change, before[i], after[i])
				}
			}
			h.must(t, "rules", "end", id, "--yes")
		}
	}
	for line := range strings.Lines(h.must(t, "rules", "update", "--help")) {
		if flag := strings.Fields(line + " x")[0]; strings.HasPrefix(flag, "--") && !tried[flag] && !strings.Contains(common, flag) {
			t.Errorf("%s is not tried", flag)
		}
	}
}

// common are the flags that every command has which changes something.
const common = "--context --server --token-file --organization --insecure-http --output --fields --color --yes --help --timeout"

// rest returns a text without the parts.
func rest(text string, parts []string) string {
	for _, part := range parts {
		if part != "" {
			text = strings.Replace(text, part, "", 1)
		}
	}
	return text
}

// A demand of a kind that the commands do not know is shown by its name alone.
func TestEveryKindOfDemandIsGivenAndShownByACommand(t *testing.T) {
	t.Parallel()
	shown, err := os.ReadFile("testdata/rules.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range gate.Names() {
		if kind := strings.ToUpper(name[:1]) + name[1:] + "Demand"; !strings.Contains(string(shown), `"__typename": "`+kind+`",`+"\n") {
			t.Errorf("no command of testdata/rules.golden gives a demand of the kind %s, or shows what it demands", name)
		}
	}
}
