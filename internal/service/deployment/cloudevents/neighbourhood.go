package cloudevents

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/cloudevent"
	"slipway/ent/deployment"
	"slipway/internal/base/optional"
	"slipway/internal/data/record"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/ecs/cloud"
	"slipway/internal/service/deployment/state"
)

// maxFollowed is how many events of one deployment are looked at together, the last, and how many events that wait, or
// deployments that another takes the place of.
const maxFollowed = 500

// position is the place of a deployment among those of its service: they are in the order in which they began. Those of
// the same second are in the order of their ids.
type position struct {
	at                time.Time
	cloudID, recordID string
}

func (p position) compare(o position) int {
	return cmp.Or(p.at.Compare(o.at), cmp.Compare(p.cloudID, o.cloudID), cmp.Compare(p.recordID, o.recordID))
}

// positionOf returns the position of a deployment that has begun, as it is stored.
func positionOf(d *ent.Deployment) position {
	return position{*cmp.Or(d.CloudStartedAt, d.StartedAt), optional.OrZero(d.ExternalDeploymentID), d.ID}
}

// neighbourhood is what an event of a service can change, and what decides on it: deployments with all of their events.
// It is as small however long the history of the service is, for an event moves others only between the deployments
// that begin, or whose runner held them, next to each other.
type neighbourhood struct {
	tx    *ent.Tx
	owner *serviceOwner
	// records are deployments of the owner; each has its events among events.
	records map[string]*ent.Deployment
	events  map[int64]*ent.CloudEvent
	// ended is the last deployment of the service that has ended by its events and is not among records, nil for none.
	ended *ent.Deployment
	// seen are the positions around which, and the times at which, it was looked already.
	seen map[any]bool
}

func newNeighbourhood(tx *ent.Tx, owner *serviceOwner) *neighbourhood {
	return &neighbourhood{
		tx: tx, owner: owner, records: map[string]*ent.Deployment{}, events: map[int64]*ent.CloudEvent{},
		seen: map[any]bool{},
	}
}

// load reads the neighbourhood of events that wait, and returns the courses of the service in it.
func (n *neighbourhood) load(ctx context.Context, waiting []*ent.CloudEvent) ([]*course, error) {
	if err := n.addEvents(ctx, waiting); err != nil {
		return nil, err
	}
	t, err := n.settle(ctx)
	if err != nil {
		return nil, err
	}
	if n.ended, err = n.lastEnded(ctx); err != nil {
		return nil, err
	}

	// What began before one that has ended, and has no end itself, ends with it: with this event, or the next if there
	// are more than are looked at together.
	if last, ok := n.lastEnd(t); ok {
		loaded := len(n.records)
		if err := n.addOpenBefore(ctx, last); err != nil || len(n.records) == loaded {
			return t.courses, err
		}
		if t, err = n.settle(ctx); err == nil {
			n.ended, err = n.lastEnded(ctx)
		}
	}

	return t.courses, err
}

// settle reads until nothing is missing that decides on the courses.
func (n *neighbourhood) settle(ctx context.Context) (*timelineBuilder, error) {
	for {
		loaded := len(n.records) + len(n.events)
		t := timeline(slices.Collect(maps.Values(n.events)), slices.Collect(maps.Values(n.records)))
		if err := n.addAround(ctx, t); err != nil || len(n.records)+len(n.events) == loaded {
			return t, err
		}
	}
}

// addAround adds what is next to what the timeline has changed.
func (n *neighbourhood) addAround(ctx context.Context, t *timelineBuilder) error {
	for _, c := range t.courses {
		if err := n.addAroundCourse(ctx, c); err != nil {
			return err
		}
	}
	for _, at := range t.floating {
		if err := n.addBefore(ctx, position{at: at, cloudID: last, recordID: last}, false); err != nil {
			return err
		}
	}
	return nil
}

// addAroundCourse adds the deployments that may take the start of a course, or give theirs to it, and those before the
// place that it has left and the one that it has now.
func (n *neighbourhood) addAroundCourse(ctx context.Context, c *course) error {
	if c.start != nil && (c.deployment == nil || optional.OrZero(c.start.DeploymentID) != c.deployment.ID) {
		if err := n.addHeldAt(ctx, c.start.Event.Time); err != nil {
			return err
		}
	}

	if c.lostStart {
		if err := n.addHeldAfter(ctx, c.deployment); err != nil {
			return err
		}
	}

	places := []position{c.position()}
	if c.deployment != nil {
		stored := positionOf(c.deployment)
		if stored.compare(c.position()) == 0 {
			return nil
		}
		places = append(places, stored)
	}

	for _, p := range places {
		if err := n.addBefore(ctx, p, true); err != nil {
			return err
		}
	}

	return nil
}

// last comes after every id.
const last = "\U0010ffff"

