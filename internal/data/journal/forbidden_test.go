package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/access"
	"slipway/internal/test/worldtest"
)

// needs has the permission that each mutation takes.
var needs = map[string]access.Action{
	"createDefaultValueDefinition": access.ManageDefaults, "updateDefaultValueDefinition": access.ManageDefaults, "deleteDefaultValueDefinition": access.ManageDefaults,
	"createModuleDefinition": access.ManageModules, "updateModuleDefinition": access.ManageModules, "publishModuleVersion": access.PublishModules,
	"deprecateModuleVersion": access.ManageModules, "undeprecateModuleVersion": access.ManageModules,
	"createToken": access.ManageTokens, "revokeToken": access.ManageTokens, "createOrganization": access.ManageOrganizations,
	"createProject": access.ManageWorkspace, "createEnvironment": access.ManageWorkspace, "createModuleInstance": access.CreateInstances,
	"updateProject": access.ManageWorkspace, "deleteProject": access.ManageWorkspace, "archiveProject": access.ManageWorkspace, "unarchiveProject": access.ManageWorkspace,
	"updateEnvironment": access.ManageWorkspace, "deleteEnvironment": access.ManageWorkspace, "archiveEnvironment": access.ManageWorkspace, "unarchiveEnvironment": access.ManageWorkspace,
	"updateModuleInstance": access.ManageInstances, "deleteModuleInstance": access.ManageInstances, "archiveModuleInstance": access.ManageInstances, "unarchiveModuleInstance": access.ManageInstances,
	"createDeployment": access.Deploy, "rollbackDeployment": access.Deploy, "redeployDeployment": access.Deploy, "cancelDeployment": access.Deploy,
	"promoteDeployment": access.Deploy, "approveDeployment": access.Deploy, "rejectDeployment": access.Deploy, "startDeployment": access.Deploy,
	"createRule": access.ManageRules, "updateRule": access.ManageRules, "endRule": access.ManageRules,
	"quarantineRelease": access.QuarantineReleases, "unquarantineRelease": access.QuarantineReleases, "moveService": access.MoveServices, "destroyModuleInstance": access.DestroyInstances,
	"claimDeployment": access.RunDeployments, "renewLease": access.RunDeployments, "reportDeployment": access.RunDeployments,
	"completeDeployment": access.RunDeployments,
}

func TestAMutationIsForThoseWhoHaveItsPermission(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t)
	for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Admin, actor.Runner} {
		w := worldtest.New(t, worldtest.SQLite(t))
		for _, field := range schema.Mutation.Fields {
			m, action := mutations[field.Name], needs[field.Name]
			if m.input == nil || action == "" {
				t.Errorf("%s: no case", field.Name)
				continue
			}
			input := m.input(t, w, w.Fixture(t, w.Acme, field.Name))
			before := len(noted(t, w))
			query := fmt.Sprintf(`mutation($input: %s) { m: %s(input: $input) { __typename } }`, field.Arguments[0].Type, field.Name)
			r := w.GraphQL(t, w.Acme.Tokens[role], query, in{"input": input})
			may := access.CheckRole(&actor.Actor{Role: role, OrganizationID: w.Acme.ID}, action, fault.RequestForbidden) == nil
			switch refused := strings.HasSuffix(r.Code(t), ":FORBIDDEN"); {
			case may == refused:
				t.Errorf("%s by %s: %s", field.Name, role, r.Body)
			case refused && !strings.Contains(string(r.Body), fmt.Sprintf("cannot %s;", action)):
				t.Errorf("%s by %s is refused for want of another permission than to %s: %s", field.Name, role, action, r.Body)
			case refused && len(noted(t, w)) != before:
				t.Errorf("%s by %s is refused, and leaves an event", field.Name, role)
			}
			cancelAll(t, w)
		}
	}
}
