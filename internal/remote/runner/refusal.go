package runner

import (
	"errors"
	"net/http"
	"slices"

	"slipway/internal/base/fault"
	"slipway/internal/remote/client"
)

// A server may refuse a request under a lease for one of three reasons: the lease is lost, this runner may not carry
// the deployment out, or what was sent is wrong. Any other error passes, or is somebody else's.

// leaseLost reports whether the server has refused the lease. Nothing else stops a program.
func leaseLost(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.Code == string(fault.DeploymentLeaseLost)
}

// notOurs reports whether the server does not let this runner carry the deployment out: its token is not good for that,
// and another's may be.
func notOurs(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && slices.Contains([]fault.Code{
		fault.DeploymentNotFound, fault.DeploymentForbidden, fault.RequestForbidden, fault.RequestUnauthenticated,
	}, fault.Code(refused.Code))
}

// aboutContent reports whether the server refused the content of a request, and not who sent it or when.
func aboutContent(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && !leaseLost(err) && slices.Contains([]int{
		http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
	}, refused.Status)
}
