package access_test

import (
	"fmt"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/access"
)

// A decision is about a role, an action and a place; the refusal says who may.
func Example() {
	viewer := &actor.Actor{ID: "tok_1", Name: "ci", Role: actor.Viewer, OrganizationID: "org_1"}
	fmt.Println(access.Check(viewer, access.Read, fault.DeploymentForbidden) == nil)
	fmt.Println(access.Check(viewer, access.Deploy, fault.DeploymentForbidden))
	// Output:
	// true
	// slipway:Deployment:FORBIDDEN: The role viewer cannot deploy, promote, roll back, redeploy, approve or cancel; allowed: developer, admin, superadmin.
}
