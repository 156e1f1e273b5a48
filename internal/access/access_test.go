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
	needed       = "slipway:Request:ORGANIZATION_NEEDED"
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
	{Name: "t", Role: actor.Superadmin, Globally: true},
	{Name: "t", Role: actor.System},
	{Name: "t", Role: "owner", OrganizationID: organization},
}

var decisions = map[access.Action][]string{
	//                         anonymous  viewer   developer admin    runner   super in org, super, super on global, system owner
	access.ListCatalog:       {ok, ok, ok, ok, ok, ok, ok, ok, ok, refused},
	access.Read:              {anonymous, ok, ok, ok, ok, ok, needed, needed, ok, refused},
	access.CreateInstance:    {anonymous, refused, ok, ok, refused, ok, needed, needed, ok, refused},
	access.Deploy:            {anonymous, refused, ok, ok, refused, ok, needed, needed, ok, refused},
	access.RunDeployments:    {anonymous, refused, refused, refused, ok, refused, needed, needed, ok, refused},
	access.EditDefaults:      {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.EditModules:       {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.EditGlobalModules: {anonymous, refused, refused, refused, refused, needed, needed, ok, ok, refused},
	access.EditWorkspace:     {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.QuarantineRelease: {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.ManageTokens:      {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.ReadAudit:         {anonymous, refused, refused, ok, refused, ok, ok, ok, ok, refused},
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
	for want, err := range map[string]error{
		"The role superadmin acts in no organization by itself; name the one to read in.":                     access.Check(superadmin, access.Read, fault.RequestForbidden),
		"What is global is no organization; name the one to read in.":                                         access.Check(superadmin.InGlobal(), access.Read, fault.RequestForbidden),
		"To change global module definitions, name global; otherwise name the organization that it is about.": access.Check(superadmin, access.EditGlobalModules, fault.RequestForbidden),
	} {
		shown := fault.Public(err, fault.View{})
		if shown.Code != needed || shown.Message != want || !strings.Contains(shown.Description, "Slipway-Organization") {
			t.Errorf("%+v, want %s", shown, want)
		}
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
