package attacktest_test

import (
	"os"
	"path/filepath"
	"testing"

	"slipway/internal/test/pgtest"
)

// atOnce is how many callers at once try an attack that is one request.
const atOnce = 10

// sample is which of the attacks are tried on PostgreSQL and ten at once where not all are: one in so many.
const sample = 8

// whole reports whether everything is tried.
func whole() bool { return os.Getenv("SLIPWAY_ATTACK") == "table" }

// plan is which attacks a server of some flags is put under.
type plan struct {
	name  string
	flags []string
	// attacks are tried alone.
	attacks []attack
	// heavy are tried alone and ten at once, on PostgreSQL too.
	heavy []attack
	// stocked is whether there are large records, columned whether every column of JSON is full of tiny values, ruled
	// whether there are as many rules and records as may be, and fresh how many tokens the server has not seen.
	stocked  bool
	columned bool
	ruled    bool
	fresh    int
	// followed servers have one who follows a deployment as long as they run, so that what reads changes for all
	// who do is there before an attack as after it.
	followed bool
}

// brisk servers do not keep tests waiting. Callers may spend without an end, so that one attack does not
// leave the next without.
var brisk = []string{"--write-timeout", "500ms", "--init-timeout", "500ms", "--cost-capacity", "0", "--cost-per-second", "0"}

func flags(more ...string) []string { return append(append([]string{}, brisk...), more...) }

// patient is how long a server waits for callers who take large answers while others keep the processors
// busy.
const patient = "5s"

func plans() []plan {
	all := []plan{
		{
			name: "quick", flags: brisk, followed: true,
			attacks: concat(documents(), introspections(), pages(), merges(), bodies(), requests(), inputs(), sockets(), streams()),
		},
		{name: "slow", flags: brisk, attacks: slow()},
		{name: "heavy", flags: flags("--write-timeout", patient), stocked: true, heavy: concat(answers(), records(), work(), mutations(), refusals(), scalars(), hosts())},
		{name: "columns", flags: flags("--write-timeout", patient), columned: true, heavy: concat(columns(), compressed())},
		{name: "ruled", flags: flags("--write-timeout", patient), ruled: true, heavy: concat(ruling(), searches())},
		// What is tried here is within no limit but time.
		{name: "late", flags: flags("--max-cost", "1000000000", "--request-timeout", "500ms", "--write-timeout", patient), stocked: true, heavy: late()},
		{name: "left", flags: flags("--max-cost", "1000000000"), stocked: true, heavy: left()},
		{name: "strangers", flags: flags("--trusted-proxies", proxy+"/32"), attacks: strangers(), fresh: 60},
		{name: "crowds", flags: flags("--max-streams", "300", "--init-timeout", "20s"), attacks: crowds(), stocked: true},
		{name: "followers", flags: []string{"--cost-capacity", "5300", "--cost-per-second", "1"}, attacks: followers(), fresh: rounds},
		{name: "spent", flags: []string{"--cost-capacity", "60000", "--cost-per-second", "1"}, attacks: spenders()},
	}
	if whole() {
		all = append(all, plan{name: "generated", flags: flags("--write-timeout", patient), stocked: true, columned: true, ruled: true, heavy: everyField()})
	}
	return all
}

func TestAttacksAreAnsweredCheaplyOnSQLite(t *testing.T) {
	t.Parallel()
	for _, p := range plans() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			database := "sqlite:" + filepath.Join(t.TempDir(), "slipway.db")
			p.carryOut(t, newMeter(p.serve(t, database), "SQLite"), append(p.attacks, p.heavy...))
		})
	}
}

func TestAttacksAreAnsweredCheaplyOnPostgreSQL(t *testing.T) {
	t.Parallel()
	for _, p := range plans() {
		if len(p.heavy) == 0 && !whole() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			alone := sampled(p.heavy)
			if whole() {
				alone = append(p.attacks, p.heavy...)
			}
			p.carryOut(t, newMeter(p.serve(t, pgtest.URL(t)), "PostgreSQL"), alone)
		})
	}
}

// sampled are the same few each time.
func sampled(attacks []attack) (some []attack) {
	for i, a := range attacks {
		if whole() || i%sample == 0 {
			some = append(some, a)
		}
	}
	return some
}

// serve starts the server, with what its attacks need.
func (p plan) serve(t *testing.T, database string) *server {
	t.Helper()
	s := serve(t, built.Path(t), database, p.flags...)
	s.fill(t, p.stocked)
	if p.columned {
		s.fillColumns(t)
	}
	if p.ruled {
		s.fillRules(t)
	}
	s.mint(t, p.fresh)
	if p.followed {
		s.follow(t)
	}
	return s
}

// carryOut tries attacks one after another, and then the heavy ones ten at once: those hide for a while
// how much memory a later one needs. One that has failed alone is not tried ten times at once.
func (p plan) carryOut(t *testing.T, m *meter, alone []attack) {
	t.Helper()
	if m.proc == "" {
		t.Log("this system does not tell what a process uses: only the answers are checked")
	}
	before := m.heap(t)
	failed := map[string]bool{}
	for _, a := range alone {
		failed[a.name] = !m.attempt(t, a, 1)
	}
	for _, a := range sampled(p.heavy) {
		if a.requests <= 1 && !failed[a.name] {
			m.attempt(t, a, atOnce)
		}
	}
	if after := m.heap(t); after > before+mostKept {
		t.Errorf("%d MiB stay in use after all of them, where there were %d", after>>20, before>>20)
	}
}

// attempt tries an attack as a test of its own, in its turn.
func (m *meter) attempt(t *testing.T, a attack, callers int) bool {
	name := a.name
	if callers > 1 {
		name += ", ten at once"
	}
	return t.Run(name, func(t *testing.T) { m.try(t, a, callers) })
}
