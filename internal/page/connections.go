package page

import (
	"slipway/ent"
	"slipway/internal/inputprop"
)

// The connections of the API, one for each list.
type (
	OrganizationConnection           = Connection[*ent.Organization]
	OrganizationEdge                 = Edge[*ent.Organization]
	TokenConnection                  = Connection[*ent.Token]
	TokenEdge                        = Edge[*ent.Token]
	ProjectConnection                = Connection[*ent.Project]
	ProjectEdge                      = Edge[*ent.Project]
	EnvironmentConnection            = Connection[*ent.Environment]
	EnvironmentEdge                  = Edge[*ent.Environment]
	ModuleDefinitionConnection       = Connection[*ent.ModuleDefinition]
	ModuleDefinitionEdge             = Edge[*ent.ModuleDefinition]
	ModuleVersionConnection          = Connection[*ent.ModuleVersion]
	ModuleVersionEdge                = Edge[*ent.ModuleVersion]
	ModuleInstanceConnection         = Connection[*ent.ModuleInstance]
	ModuleInstanceEdge               = Edge[*ent.ModuleInstance]
	DeploymentConnection             = Connection[*ent.Deployment]
	DeploymentEdge                   = Edge[*ent.Deployment]
	AuditEventConnection             = Connection[*ent.AuditEvent]
	AuditEventEdge                   = Edge[*ent.AuditEvent]
	DefaultValueDefinitionConnection = Connection[*ent.DefaultValueDefinition]
	DynamicValueConnection           = Connection[*inputprop.Option]
	DynamicValueEdge                 = Edge[*inputprop.Option]
	DefaultValueDefinitionEdge       = Edge[*ent.DefaultValueDefinition]
)
