package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"slipway/internal/base/fault"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
	"slipway/internal/pure/gate"
)

// Deployment is one deployment of a module instance.
type Deployment struct{ ent.Schema }

// Mixin of Deployment.
func (Deployment) Mixin() []ent.Mixin { return []ent.Mixin{Identity{}, Owned{}} }

// Fields of Deployment.
func (Deployment) Fields() []ent.Field { //nolint:funlen // one list of columns
	return []ent.Field{
		field.String("project_id").Immutable(),
		field.String("environment_id").Immutable(),
		field.String("module_instance_id").Immutable(),
		field.String("release_id").Optional().Nillable().Immutable(),
		field.String("module_definition_id").Optional().Nillable().Immutable().
			Comment("the module of the instance; null until the sweep has filled in what an older server wrote"),
		field.String("module_version_id").Optional().Nillable().Immutable().
			Comment("the version of the release; null without one, and until the sweep has filled in what older servers wrote"),
		field.String("deployment_type").Immutable().
			Comment("the kind of the module version"),
		field.String("trigger_source").Immutable().
			Comment("api, rollback, redeploy, pipeline, promotion, destroy or event"),
		field.Enum("status").
			Values("AWAITING_APPROVAL", "PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELED").
			Default("PENDING"),
		field.String("description").Optional().Nillable().Immutable(),
		field.String("reason").Optional().Nillable().Immutable().
			Comment("why its creator wanted it"),
		field.String("search_text").Optional().Nillable().Immutable().
			Comment("the description and the reason, folded; null without either, and until the sweep has filled it in"),

		field.Time("started_at").Optional().Nillable(),
		field.Time("completed_at").Optional().Nillable().Annotations(later),
		field.Time("live_since").Optional().Nillable().Annotations(later).
			Comment("when it went live, by the clock of leases; null for what did not, or did so before this was written down"),
		field.JSON("error", &fault.Data{}).Optional().SchemaType(jsonColumn).Annotations(later),

		field.String("external_deployment_id").Optional().Nillable(),
		field.Bool("external_id_adopted").Default(false).Annotations(later).
			Comment("external_deployment_id was taken from an event of the cloud, and not reported by the runner"),
		field.Time("cloud_started_at").Optional().Nillable().
			Comment("when it began by the events of the cloud, or was claimed where they have no start; null without events"),
		field.Time("cloud_ended_at").Optional().Nillable().Annotations(later).
			Comment("when it ended by the events of the cloud"),
		field.JSON("setbacks", &ecs.Setbacks{}).Optional().SchemaType(jsonColumn).Annotations(later).
			Comment("what speaks against it, of the runner's reports and of the events of the cloud; null for nothing"),

		field.String("pipeline_run_id").Optional().Nillable(),
		field.String("step_execution_id").Optional().Nillable(),
		field.String("resource_arn").Optional().Nillable(),
		field.String("resource_name").Optional().Nillable(),

		field.String("redeploy_of_deployment_id").Optional().Nillable().Immutable(),
		field.String("rollback_to_deployment_id").Optional().Nillable().Immutable(),
		field.String("given_from").Optional().Nillable().Immutable().
			Comment("the deployment that has what was given for the inputs, and the references: itself, or what is replayed; " +
				"null where nobody has kept it"),

		field.Other("data", ecs.Column{}).Optional().SchemaType(jsonColumn),
		// What is in data: row-level security keeps PostgreSQL from using an index on an expression over JSON.
		field.String("service_arn").Optional().Nillable().
			Comment("that of the data, for the events of the cloud"),
		field.JSON("events", []event.Event{}).Optional().SchemaType(jsonColumn).Annotations(later).
			Comment("what was reported; for aws:ecs they are in data"),

		field.Int32("folded_events").Default(0).Annotations(later).
			Comment("how many of the oldest events are no longer kept"),
		field.Int64("log_lines").Default(0).Annotations(later).
			Comment("how many lines its program has printed; the sequence of the last"),
		field.Int64("log_bytes").Default(0).Annotations(later).
			Comment("how many bytes of text these have"),
		field.Int32("folded_log_lines").Default(0).Annotations(later).
			Comment("how many of the oldest lines are no longer kept"),
		field.Int64("folded_log_bytes").Default(0).Annotations(later).
			Comment("how many bytes of text these had"),

		field.Time("details_folded_at").Optional().Nillable().Annotations(later).
			Comment("when its events, its log and the states of its listeners were folded because of their age"),

		field.String("created_by").Immutable().
			Comment("name of the actor"),
		field.String("created_by_id").Optional().Nillable().Immutable().
			Comment("principal of the actor; null for the server, and for those from before it was noted"),
		field.String("created_by_actor").Optional().Nillable().Immutable().
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
		field.String("promoted_from").Optional().Nillable().Immutable().
			Comment("what was promoted, for a replay what its source was promoted from; null for neither"),
		field.String("after_failure_of").Optional().Nillable().Immutable().
			Comment("the deployment whose failure it takes back by itself"),
		field.Bool("acknowledges_dependents").Default(false).Immutable().
			Comment("a destroy of what others refer to"),

		field.String("replaces_id").Optional().Nillable().Immutable().
			Comment("what was live when it began to wait for approvals; null for nothing, and for those that never waited"),
		field.Time("waits_until").Optional().Nillable().
			Comment("when it expires unless it is started before, by the clock of leases; null for those that never waited"),
		field.JSON("override", &gate.Override{}).Optional().SchemaType(jsonColumn).
			Comment("who went past which rules, and why; null where all were met"),

		field.String("runner").Optional().Nillable().Annotations(later).
			Comment("name of the actor that claimed it"),
		field.String("runner_actor").Optional().Nillable().Annotations(later).
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
		field.String("lease_id").Optional().Nillable().Sensitive().Annotations(later).
			Comment("what its runner proves the claim by; kept when it has ended"),
		field.Time("lease_expires_at").Optional().Nillable().Annotations(later).
			Comment("set while it is RUNNING"),
		field.Int64("fence").Optional().Nillable().Annotations(later).
			Comment("that of its claim, greater than of any claim of the instance before; null before it is claimed"),

		field.Time("cancel_requested_at").Optional().Nillable().Annotations(later).
			Comment("when its runner was asked to end it, by the clock of leases"),
		field.String("cancel_requested_by").Optional().Nillable().Annotations(later).
			Comment("name of the actor that asked first"),
		field.String("cancel_requested_by_actor").Optional().Nillable().Annotations(later).
			Comment("id of the actor's token; null for none, and for those from before it was noted"),
		field.String("cancel_reason").Optional().Nillable().Annotations(later).
			Comment("why, as the actor that asked first said"),
		field.Bool("forced").Default(false).Annotations(later).
			Comment("canceled without waiting for its program to end"),

		field.Int32("report_sequence").Default(0).Annotations(later).
			Comment("the last report that was taken"),
		field.Int32("version").Default(1).
			Comment("raised by every update"),
	}
}

