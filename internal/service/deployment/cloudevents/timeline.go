package cloudevents

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"slipway/ent"
	"slipway/internal/base/optional"
	"slipway/internal/pure/ecs/cloud"
)

// A start of the cloud is that of a deployment whose runner held it then. The clocks differ a little, the cloud's times
// are whole seconds, and a runner may end before the cloud has begun.
const (
	startsBeforeClaim = 5 * time.Second
	startsAfterEnd    = time.Minute
)

// course is what happens to a service in the course of one of its deployments.
type course struct {
	// deployment is its record, nil if there is none yet: it was started outside.
	deployment *ent.Deployment
	// cloudID is the id that the cloud gave it, "" if that is not known.
	cloudID string
	from    time.Time
	// start is its first start, nil if none is known; lostStart is whether it had one that is another's now.
	start     *ent.CloudEvent
	lostStart bool
	// had are the events that it had before, and events those that it has, in order.
	had, events []*ent.CloudEvent
}

func (c *course) position() position { return position{c.from, c.cloudID, c.recordID()} }

// timeline arranges events among the courses of a service's deployments, which are in the order in which they began. It
// depends on which events there are, and not on the order in which they came: an event that comes late may move others
// from one course to another, but never takes a record its own start away again. Events that belong to no course
// are in none.
//
// An event of a deployment has its id. The start of one that no record has is that of the first deployment whose runner
// held it then, or was started outside. What the cloud starts to roll another back belongs to that one. All other
// events belong to the deployment that had started last.
func timeline(events []*ent.CloudEvent, records []*ent.Deployment) *timelineBuilder {
	slices.SortFunc(events, compareEvents)
	slices.SortFunc(records, compareRecords)
	t := &timelineBuilder{groups: map[string]*group{}, records: records, of: map[string]*course{}}
	for _, e := range events {
		t.add(e)
	}

	for _, d := range t.records {
		at := positionOf(d)
		t.of[d.ID] = &course{deployment: d, cloudID: at.cloudID, from: at.at}
	}

	t.findBefore(events)
	t.placeStarts()
	t.placeRollbacks()

	for _, e := range t.hooks() {
		t.placeLast(e.first.Event.Time, e.events)
	}

	for _, e := range t.actions {
		t.placeLast(e.Event.Time, []*ent.CloudEvent{e})
	}

	for _, c := range t.courses {
		slices.SortFunc(c.events, compareEvents)
	}

	return t
}

func compareEvents(a, b *ent.CloudEvent) int { return a.Event.Compare(b.Event) }

// group is the events of one id, in order.
type group struct {
	id     string
	events []*ent.CloudEvent
	// first is the first of them, start that which starts a deployment, and rollback that which rolls another back; nil
	// for none.
	first, start, rollback *ent.CloudEvent
}

type timelineBuilder struct {
	// groups are the events of deployments by their ids, actions the service's own.
	groups           map[string]*group
	actions, ofHooks []*ent.CloudEvent
	// records are the deployments that have begun, of their courses by their ids.
	records []*ent.Deployment
	of      map[string]*course
	// courses are in the order in which they began.
	courses []*course
	// floating are the times of the events that are of no deployment yet and have no id of one.
	floating []time.Time
}

// findBefore notes what each course had.
func (t *timelineBuilder) findBefore(events []*ent.CloudEvent) {
	for _, e := range events {
		if c := t.of[optional.OrZero(e.DeploymentID)]; c != nil {
			c.had = append(c.had, e)
		}
	}
}

func (t *timelineBuilder) add(e *ent.CloudEvent) {
	switch e.Event.Kind {
	case cloud.DeploymentStateChange:
		g := t.groups[e.Event.DeploymentID]
		if g == nil {
			g = &group{id: e.Event.DeploymentID, first: e}
			t.groups[g.id] = g
		}
		g.events = append(g.events, e)
		if _, back := e.Event.RollsBackTo(); back && g.rollback == nil {
			g.rollback = e
		} else if g.start == nil && e.Event.Starts() {
			g.start = e
		}
	case cloud.HookStateChange:
		t.ofHooks = append(t.ofHooks, e)
	case cloud.ServiceAction:
		t.actions = append(t.actions, e)
	}
}

