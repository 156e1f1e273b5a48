package graph

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/ent/defaultvaluedefinition"
	"slipway/ent/deployment"
	"slipway/ent/environment"
	"slipway/ent/moduledefinition"
	"slipway/ent/moduleinstance"
	"slipway/ent/moduleversion"
	"slipway/ent/project"
	"slipway/ent/release"
	"slipway/internal/data/record"
	"slipway/internal/service/deployment/releases"
)

// table is what of the database a type of the schema shows.
type table struct {
	name    string
	columns []string
}

// tables are those of the types whose records are read with the columns that an operation selects.
var tables = map[string]table{
	"Project":                {project.Table, project.Columns},
	"Environment":            {environment.Table, environment.Columns},
	"ModuleDefinition":       {moduledefinition.Table, moduledefinition.Columns},
	"ModuleVersion":          {moduleversion.Table, moduleversion.Columns},
	"ModuleInstance":         {moduleinstance.Table, moduleinstance.Columns},
	"Release":                {release.Table, release.Columns},
	"Deployment":             {deployment.Table, deployment.Columns},
	"DefaultValueDefinition": {defaultvaluedefinition.Table, defaultvaluedefinition.Columns},
}

// fieldColumns are the columns that a field needs which is not a column itself: nothing but the id for lists and for
// what goes by it, the reference for an edge. Any other field that is no column has its record read whole.
var fieldColumns = map[string][]string{
	"Project.environments":                 {},
	"Project.deployments":                  {},
	"Environment.project":                  {environment.FieldProjectID},
	"Environment.moduleInstances":          {},
	"Environment.deployments":              {},
	"ModuleDefinition.latestModuleVersion": {moduledefinition.FieldLatestVersionID},
	"ModuleDefinition.versions":            {},
	"ModuleDefinition.moduleInstances":     {},
	"ModuleVersion.liveModuleInstances":    {},
	"ModuleDefinition.deployments":         {},
	"Project.viewerPermissions":            {},
	"Project.instanceCounts":               {},
	"Project.deploymentStatistics":         {},
	"Environment.instanceCounts":           {},
	"Environment.deploymentStatistics":     {},
	"Environment.viewerPermissions":        {environment.FieldProjectID},
	"ModuleDefinition.viewerPermissions":   {moduledefinition.FieldOrganizationID},
	"ModuleVersion.deploymentType":         {moduleversion.FieldKind},
	"ModuleVersion.moduleDefinition":       {moduleversion.FieldModuleDefinitionID},
	"ModuleVersion.inputsJson":             {moduleversion.FieldInputs},
	"ModuleVersion.deprecation": {
		moduleversion.FieldDeprecatedAt, moduleversion.FieldDeprecatedBy, moduleversion.FieldDeprecatedByActor,
		moduleversion.FieldDeprecationReason, moduleversion.FieldSuccessorID,
	},
	"ModuleInstance.project":              {moduleinstance.FieldProjectID},
	"ModuleInstance.environment":          {moduleinstance.FieldEnvironmentID},
	"ModuleInstance.moduleDefinition":     {moduleinstance.FieldModuleDefinitionID},
	"ModuleInstance.liveDeployment":       {moduleinstance.FieldLiveDeploymentID},
	"ModuleInstance.outputs":              {moduleinstance.FieldLiveDeploymentID},
	"ModuleInstance.externalDeployment":   {moduleinstance.FieldExternalDeploymentID},
	"ModuleInstance.activeDeployment":     {},
	"ModuleInstance.lastDeployment":       {},
	"ModuleInstance.previousDeployment":   {},
	"ModuleInstance.deploymentCounts":     {},
	"ModuleInstance.deployments":          {},
	"ModuleInstance.deploymentStatistics": {},
	"ModuleInstance.destroyEligibility":   {},
	"ModuleInstance.drift": {
		moduleinstance.FieldDriftKind, moduleinstance.FieldDriftSince, moduleinstance.FieldDriftMessage,
		moduleinstance.FieldDriftDeploymentID,
	},
	"ModuleInstance.dependents":             {},
	"ModuleInstance.outdatedReferences":     {},
	"Release.moduleVersion":                 {release.FieldModuleVersionID},
	"Release.inputs":                        {release.FieldDigest, release.FieldContent},
	"Release.artifact":                      {release.FieldDigest, release.FieldContent},
	"Release.quarantine":                    {},
	"Release.quarantines":                   {},
	"Release.deployments":                   {},
	"Deployment.project":                    {deployment.FieldProjectID},
	"Deployment.environment":                {deployment.FieldEnvironmentID},
	"Deployment.moduleInstance":             {deployment.FieldModuleInstanceID},
	"Environment.rules":                     {},
	"Environment.requirements":              {},
	"ModuleInstance.promotable":             {},
	"Deployment.requirements":               {},
	"Deployment.approvals":                  {},
	"Deployment.approveEligibility":         {},
	"Deployment.startEligibility":           {},
	"Deployment.changesFromLive":            releases.LiveColumns,
	"Deployment.waitingFor":                 {},
	"Deployment.automaticRollback":          {},
	"Deployment.createdBy":                  {deployment.FieldCreatedBy, deployment.FieldCreatedByActor},
	"Deployment.runner":                     {deployment.FieldRunner, deployment.FieldRunnerActor},
	"Deployment.cancelRequestedBy":          {deployment.FieldCancelRequestedBy, deployment.FieldCancelRequestedByActor},
	"Deployment.promotedFrom":               {deployment.FieldPromotedFrom},
	"Deployment.promotedFromDeploymentId":   {deployment.FieldPromotedFrom},
	"Deployment.afterFailureOf":             {deployment.FieldAfterFailureOf},
	"Deployment.afterFailureOfDeploymentId": {deployment.FieldAfterFailureOf},
	"Deployment.redeployOf":                 {deployment.FieldRedeployOfDeploymentID},
	"Deployment.rollbackTo":                 {deployment.FieldRollbackToDeploymentID},
	"Deployment.dataJson":                   {deployment.FieldData},
	"Deployment.release":                    {deployment.FieldReleaseID},
	"Deployment.fence":                      {deployment.FieldFence, deployment.FieldLeaseID},
	"Deployment.events":                     {deployment.FieldData, deployment.FieldEvents},
	"Deployment.action":                     {deployment.FieldTriggerSource},
	"Deployment.operation":                  {deployment.FieldTriggerSource},
	"Deployment.moduleVersion":              {deployment.FieldModuleVersionID},
	"Deployment.logs":                       {},
	"Deployment.foldedLogBytes":             {deployment.FieldFoldedLogBytes},
	"Deployment.rollbackEligibility":        {},
	"Deployment.redeployEligibility":        {},
	"Deployment.cancelEligibility": {
		deployment.FieldProjectID, deployment.FieldEnvironmentID, deployment.FieldStatus, deployment.FieldTriggerSource,
		deployment.FieldLeaseExpiresAt, deployment.FieldCancelRequestedAt,
	},
	"Deployment.lineage":                {},
	"Deployment.outputs":                {},
	"Deployment.givenInputs":            {deployment.FieldGivenFrom},
	"Deployment.references":             {deployment.FieldGivenFrom},
	"DefaultValueDefinition.schemaJson": {defaultvaluedefinition.FieldSchema},
}

