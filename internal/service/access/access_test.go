package access_test

import (
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/access"
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
	access.ReadCatalog:         {ok, ok, ok, ok, ok, ok, ok, ok, ok, refused},
	access.Read:                {anonymous, ok, ok, ok, ok, ok, needed, needed, ok, refused},
	access.CreateInstances:     {anonymous, refused, ok, ok, refused, ok, needed, needed, ok, refused},
	access.OverrideRules:       {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.ManageRules:         {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.Deploy:              {anonymous, refused, ok, ok, refused, ok, needed, needed, ok, refused},
	access.ForceCancel:         {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.DestroyInstances:    {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.RunDeployments:      {anonymous, refused, refused, refused, ok, refused, needed, needed, ok, refused},
	access.ManageDefaults:      {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.PublishModules:      {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused}, // developers only with a scope
	access.ManageModules:       {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.ManageGlobalModules: {anonymous, refused, refused, refused, refused, needed, needed, ok, ok, refused},
	access.ManageWorkspace:     {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.ManageInstances:     {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.QuarantineReleases:  {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.MoveServices:        {anonymous, refused, refused, ok, refused, ok, needed, needed, ok, refused},
	access.ReadTokens:          {anonymous, refused, refused, ok, refused, ok, ok, ok, ok, refused},
	access.ManageTokens:        {anonymous, refused, refused, ok, refused, ok, needed, ok, ok, refused},
	access.ManageOrganizations: {anonymous, refused, refused, refused, refused, needed, needed, ok, ok, refused},
	access.ReadAudit:           {anonymous, refused, refused, ok, refused, ok, ok, ok, ok, refused},
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

// places are the columns of the table below: in a scoped project, in a scoped environment of another project, in
// another environment of that project, that project itself, and what all of the organization shares.
var places = []actor.Place{
	{ProjectID: "prj_in", EnvironmentID: "env_any"}, {ProjectID: "prj_out", EnvironmentID: "env_in"},
	{ProjectID: "prj_out", EnvironmentID: "env_out"}, {ProjectID: "prj_out"}, {},
}

func TestAScopeBoundsWhatChangesSomething(t *testing.T) {
	t.Parallel()
	scope := &actor.Scope{Projects: []string{"prj_in"}, Environments: []string{"env_in"}}
	reading := []access.Action{access.ReadCatalog, access.Read, access.ReadTokens, access.ReadAudit}
	notInPlaces := []access.Action{access.ManageDefaults, access.ManageModules, access.PublishModules}
	for action, wants := range decisions {
		for i, caller := range callers[1:5] { // the roles of an organization
			if wants[i+1] != ok {
				continue
			}
			scoped, nowhere := *caller, *caller
			scoped.Scope, nowhere.Scope = scope, &actor.Scope{}
			for j, in := range places {
				reads, inPlaces := slices.Contains(reading, action), !slices.Contains(notInPlaces, action)
				for _, c := range []struct {
					a    *actor.Actor
					want bool
				}{{caller, true}, {&scoped, reads || inPlaces && j < 2}, {&nowhere, reads}} {
					err := access.CheckIn(c.a, action, in, fault.ProjectForbidden)
					if (err == nil) != c.want || err != nil && !fault.Is(err, fault.ProjectForbidden) {
						t.Errorf("%s with %v, %s in %v: %v", c.a.Role, c.a.Scope, action, in, err)
					}
				}
			}
		}
	}
}

func TestAScopeThatNamesAModuleAllowsToPublishItAndNothingElse(t *testing.T) {
	t.Parallel()
	scope := &actor.Scope{Projects: []string{}, Environments: []string{}, ModuleDefinitions: []string{"mod_in"}}
	for role, may := range map[actor.Role]bool{actor.Viewer: false, actor.Developer: true, actor.Admin: true, actor.Runner: false} {
		scoped := &actor.Actor{Name: "ci", Role: role, OrganizationID: organization, Scope: scope}
		for action := range decisions {
			for in, named := range map[actor.Place]bool{
				{ModuleDefinitionID: "mod_in"}: true, {ModuleDefinitionID: "mod_out"}: false, {}: false,
				{ProjectID: "prj_1", EnvironmentID: "env_1"}: false,
			} {
				reads := slices.Contains([]access.Action{access.ReadCatalog, access.Read, access.ReadTokens, access.ReadAudit}, action)
				want := named && may && (action == access.PublishModules || action == access.ManageTokens && role == actor.Admin)
				err := access.CheckIn(scoped, action, in, fault.ModuleDefinitionForbidden)
				if !reads && (err == nil) != want {
					t.Errorf("%s, %s in %v: %v", role, action, in, err)
				}
			}
		}
		want := []access.Action{access.Read, access.ReadCatalog}
		if may {
			want = append([]access.Action{access.PublishModules}, want...)
		}
		if got := access.Permissions(scoped); role != actor.Admin && !slices.Equal(got, want) {
			t.Errorf("%s: %q", role, got)
		}
		if got := access.PermissionsOn(scoped, "mod_in", false); slices.Contains(got, access.PublishModules) != may || slices.Contains(got, access.ManageModules) {
			t.Errorf("%s on the module: %q", role, got)
		}
		if got := access.PermissionsOn(scoped, "mod_in", true); !slices.Equal(got, []access.Action{access.ReadCatalog}) {
			t.Errorf("%s on a global module: %q", role, got)
		}
	}
	developer := &actor.Actor{Role: actor.Developer, OrganizationID: organization}
	err := access.Check(developer, access.PublishModules, fault.ModuleDefinitionForbidden)
	want := "slipway:ModuleDefinition:FORBIDDEN: The role developer cannot publish versions of module definitions; allowed: admin, superadmin; with a scope that names them: developer."
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestPermissionsInAPlaceAreThoseOfItsRecords(t *testing.T) {
	t.Parallel()
	inPlaces := []access.Action{access.DestroyInstances, access.ForceCancel, access.CreateInstances, access.Deploy, access.OverrideRules}
	admin := &actor.Actor{Role: actor.Admin, OrganizationID: organization, Scope: &actor.Scope{Projects: []string{"prj_in"}}}
	for in, may := range map[actor.Place]bool{{ProjectID: "prj_in"}: true, {ProjectID: "prj_in", EnvironmentID: "env_1"}: true, {ProjectID: "prj_out"}: false} {
		got := access.PermissionsIn(admin, in)
		for _, action := range inPlaces {
			if slices.Contains(got, action) != may {
				t.Errorf("%v: %q", in, got)
			}
		}
		for _, action := range []access.Action{access.ManageDefaults, access.ManageModules, access.ReadCatalog, access.ManageTokens, access.ReadAudit} {
			if slices.Contains(got, action) {
				t.Errorf("%q is not of a place: %q", action, got)
			}
		}
		if !slices.Contains(got, access.Read) || !slices.IsSorted(got) {
			t.Errorf("%v: %q", in, got)
		}
	}
}

func TestRefusalOfAPlaceNamesItAndTheScope(t *testing.T) {
	t.Parallel()
	scoped := &actor.Actor{Role: actor.Developer, OrganizationID: organization, Scope: &actor.Scope{
		Projects: []string{"prj_1", "prj_2"}, Environments: []string{"env_1", "env_2"},
	}}
	for in, want := range map[actor.Place]string{
		{ProjectID: "prj_3", EnvironmentID: "env_3"}: "the environment env_3 of the project prj_3 is not within it.",
		{ProjectID: "prj_3"}:                         "the project prj_3 is not within it.",
		{}:                                           "the whole organization is not within it.",
	} {
		data := fault.Public(access.CheckIn(scoped, access.Deploy, in, fault.DeploymentForbidden), fault.View{})
		if got := "The token may deploy, promote, roll back, redeploy, approve or cancel only within its scope, prj_1, prj_2, env_1 and 1 more; " + want; data.Message != got {
			t.Errorf("%q, want %q", data.Message, got)
		}
		if len(data.Details) != 1 || !slices.Equal(data.Details[0].Items, []string{"prj_1", "prj_2", "env_1", "env_2"}) {
			t.Errorf("details %v", data.Details)
		}
	}
}

func TestNobodyGivesMoreThanHeHas(t *testing.T) {
	t.Parallel()
	may := map[actor.Role][]actor.Role{
		actor.Admin: {actor.Viewer, actor.Developer, actor.Admin, actor.Runner}, actor.Superadmin: actor.Roles,
	}
	for _, by := range actor.Roles {
		for _, role := range append(actor.Roles, actor.System, "owner", "") {
			err := access.CheckGiven(&actor.Actor{Role: by}, role, fault.TokenForbidden)
			if want := slices.Contains(may[by], role); (err == nil) != want || err != nil && !fault.Is(err, fault.TokenForbidden) {
				t.Errorf("%s gives %q: %v", by, role, err)
			}
		}
	}
}

func TestPermissionsAreWhatTheTableAllowsSomewhere(t *testing.T) {
	t.Parallel()
	notThere := []access.Action{access.ManageDefaults, access.ManageModules, access.PublishModules}
	for i, caller := range callers {
		var want, scopedWant []access.Action
		for action, wants := range decisions {
			if wants[i] == ok {
				want = append(want, action)
				if !slices.Contains(notThere, action) {
					scopedWant = append(scopedWant, action)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(scopedWant)
		if got := access.Permissions(caller); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", caller.Role, got, want)
		}
		if caller.OrganizationID == "" || caller.Role == actor.Superadmin {
			continue
		}
		scoped := *caller
		scoped.Scope = &actor.Scope{Projects: []string{"prj_1"}}
		if got := access.Permissions(&scoped); !slices.Equal(got, scopedWant) {
			t.Errorf("%q with a scope: %v, want %v", caller.Role, got, scopedWant)
		}
	}
}

func TestRefusalNamesTheRoleThatAskedAndThoseThatMay(t *testing.T) {
	t.Parallel()
	viewer := &actor.Actor{Role: actor.Viewer, OrganizationID: organization}
	err := access.Check(viewer, access.Deploy, fault.DeploymentForbidden)
	want := "slipway:Deployment:FORBIDDEN: The role viewer cannot deploy, promote, roll back, redeploy, approve or cancel; allowed: developer, admin, superadmin."
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestSuperadminInNoOrganizationIsToldToNameOne(t *testing.T) {
	t.Parallel()
	superadmin := &actor.Actor{Role: actor.Superadmin}
	for want, err := range map[string]error{
		"The role superadmin acts in no organization by itself; name the one to read in.":                     access.Check(superadmin, access.Read, fault.RequestForbidden),
		"Global is not an organization; name the one to read in.":                                             access.Check(superadmin.InGlobal(), access.Read, fault.RequestForbidden),
		"To change global module definitions, name global; otherwise name the organization that it is about.": access.Check(superadmin, access.ManageGlobalModules, fault.RequestForbidden),
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
