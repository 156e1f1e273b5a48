package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RunnerAsk says when a token last asked for work of one deployment type and one action. It is written beside claims,
// at most every half a minute, and removed a day after the last.
type RunnerAsk struct{ ent.Schema }

// Mixin of RunnerAsk.
func (RunnerAsk) Mixin() []ent.Mixin { return []ent.Mixin{Owned{}} }

// Fields of RunnerAsk.
func (RunnerAsk) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable(),
		field.String("token_id").Immutable(),
		field.String("deployment_type").Immutable(),
		field.String("action").Immutable(),
		field.Time("asked_at").
			Comment("by the clock of leases"),
	}
}

// Indexes of RunnerAsk.
func (RunnerAsk) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "token_id", "deployment_type", "action").Unique().StorageKey("runner_ask_once"),
		index.Fields("organization_id", "asked_at").StorageKey("runner_ask_newest"),
		// For the purge, which looks over all organizations.
		index.Fields("asked_at").StorageKey("runner_ask_oldest"),
	}
}