// followed are the columns by which a subscription knows what has changed, besides those that it selects.
var followed = []string{deployment.FieldVersion, deployment.FieldCompletedAt}

// selectColumns returns the columns that an operation needs, of each type that it selects anything of.
func selectColumns(schema *ast.Schema, op *ast.OperationDefinition) *record.Columns {
	s := selection{schema, map[string][]string{}, map[string]bool{}, map[string][]ast.SelectionSet{}}
	if op.Operation == ast.Subscription {
		s.of["Deployment"] = slices.Clone(followed)
	}
	s.add(op.SelectionSet)
	of := make(map[string][]string, len(s.of))
	for name, columns := range s.of {
		if !slices.Contains(columns, everyColumn) {
			of[tables[name].name] = columns
		}
	}
	columns := record.NewColumns(of)
	for name, priced := range pricedColumns {
		table := tables[name].name
		at := slices.IndexFunc(priced, func(p pricedColumn) bool { return s.pricesEach(name, p) })
		if of[table] != nil && at >= 0 {
			columns.Charging(table, priced[at].kind, priced[at].column)
		}
	}
	return columns
}

// selection is the columns that were found so far, by the name of the type, the fragments that were looked at, and what
// is selected of the records of a type, each time that some are.
type selection struct {
	schema *ast.Schema
	of     map[string][]string
	seen   map[string]bool
	places map[string][]ast.SelectionSet
}

// everyColumn stands for all columns of a type.
const everyColumn = "*"

func (s selection) add(set ast.SelectionSet) {
	for _, selected := range set {
		switch selected := selected.(type) {
		case *ast.Field:
			s.addField(selected)
			s.addPlace(selected)
			s.addConnection(selected)
			s.add(selected.SelectionSet)
		case *ast.InlineFragment:
			s.add(selected.SelectionSet)
		case *ast.FragmentSpread:
			if !s.seen[selected.Name] {
				s.seen[selected.Name] = true
				s.add(selected.Definition.SelectionSet)
			}
		}
	}
}

// addField adds the columns of a field, of each type that it may be a field of.
func (s selection) addField(f *ast.Field) {
	for _, of := range s.schema.GetPossibleTypes(f.ObjectDefinition) {
		t, ok := tables[of.Name]
		if !ok {
			continue
		}
		s.of[of.Name] = append(s.of[of.Name], t.columnsOf(of.Name, f.Name)...)
	}
}

// addConnection adds the type of a connection's records, of which nothing but their cursors may be selected.
func (s selection) addConnection(f *ast.Field) {
	nodes := s.schema.Types[f.Definition.Type.Name()].Fields.ForName("nodes")
	if nodes == nil {
		return
	}
	of := nodes.Type.Name()
	if _, ok := tables[of]; ok {
		s.of[of] = append(s.of[of], deployment.FieldID) // which every table has
		if !selects(f.SelectionSet, "nodes") && !selects(f.SelectionSet, "edges", "node") {
			s.places[of] = append(s.places[of], nil)
		}
	}
}

// columnsOf returns the columns that a field of a type needs.
func (t table) columnsOf(typeName, field string) []string {
	if columns, ok := fieldColumns[typeName+"."+field]; ok {
		return columns
	}
	if field == "__typename" {
		return nil
	}
	if column := columnName(field); slices.Contains(t.columns, column) {
		return []string{column}
	}
	return []string{everyColumn}
}

// columnName returns the name that a field has as a column.
func columnName(field string) string {
	var b strings.Builder
	for _, r := range field {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// withColumns returns a context in which records are read with the columns that the operation needs.
func withColumns(ctx context.Context) context.Context {
	if p := preparedOf(graphql.GetOperationContext(ctx)); p != nil {
		return record.WithColumns(ctx, p.columns)
	}
	return ctx
}
