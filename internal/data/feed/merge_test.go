package feed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent/deploymentchange"
	"slipway/internal/data/feed"
	"slipway/internal/data/store"
	"slipway/internal/pure/feedcursor"
)

// page reads changes such as "a1 b1 a2* | a3", which stand in their order: the deployment and its version, a star where
// it has ended. Those behind the bar are not settled.
func page(text string) (list []store.Change) {
	isSettled := true
	for i, word := range strings.Fields(text) {
		if word == "|" {
			isSettled = false
			continue
		}
		c := store.Change{Position: feedcursor.Position{Transaction: 1, ID: int64(i + 1)}, DeploymentID: word[:1], Kind: deploymentchange.KindUPDATED, Settled: isSettled}
		_, _ = fmt.Sscan(strings.TrimSuffix(word[1:], "*"), &c.Version)
		switch {
		case c.Version == 1:
			c.Kind = deploymentchange.KindCREATED
		case strings.HasSuffix(word, "*"):
			c.Kind = deploymentchange.KindCOMPLETED
		}
		list = append(list, c)
	}
	return list
}

func TestVersionsOnlyRiseAndMilestonesStay(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"a1 a2 a3*":         "a1@1 a3@3",
		"a1 b1 a2 b2":       "a1@1 b1@2 a2@3 b2@4",
		"a2 a3 a4":          "a4@3",
		"a3* a4":            "a3@1 a4@2",
		"a2 a1":             "a1@<1 a2@1",
		"a2* b1 | a1":       "a1@<1 a2@1 b1@2",
		"a3 a2 a1":          "a1@<1 a3@1",
		"a4 a3* a1":         "a1@<1 a3@<1 a4@1",
		"c5 c6*":            "c6@2",
		"d5 d6 d7":          "d7@3",
		"e3":                "",
		"e3 e4":             "e4@2",
		"| a1":              "",
		"a1 | a2*":          "a1@1",
		"a3* a2 a1 a5 a4":   "a1@<1 a3@1 a5@4",
		"b9 a1 b7 b8* b10*": "b8@<1 a1@2 b10@5",
	} {
		var got []string
		for _, m := range feed.Merge(page(given), func(id string) int32 { return map[string]int32{"e": 3}[id] }) {
			before := ""
			if m.Cursor.Before {
				before = "<"
			}
			got = append(got, fmt.Sprintf("%s%d@%s%d", m.Change.DeploymentID, m.Change.Version, before, m.Cursor.ID))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", given, diff)
		}
	}
}
