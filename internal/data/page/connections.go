package page

import (
	"slipway/ent"
	"slipway/internal/data/record"
	"slipway/internal/pure/inputprop"
)

// The connections of the API, one for each list.
type (
	OrganizationConnection           = Connection[*ent.Organization]
	OrganizationEdge                 = Edge[*ent.Organization]
	TokenConnection                  = Connection[*ent.Token]
	TokenEdge                        = Edge[*ent.Token]
	ProjectConnection                = Connection[*record.Project]
	ProjectEdge                      = Edge[*record.Project]
	EnvironmentConnection            = Connection[*record.Environment]
	EnvironmentEdge                  = Edge[*record.Environment]
	ModuleDefinitionConnection       = Connection[*record.ModuleDefinition]
	ModuleDefinitionEdge             = Edge[*record.ModuleDefinition]
	ModuleVersionConnection          = Connection[*record.ModuleVersion]
	ModuleVersionEdge                = Edge[*record.ModuleVersion]
	ModuleInstanceConnection         = Connection[*record.ModuleInstance]
	ModuleInstanceEdge               = Edge[*record.ModuleInstance]
	DeploymentConnection             = Connection[*record.Deployment]
	DeploymentEdge                   = Edge[*record.Deployment]
	LogLineConnection                = Connection[*ent.DeploymentLog]
	LogLineEdge                      = Edge[*ent.DeploymentLog]
	AuditEventConnection             = Connection[*ent.AuditEvent]
	AuditEventEdge                   = Edge[*ent.AuditEvent]
	RuleConnection                   = Connection[*ent.Rule]
	RuleEdge                         = Edge[*ent.Rule]
	QuarantineConnection             = Connection[*ent.Quarantine]
	QuarantineEdge                   = Edge[*ent.Quarantine]
	DeploymentReferenceConnection    = Connection[*ent.DeploymentReference]
	DeploymentReferenceEdge          = Edge[*ent.DeploymentReference]
	DefaultValueDefinitionConnection = Connection[*record.DefaultValueDefinition]
	DefaultValueDefinitionEdge       = Edge[*record.DefaultValueDefinition]
	DynamicValueConnection           = Connection[*inputprop.Option]
	DynamicValueEdge                 = Edge[*inputprop.Option]
)
