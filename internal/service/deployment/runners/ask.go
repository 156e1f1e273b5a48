package runners

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/state"
)

const (
	// askInterval is how often an ask of one token is stored.
	askInterval = 30 * time.Second
	// askDelay is how long the first of some asks waits for others, to be stored with them.
	askDelay = time.Second
	// askTimeout bounds the time that it takes to store them, also when the server stops.
	askTimeout = 2 * time.Second
	// maxAsks is how many asks are remembered. Those beyond are not stored: the next claims of their runners try again.
	maxAsks = 10_000
	// asksAtOnce is how many asks one statement stores.
	asksAtOnce = 1000
)

// KeepAsks is how long an ask is kept. A runner that asks no more may run what it has claimed for that long, and it is
// still known what it can run.
const KeepAsks = 24 * time.Hour

// Ability is what a runner can run.
type Ability struct {
	DeploymentType string
	Action         state.Action
}

// ask is that a token asks for work of one ability.
type ask struct {
	organizationID, tokenID string
	Ability
}

// compare orders asks: servers that store the same ones at the same time lock their rows in one order.
func (a ask) compare(b ask) int {
	return cmp.Or(
		cmp.Compare(a.organizationID, b.organizationID), cmp.Compare(a.tokenID, b.tokenID),
		cmp.Compare(a.DeploymentType, b.DeploymentType), cmp.Compare(a.Action, b.Action),
	)
}

// asks are those that this server has heard of. The zero value has none.
type asks struct {
	mu sync.Mutex
	// noted are the times at which asks were last noted to be stored.
	noted   map[ask]time.Time
	waiting map[ask]bool
	added   chan struct{} // has an element if any may wait; nil while nobody waits for them
}

// Note notes that a runner asks for work of some types and actions, to be stored soon: each ask at most every half a
// minute. The claim does not wait for that, and does not fail because of it.
func (s *Service) Note(a *actor.Actor, types []string, actions []state.Action) {
	now := s.Journal.Now()
	for _, t := range types {
		for _, action := range actions {
			s.asks.note(ask{a.OrganizationID, a.ID, Ability{t, action}}, now)
		}
	}
}

func (q *asks) note(one ask, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	last, known := q.noted[one]
	if known && now.Sub(last).Abs() < askInterval {
		return
	}
	if !known && len(q.noted) >= maxAsks {
		q.forget(now)
	}
	if !known && len(q.noted) >= maxAsks || !q.waiting[one] && len(q.waiting) >= maxAsks {
		return
	}

	if q.noted == nil {
		q.noted = map[ask]time.Time{}
	}
	if q.waiting == nil {
		q.waiting = map[ask]bool{}
	}
	q.noted[one], q.waiting[one] = now, true
	q.notify()
}

// forget forgets the asks that would be stored again.
func (q *asks) forget(now time.Time) {
	for one, at := range q.noted {
		if now.Sub(at).Abs() >= askInterval {
			delete(q.noted, one)
		}
	}
}

// notify puts an element into the channel unless it has one.
func (q *asks) notify() {
	select {
	case q.added <- struct{}{}:
	default: // also if nobody listens
	}
}

// listen returns the channel that has an element when asks wait.
func (q *asks) listen() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.added == nil {
		q.added = make(chan struct{}, 1)
	}
	if len(q.waiting) > 0 {
		q.notify()
	}
	return q.added
}

// take returns the asks that wait, in their order. None wait then.
func (q *asks) take() []ask {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := slices.SortedFunc(maps.Keys(q.waiting), ask.compare)
	q.waiting = nil
	return taken
}

// Run stores asks, those of about a second at once, until ctx ends, and then the last ones. It does nothing while no
// runner asks.
func (s *Service) Run(ctx context.Context) {
	added := s.asks.listen()
	for {
		select {
		case <-ctx.Done():
		case <-added:
			select {
			case <-ctx.Done():
			case <-time.After(askDelay):
			}
		}
		ended := ctx.Err() != nil
		s.StoreAsks(context.WithoutCancel(ctx))
		if ended {
			return
		}
	}
}

// StoreAsks stores the asks that were noted, each organization's in a transaction of its own. Those that cannot be
// stored are forgotten: their runners ask again.
func (s *Service) StoreAsks(ctx context.Context) {
	for rest := s.asks.take(); len(rest) > 0; {
		organization, n := rest[0].organizationID, 1
		for n < min(len(rest), asksAtOnce) && rest[n].organizationID == organization {
			n++
		}
		err := s.store(actor.WithServer(ctx, organization), organization, rest[:n])
		if err != nil && fault.IsFailure(err) {
			s.Log.WarnContext(ctx, "cannot store that runners asked for work", "asks", n, "error", err)
		}
		rest = rest[n:]
	}
}

func (s *Service) store(ctx context.Context, organizationID string, list []ask) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	rows := make([]askRow, len(list))
	for i, one := range list {
		rows[i] = askRow{one.tokenID, one.DeploymentType, string(one.Action)}
	}
	encoded := string(strictjson.Encode(rows))

	return s.Store.TxAt(ctx, store.Repeatable, func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
		_, err := tx.ExecContext(
			ctx, storeAsks[s.Store.Postgres()], organizationID, encoded, s.Journal.Shared(clock()).UTC(),
		)
		return err
	})
}

// askRow is an ask as it is stored.
type askRow struct {
	Token  string `json:"token"`
	Type   string `json:"type"`
	Action string `json:"action"`
}

// storeAsks are the statements that store asks, all of them by one argument, by whether the database is PostgreSQL.
var storeAsks = map[bool]string{
	true: insertAsks + `SELECT $1, "r"."token", "r"."type", "r"."action", $3
FROM json_to_recordset(CAST(CAST($2 AS text) AS json)) AS "r" ("token" text, "type" text, "action" text)` + again,
	// Without a WHERE, SQLite would take ON for that of a join.
	false: insertAsks + `SELECT $1, "r"."value" ->> 'token', "r"."value" ->> 'type', "r"."value" ->> 'action', $3
FROM json_each($2) AS "r" WHERE true` + again,
}

const (
	insertAsks = `INSERT INTO "runner_asks" ("organization_id", "token_id", "deployment_type", "action", "asked_at") `
	again      = ` ON CONFLICT ("organization_id", "token_id", "deployment_type", "action")
DO UPDATE SET "asked_at" = excluded."asked_at"`
)
