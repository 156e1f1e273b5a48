package rule

import (
	"encoding/json"
	"fmt"
	"strings"

	"slipway/internal/gate"
)

// InForce returns the expression of the rules that are in force in an environment, as one text, which Decode reads: so that
// they come with what a statement reads in any case. The ids of the organization, the project and the environment are
// expressions of that statement.
func InForce(organization, project, environment string, postgres bool) string {
	one, list := "json_object", `NULLIF(json_group_array({one} ORDER BY "u"."created_at", "u"."id"), '[]')`
	operations, demand, overridable := `json("u"."operations")`, `json("u"."demand")`, `json(CASE WHEN "u"."overridable" THEN 'true' ELSE 'false' END)`
	if postgres {
		one, list = "json_build_object", `CAST(json_agg({one} ORDER BY "u"."created_at", "u"."id") AS text)`
		operations, demand, overridable = `"u"."operations"`, `"u"."demand"`, `"u"."overridable"`
	}
	one += `('id', "u"."id", 'version', "u"."version", 'name', "u"."name", 'overridable', ` + overridable +
		`, 'operations', ` + operations + `, 'demand', ` + demand + `)`
	return `(SELECT ` + strings.Replace(list, "{one}", one, 1) + ` FROM "rules" AS "u" WHERE "u"."organization_id" = ` + organization +
		` AND "u"."ended_at" IS NULL AND ("u"."project_id" IS NULL OR "u"."project_id" = ` + project +
		`) AND ("u"."environment_id" IS NULL OR "u"."environment_id" = ` + environment + `))`
}

// Decode reads what InForce has selected, nil for nothing.
func Decode(text *string) ([]gate.Rule, error) {
	if text == nil {
		return nil, nil
	}
	var list []gate.Rule
	if err := json.Unmarshal([]byte(*text), &list); err != nil {
		return nil, fmt.Errorf("rule: %w", err)
	}
	return list, nil
}