// addEvents adds events that wait, with all that are of the same, and the deployments that these were of before or
// whose id they have.
func (n *neighbourhood) addEvents(ctx context.Context, waiting []*ent.CloudEvent) error {
	var rows []*ent.CloudEvent
	var subjects []string
	for _, row := range waiting {
		// One that came before its service was known may be out of the scope of its token.
		if !row.Scope.Has(n.owner.place) {
			continue
		}
		if row.Subject == nil && row.Event.Subject() == "" {
			n.events[row.ID] = row
			continue
		}
		if rows = append(rows, row); !slices.Contains(subjects, row.Event.Subject()) {
			subjects = append(subjects, row.Event.Subject())
		}
	}

	if len(subjects) == 0 {
		return nil
	}
	same, err := n.tx.CloudEvent.Query().Where(
		cloudevent.ServiceArn(n.owner.serviceARN), cloudevent.SubjectIn(subjects...),
	).
		Order(cloudevent.ByOccurredAt(), cloudevent.ByID()).Limit(2 * maxFollowed).All(ctx)
	if err != nil {
		return err
	}
	return n.addGroups(
		ctx, slices.CompactFunc(sortedByID(append(rows, same...)), func(a, b *ent.CloudEvent) bool { return a.ID == b.ID }),
	)
}

func sortedByID(rows []*ent.CloudEvent) []*ent.CloudEvent {
	slices.SortFunc(rows, func(a, b *ent.CloudEvent) int { return cmp.Compare(a.ID, b.ID) })
	return rows
}

// addGroups adds events with the deployments that they were of before, or whose id they have. If that is one of an
// instance that the service has left, the events stay with it and change nothing.
func (n *neighbourhood) addGroups(ctx context.Context, rows []*ent.CloudEvent) error {
	placed, err := n.placed(ctx, rows)
	if err != nil {
		return err
	}
	named, err := n.named(ctx, cloudIDsOf(rows))
	if err != nil {
		return err
	}

	hasLeft := func(d *ent.Deployment) bool { return d.ModuleInstanceID != n.owner.instanceID }
	stays := map[string]bool{}
	for _, row := range rows {
		if d := placed[optional.OrZero(row.DeploymentID)]; d != nil && hasLeft(d) {
			stays[row.Event.Subject()] = true
		}
	}

	for _, row := range rows {
		if !stays[row.Event.Subject()] && row.Scope.Has(n.owner.place) {
			n.events[row.ID] = row
		}
	}

	return n.addRecords(ctx, append(named, slices.DeleteFunc(slices.Collect(maps.Values(placed)), hasLeft)...))
}

// placed returns the deployments that events were of before, by their ids.
func (n *neighbourhood) placed(ctx context.Context, rows []*ent.CloudEvent) (map[string]*ent.Deployment, error) {
	var ids []string
	for _, row := range rows {
		if id := row.DeploymentID; id != nil && !slices.Contains(ids, *id) {
			ids = append(ids, *id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := n.read(deployment.IDIn(ids...)).All(ctx)
	return record.ByKey(list, func(d *ent.Deployment) string { return d.ID }), err
}

// cloudIDsOf returns the ids of the cloud that changes of deployments have, each once.
func cloudIDsOf(rows []*ent.CloudEvent) (ids []string) {
	for _, row := range rows {
		if id := row.Event.DeploymentID; row.Event.Kind == cloud.DeploymentStateChange && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// named returns the deployments that have ids of the cloud. Of several that have the same one, which was started
// outside comes before those that runners have reported, and then the oldest.
func (n *neighbourhood) named(ctx context.Context, cloudIDs []string) ([]*ent.Deployment, error) {
	if len(cloudIDs) == 0 {
		return nil, nil
	}
	of := map[string]*ent.Deployment{}
	for _, service := range n.services() {
		list, err := n.read(service, deployment.ExternalDeploymentIDIn(cloudIDs...)).Limit(2 * maxFollowed).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			id := *d.ExternalDeploymentID
			if n.owns(d) && (of[id] == nil || compareRecords(d, of[id]) < 0) {
				of[id] = d
			}
		}
	}
	return slices.Collect(maps.Values(of)), nil
}

// owns reports whether a deployment may have events of the service: it has begun, at the instance that the service
// belongs to, and where it does not name the service, a runner has held it.
func (n *neighbourhood) owns(d *ent.Deployment) bool {
	return d.ModuleInstanceID == n.owner.instanceID && d.StartedAt != nil && d.DeploymentType == ecs.Type &&
		(d.ServiceArn != nil || d.LeaseID != nil)
}

// compareRecords orders deployments by which has an id of the cloud sooner.
func compareRecords(a, b *ent.Deployment) int {
	outside := func(d *ent.Deployment) int {
		if d.TriggerSource == state.TriggerEvent {
			return 0
		}
		return 1
	}
	return cmp.Or(outside(a)-outside(b), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// addRecords adds deployments with their events.
func (n *neighbourhood) addRecords(ctx context.Context, list []*ent.Deployment) error {
	var ids []string
	for _, d := range list {
		if n.records[d.ID] == nil {
			n.records[d.ID] = d
			ids = append(ids, d.ID)
		}
	}

	if len(ids) == 0 {
		return nil
	}
	rows, err := n.tx.CloudEvent.Query().Where(cloudevent.DeploymentIDIn(ids...)).
		Order(cloudevent.ByOccurredAt(sql.OrderDesc()), cloudevent.ByID(sql.OrderDesc())).Limit(maxFollowed * len(ids)).
		All(ctx)
	for _, row := range rows {
		if n.events[row.ID] == nil && row.Scope.Has(n.owner.place) {
			n.events[row.ID] = row
		}
	}

	return err
}

// look reports whether it was looked somewhere already, and notes it.
func (n *neighbourhood) look(where any) bool {
	was := n.seen[where]
	n.seen[where] = true
	return was
}
