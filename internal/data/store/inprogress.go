package store

import (
	entsql "entgo.io/ent/dialect/sql"

	"slipway/ent/deployment"
)

// InProgress is the condition that a deployment is in progress: it has not ended, was not started outside and does not
// wait for approvals. An instance has at most one such deployment. prefix names the table of the columns: `"d".`, or ""
// for none. The words are those of the index of these deployments, which SQLite does not take if one is an argument.
func InProgress(prefix string) string {
	return prefix + `"completed_at" IS NULL AND ` + prefix + `"trigger_source" <> '` + TriggerEvent + `' AND ` +
		prefix + `"status" <> 'AWAITING_APPROVAL'`
}

// IsInProgress is InProgress as a condition of ent's.
func IsInProgress(s *entsql.Selector) {
	s.Where(entsql.IsNull(s.C(deployment.FieldCompletedAt))).
		Where(entsql.ExprP(s.C(deployment.FieldTriggerSource) + " <> '" + TriggerEvent + "'")).
		Where(entsql.ExprP(s.C(deployment.FieldStatus) + " <> 'AWAITING_APPROVAL'"))
}

// IsAwaiting is the condition that a deployment waits for approvals, in the words of the indexes of these.
func IsAwaiting(s *entsql.Selector) {
	s.Where(entsql.ExprP(s.C(deployment.FieldStatus) + " = 'AWAITING_APPROVAL'"))
}
