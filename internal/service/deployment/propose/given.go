package propose

import (
	"context"
	"strings"

	"slipway/ent"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/record"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/service/inputvalidation"
)

// insertGiven writes what was given for the inputs of a new deployment, and the references in it.
func (s *Service) insertGiven(ctx context.Context, tx *ent.Tx, d *ent.Deployment, p *prepared) error {
	given := &ent.GivenInput{OrganizationID: d.OrganizationID, DeploymentID: d.ID, Content: string(p.Inputs.JSON())}
	if err := record.Insert(ctx, tx, given); err != nil || len(p.references) == 0 {
		return err
	}
	insert := insertReferencesSQLite
	if s.Store.Postgres() {
		insert = insertReferencesPostgres
	}
	rows := string(strictjson.Encode(referenceRows(p.references)))
	_, err := tx.ExecContext(ctx, insert, d.OrganizationID, d.ID, d.ModuleInstanceID, rows)
	return err
}

// The statements that write the references of a deployment, all of them by one argument, because there may be more than
// a statement may have arguments.
const (
	insertReferences = `INSERT INTO "deployment_references" ("organization_id", "deployment_id", "referrer_id",
"sequence", "pointer", "module_instance_id", "read_deployment_id", "paths", "digest") `

	insertReferencesPostgres = insertReferences +
		`SELECT $1, $2, $3, "r"."sequence", "r"."pointer", "r"."instance", "r"."live", "r"."paths", "r"."digest"
FROM json_to_recordset(CAST(CAST($4 AS text) AS json)) AS "r" ("sequence" bigint, "pointer" text, "instance" text,
"live" text, "paths" json, "digest" text)`

	insertReferencesSQLite = insertReferences +
		`SELECT $1, $2, $3, "r"."value" ->> 'sequence', "r"."value" ->> 'pointer', "r"."value" ->> 'instance',
"r"."value" ->> 'live', "r"."value" -> 'paths', "r"."value" ->> 'digest' FROM json_each($4) AS "r"`
)

// referenceRow is a reference as it is written.
type referenceRow struct {
	Sequence int32    `json:"sequence"`
	Pointer  string   `json:"pointer"`
	Instance string   `json:"instance"`
	Live     *string  `json:"live,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	Digest   *string  `json:"digest,omitempty"`
}

func referenceRows(references []inputvalidation.Reference) []referenceRow {
	rows := make([]referenceRow, len(references))
	for i, r := range references {
		// The key of a map may have the one character that PostgreSQL's texts have not.
		pointer := strings.ReplaceAll(r.Pointer, "\x00", "\uFFFD")
		rows[i] = referenceRow{Sequence: int32(i + 1), Pointer: pointer, Instance: r.InstanceID, Live: r.LiveDeploymentID}
		if len(r.Read) == 0 {
			continue
		}
		for _, read := range r.Read {
			rows[i].Paths = append(rows[i].Paths, read.Path)
		}
		rows[i].Digest = new(inputvalues.Digest(r.Read))
	}
	return rows
}