// placeStarts places the events of the deployments whose id a record has, or whose start is known.
func (t *timelineBuilder) placeStarts() {
	free := t.adoptable()
	for _, g := range t.sorted(func(g *group) *ent.CloudEvent { return cmp.Or(g.start, g.first) }) {
		switch d := t.recordOf(g); {
		case d != nil:
			t.place(t.of[d.ID], g)
		case g.start != nil:
			i := slices.IndexFunc(free, func(d *ent.Deployment) bool { return heldAt(d, g.start.Event.Time) })
			if i < 0 {
				c := &course{cloudID: g.id}
				t.courses = append(t.courses, c)
				t.place(c, g)
				continue
			}
			t.place(t.of[free[i].ID], g)
			free = slices.Delete(free, i, i+1)
		}
	}

	for _, d := range t.records {
		c := t.of[d.ID]
		if c.lostStart = c.start == nil && slices.ContainsFunc(
			c.had, func(e *ent.CloudEvent) bool { return e.Event.Starts() },
		); c.lostStart {
			c.from = *d.StartedAt
		}
		if c.lostStart && d.ExternalIDAdopted {
			c.cloudID = ""
		}
		t.courses = append(t.courses, c)
	}

	slices.SortFunc(t.courses, func(a, b *course) int { return a.position().compare(b.position()) })
}

// place gives a course the events of a group. It is as old as the first start that it has.
func (t *timelineBuilder) place(c *course, g *group) {
	if g.start != nil && c.start == nil {
		c.start, c.cloudID, c.from = g.start, g.id, g.start.Event.Time
	}
	c.events = append(c.events, g.events...)
	delete(t.groups, g.id)
}

// recordOf returns the record that has the id of a group, and not only because a start was taken for its own: such a
// start is looked at anew. A group whose start a record has had before stays with it when its runner reports another
// id.
func (t *timelineBuilder) recordOf(g *group) *ent.Deployment {
	for _, d := range t.records {
		if optional.OrZero(d.ExternalDeploymentID) == g.id && (!d.ExternalIDAdopted || g.start == nil) {
			return d
		}
	}
	if g.start == nil {
		return nil
	}
	for _, d := range t.records {
		if d.ID == optional.OrZero(g.start.DeploymentID) && d.ExternalDeploymentID != nil && !d.ExternalIDAdopted {
			return d
		}
	}
	return nil
}

// adoptable returns the deployments that a runner held and that have no id of the cloud, or one whose start is looked
// at anew, in the order in which they were claimed.
func (t *timelineBuilder) adoptable() []*ent.Deployment {
	var list []*ent.Deployment
	for _, d := range t.records {
		adopted := d.ExternalIDAdopted && t.groups[optional.OrZero(d.ExternalDeploymentID)] != nil &&
			t.groups[*d.ExternalDeploymentID].start != nil
		if d.LeaseID != nil && (d.ExternalDeploymentID == nil || adopted) {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *ent.Deployment) int {
		return cmp.Or(a.StartedAt.Compare(*b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// heldAt reports whether the runner of a deployment held it when the cloud started one.
func heldAt(d *ent.Deployment, at time.Time) bool {
	return !at.Before(d.StartedAt.Add(-startsBeforeClaim)) && (d.CompletedAt == nil ||
		!at.After(d.CompletedAt.Add(startsAfterEnd)))
}

// placeRollbacks places the events of what the cloud starts by itself to roll another deployment back: nobody has
// started it, and who looks at the record of what failed must see it. The cloud names what it goes back to, not what it
// leaves.
func (t *timelineBuilder) placeRollbacks() {
	for _, g := range t.sorted(func(g *group) *ent.CloudEvent { return g.rollback }) {
		t.placeLast(g.rollback.Event.Time, g.events)
	}
}

// placeLast places events where the deployment is that had started last at a time.
func (t *timelineBuilder) placeLast(at time.Time, events []*ent.CloudEvent) {
	if slices.ContainsFunc(events, func(e *ent.CloudEvent) bool { return e.DeploymentID == nil }) {
		t.floating = append(t.floating, at)
	}
	for _, c := range slices.Backward(t.courses) {
		if !c.from.After(at) {
			c.events = append(c.events, events...)
			return
		}
	}
}

// sorted returns the groups that have a certain event, in the order of these.
func (t *timelineBuilder) sorted(by func(*group) *ent.CloudEvent) []*group {
	var list []*group
	for _, g := range t.groups {
		if by(g) != nil {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b *group) int { return compareEvents(by(a), by(b)) })
	return list
}

// hooks returns the events of hooks, those of one service deployment together.
func (t *timelineBuilder) hooks() []*group {
	of := map[string]*group{}
	for _, e := range t.ofHooks {
		arn := e.Event.ServiceDeploymentARN
		if arn == "" {
			arn = e.EventID // of which hooks are of the same deployment is not known
		}
		if of[arn] == nil {
			of[arn] = &group{id: arn, first: e}
		}
		of[arn].events = append(of[arn].events, e)
	}
	return slices.Collect(maps.Values(of))
}
