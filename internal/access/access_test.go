package access_test

import (
	"strings"
	"testing"

	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
)

const (
	ok           = "ok"
	anonymous    = "slipway:Request:UNAUTHENTICATED"
	refused      = "slipway:Project:FORBIDDEN"
	nameAnOrg    = "slipway:Request:INVALID"
	organization = "org_1"
)

// callers are the columns of the table below.
var callers = []*actor.Actor{
	actor.Anonymous(),
	{Name: "t", Role: actor.Viewer, OrganizationID: organization},
	{Name: "t", Role: actor.Developer, OrganizationID: organization},
	{Name: "t", Role: actor.Admin, OrganizationID: organization},
	{Name: "t", Role: actor.Runner, OrganizationID: organization},
	{Name: "t", Role: actor.Superadmin, OrganizationID: organization},
	{Name: "t", Role: actor.Superadmin},
	{Name: "t", Role: actor.System},
	{Name: "t", Role: "owner", OrganizationID: organization},
}

var decisions = map[access.Action][]string{
	//                         anonymous  viewer   developer admin    runner   super in org, super    system owner
	access.ReadCatalog:       {ok, ok, ok, ok, ok, ok, ok, ok, refused},
	access.Read:              {anonymous, ok, ok, ok, ok, ok, nameAnOrg, ok, refused},
	access.CreateInstance:    {anonymous, refused, ok, ok, refused, ok, nameAnOrg, ok, refused},
	access.Deploy:            {anonymous, refused, ok, ok, refused, ok, nameAnOrg, ok, refused},
	access.RunDeployments:    {anonymous, refused, refused, refused, ok, refused, refused, ok, refused},
	access.EditDefaults:      {anonymous, refused, refused, ok, refused, ok, nameAnOrg, ok, refused},
	access.EditModules:       {anonymous, refused, refused, ok, refused, ok, nameAnOrg, ok, refused},
	access.EditGlobalModules: {anonymous, refused, refused, refused, refused, ok, ok, ok, refused},
	access.EditWorkspace:     {anonymous, refused, refused, ok, refused, ok, nameAnOrg, ok, refused},
	access.QuarantineRelease: {anonymous, refused, refused, ok, refused, ok, nameAnOrg, ok, refused},
	access.ManageTokens:      {anonymous, refused, refused, ok, refused, ok, nameAnOrg, ok, refused},
	access.ReadAudit:         {anonymous, refused, refused, ok, refused, ok, nameAnOrg, ok, refused},
}

func TestEveryRoleMayDoWhatTheTableSays(t *testing.T) {
	t.Parallel()
	for action, wants := range decisions {
		for i, caller := range callers {
			got := ok
			if err := access.Check(caller, action, fault.ProjectForbidden); err != nil {
				got = fault.Public(err, fault.View{}).Code
			}
			if got != wants[i] {
				t.Errorf("%q in %q, %s: %s, want %s", caller.Role, caller.OrganizationID, action, got, wants[i])
			}
		}
	}
}

func TestRefusalNamesTheRoleThatAskedAndThoseThatMay(t *testing.T) {
	t.Parallel()
	viewer := &actor.Actor{Role: actor.Viewer, OrganizationID: organization}
	err := access.Check(viewer, access.Deploy, fault.DeploymentForbidden)
	want := "slipway:Deployment:FORBIDDEN: The role viewer may not deploy, roll back, redeploy or cancel; allowed: developer, admin, superadmin."
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestSuperadminInNoOrganizationIsToldToNameOne(t *testing.T) {
	t.Parallel()
	superadmin := &actor.Actor{Role: actor.Superadmin}
	err := access.Check(superadmin, access.Read, fault.RequestForbidden)
	if !fault.Is(err, fault.RequestInvalid) || !strings.Contains(err.Error(), "organizationId") {
		t.Errorf("error %v", err)
	}
	if err := access.Check(superadmin.In(organization), access.Read, fault.RequestForbidden); err != nil {
		t.Errorf("in an organization: %v", err)
	}
}

func TestMistakesOfTheProgramAreNoRefusals(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"no actor": access.Check(nil, access.Read, fault.RequestForbidden),
		"no rule":  access.Check(actor.Anonymous(), "fly", fault.RequestForbidden),
	} {
		if err == nil || fault.Status(err) != 500 || fault.Public(err, fault.View{}).Code != string(fault.ServerInternal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
