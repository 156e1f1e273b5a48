package feed

import (
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"slipway/ent/deploymentchange"
	"slipway/internal/data/store"
	"slipway/internal/pure/feedcursor"
)

// event is a change that is to be sent, and the cursor behind it.
type event struct {
	store.Change
	cursor feedcursor.Cursor
}

// maxSeen is of how many deployments the last version is known.
const maxSeen = 10_000

// versions are the highest of each deployment that were read, of the last maxSeen of them.
type versions struct {
	last *simplelru.LRU[string, int32]
}

func newVersions() *versions {
	last, err := simplelru.NewLRU[string, int32](maxSeen, nil)
	if err != nil {
		panic(err) // maxSeen is above 0
	}
	return &versions{last}
}

// of returns the version of a deployment, 0 for none.
func (v *versions) of(deploymentID string) int32 {
	version, _ := v.last.Get(deploymentID)
	return version
}

// add adds the versions of events, which rise.
func (v *versions) add(events []event) {
	for _, e := range events {
		v.last.Add(e.DeploymentID, e.Version)
	}
}

// merge returns what a reader makes of a page of changes: of each deployment the last version, and before it the
// change that created it and the one that ended it. The versions of a deployment only rise.
//
// The order of changes is that of transactions, which is not always that of versions: a transaction that began first
// may have changed a deployment last. Then the changes that it has passed come before it, and are left out in their own
// place; seen returns the highest version of a deployment that was read before the page. They are in the page, at least
// among those that are not settled yet, since whoever sees a version sees those before it.
func merge(page []store.Change, seen func(deploymentID string) int32) []event {
	of := make(map[string][]int, len(page))
	for i := range page {
		of[page[i].DeploymentID] = append(of[page[i].DeploymentID], i)
	}

	var events []event
	final := make(map[string]int32, len(of))
	for _, c := range page {
		last, isInPage := final[c.DeploymentID]
		if !isInPage {
			last = seen(c.DeploymentID)
		}
		if !c.Settled || c.Version <= last {
			continue
		}

		for _, early := range passedBy(c, last, page, of[c.DeploymentID]) {
			events = append(events, event{early, feedcursor.Cursor{Position: c.Position, At: c.At, Before: true}})
		}
		events = append(events, event{c, feedcursor.Cursor{Position: c.Position, At: c.At}})
		final[c.DeploymentID] = c.Version
	}

	return slices.DeleteFunc(events, func(e event) bool {
		return e.Version < final[e.DeploymentID] && !isMilestone(e.Change)
	})
}

// isMilestone reports whether a change created its deployment or ended it.
func isMilestone(c store.Change) bool {
	return c.Version == 1 || c.Kind == deploymentchange.KindCREATED || c.Kind == deploymentchange.KindCOMPLETED
}

// passedBy returns the milestones after a version that come later in the page than c and have lower versions, in the
// order of those. own are the places of the deployment in the page.
func passedBy(c store.Change, last int32, page []store.Change, own []int) (early []store.Change) {
	for _, i := range own {
		other := page[i]
		isPassed := other.Compare(c.Position) > 0 && last < other.Version && other.Version < c.Version
		if isPassed && isMilestone(other) {
			early = append(early, other)
		}
	}
	slices.SortFunc(early, func(a, b store.Change) int { return int(a.Version - b.Version) })
	return early
}