// Edges of Deployment.
func (Deployment) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("project", Project.Type).Field("project_id").Unique().Required().Immutable(),
		edge.To("environment", Environment.Type).Field("environment_id").Unique().Required().Immutable(),
		edge.To("module_instance", ModuleInstance.Type).Field("module_instance_id").Unique().Required().Immutable(),
		edge.To("release", Release.Type).Field("release_id").Unique().Immutable(),
		// Without the other direction ent would take these for one-to-one.
		edge.To("redeploys", Deployment.Type).From("redeploy_of").Field("redeploy_of_deployment_id").Unique().Immutable(),
		edge.To("rollbacks", Deployment.Type).From("rollback_to").Field("rollback_to_deployment_id").Unique().Immutable(),
	}
}

// Indexes of Deployment. The predicate of deployment_in_progress is completed_at, because one with IN (…) is dropped
// and made again by every migration diff. Nobody waits for what was started outside, nor for what waits for approvals.
// An instance has but one organization, which is in it because every statement asks for it. Without it, SQLite takes an
// index that has it, and reads all deployments of the instance.
func (Deployment) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("organization_id", "module_instance_id").Unique().StorageKey("deployment_in_progress").
			Annotations(entsql.IndexWhere(
				"completed_at IS NULL AND trigger_source <> 'event' AND status <> 'AWAITING_APPROVAL'")),

		// What waits for approvals: by its instance, and for the sweep, which looks over all organizations.
		index.Fields("organization_id", "module_instance_id", "id").StorageKey("deployment_awaiting_instance").
			Annotations(entsql.IndexWhere("status = 'AWAITING_APPROVAL'")),
		index.Fields("waits_until", "id").StorageKey("deployment_awaiting_until").
			Annotations(entsql.IndexWhere("status = 'AWAITING_APPROVAL'")),

		index.Fields("organization_id", "after_failure_of").Unique().StorageKey("deployment_after_failure").
			Annotations(entsql.IndexWhere("after_failure_of IS NOT NULL")),
		newestFirst("organization_id").StorageKey("deployment_overridden_newest").
			Annotations(entsql.IndexWhere("override IS NOT NULL")),
		index.Fields("organization_id", "lease_id").Unique().StorageKey("deployment_lease"),

		// For claims, which take the oldest: hardly any row is in it, however many deployments there have been.
		index.Fields("organization_id", "created_at", "id").StorageKey("deployment_pending").
			Annotations(entsql.IndexWhere("status = 'PENDING'")),

		// For the sweep, which looks over all organizations.
		index.Fields("lease_expires_at").Annotations(entsql.IndexWhere("lease_expires_at IS NOT NULL")),

		newestFirst("organization_id", "service_arn").StorageKey("deployment_service_newest").
			Annotations(entsql.IndexWhere("service_arn IS NOT NULL")),
		// By the id that the cloud gave it. It is not unique: one runner may report that of another.
		index.Fields("organization_id", "external_deployment_id", "service_arn").StorageKey("deployment_cloud_id").
			Annotations(entsql.IndexWhere("external_deployment_id IS NOT NULL")),
		// The deployments of a service in the order of the cloud: those with events, those that have ended by them, and
		// those that a runner has held.
		index.Fields(
			"organization_id", "module_instance_id", "service_arn", "cloud_started_at", "external_deployment_id", "id").
			StorageKey("deployment_cloud_started").Annotations(entsql.IndexWhere("cloud_started_at IS NOT NULL")),
		index.Fields("organization_id", "module_instance_id", "service_arn", "cloud_started_at").
			StorageKey("deployment_cloud_ended").Annotations(entsql.IndexWhere("cloud_ended_at IS NOT NULL")),
		// What was started outside and has not ended: few, however many there have been.
		index.Fields("organization_id", "module_instance_id", "service_arn", "cloud_started_at").
			StorageKey("deployment_open_outside").
			Annotations(entsql.IndexWhere("completed_at IS NULL AND trigger_source = 'event'")),
		// What was started outside and ended well, for what has changed since the instance's live deployment.
		index.Fields("organization_id", "module_instance_id", "completed_at").StorageKey("deployment_succeeded_outside").
			Annotations(entsql.IndexWhere("status = 'SUCCEEDED' AND trigger_source = 'event'")),
		index.Fields("organization_id", "module_instance_id", "service_arn", "started_at", "id").
			StorageKey("deployment_held").
			Annotations(entsql.IndexWhere("lease_id IS NOT NULL AND deployment_type = 'aws:ecs'")),

		// For the purge, which looks over all organizations.
		index.Fields("completed_at", "id").StorageKey("deployment_details").
			Annotations(entsql.IndexWhere("completed_at IS NOT NULL AND details_folded_at IS NULL")),

		// For the sweep, which looks over all organizations: what a server of before these columns wrote.
		index.Fields("id").StorageKey("deployment_unfilled").
			Annotations(entsql.IndexWhere("module_definition_id IS NULL")),

		newestFirst("organization_id"),
		newestFirst("organization_id", "project_id"),
		newestFirst("organization_id", "environment_id"),
		newestFirst("organization_id", "module_instance_id"),
		newestFirst("organization_id", "release_id"),
		newestFirst("organization_id", "status"),
		newestFirst("organization_id", "deployment_type"),
		newestFirst("organization_id", "trigger_source"),
		newestFirst("organization_id", "module_definition_id").StorageKey("deployment_definition_newest"),
		newestFirst("organization_id", "module_version_id").StorageKey("deployment_version_newest"),
		newestFirst("organization_id", "created_by_id").StorageKey("deployment_creator_newest"),
		newestFirst("organization_id", "pipeline_run_id").StorageKey("deployment_pipeline_newest").
			Annotations(entsql.IndexWhere("pipeline_run_id IS NOT NULL")),

		lastCompleted("environment_id").StorageKey("deployment_environment_completed"),
		lastCompleted("module_instance_id").StorageKey("deployment_instance_completed"),

		// A status may be rare, or a place or a type have few of a status that is common. Named, because the names that
		// ent makes are longer than PostgreSQL's may be.
		newestFirst("organization_id", "deployment_type", "status").StorageKey("deployment_type_status_newest"),
		newestFirst("organization_id", "trigger_source", "status").StorageKey("deployment_trigger_status_newest"),
		newestFirst("organization_id", "project_id", "status").StorageKey("deployment_project_status_newest"),
		newestFirst("organization_id", "environment_id", "status").StorageKey("deployment_environment_status_newest"),
		newestFirst("organization_id", "module_instance_id", "status").StorageKey("deployment_instance_status_newest"),
	}
}

// lastCompleted is the index of what has ended in a place, the last of each status first. A creation does not write it.
func lastCompleted(place string) *index.Builder {
	return index.Fields("organization_id", place, "status", "completed_at", "id").Annotations(
		entsql.DescColumns("completed_at", "id"), entsql.IndexWhere("completed_at IS NOT NULL"))
}
