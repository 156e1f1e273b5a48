package data

import (
	"fmt"
	"time"

	"slipway/internal/base/id"
	"slipway/internal/pure/ecs"
)

// largeEvery is the share of the large environment: one deployment in so many.
const largeEvery = 5

// Deployment is one deployment.
type Deployment struct {
	Number      int
	Environment int
	// Place is how many deployments of its environment are older.
	Place int
}

// Deployment returns the deployment with a number; a greater one is newer.
func (w World) Deployment(number int) Deployment {
	block, rest := number/largeEvery, number%largeEvery
	if rest == largeEvery-1 {
		return Deployment{Number: number, Environment: 0, Place: block}
	}
	other := block*(largeEvery-1) + rest
	return Deployment{Number: number, Environment: 1 + other%(Environments-1), Place: other / (Environments - 1)}
}

// At returns the deployment at a place of an environment.
func (w World) At(environment, place int) Deployment {
	if environment == 0 {
		return Deployment{Number: place*largeEvery + largeEvery - 1, Place: place}
	}
	other := place*(Environments-1) + environment - 1
	number := other/(largeEvery-1)*largeEvery + other%(largeEvery-1)
	return Deployment{Number: number, Environment: environment, Place: place}
}

// Of returns how many deployments an environment has.
func (w World) Of(environment int) int {
	large := w.Deployments / largeEvery
	if environment == 0 {
		return large
	}
	return (w.Deployments - large - environment + Environments - 1) / (Environments - 1)
}

// First returns the first deployment of an instance, which has succeeded, and false if it has none.
func (w World) First(i Instance) (Deployment, bool) {
	return w.At(i.Environment, i.Index), i.Index < w.Of(i.Environment)
}

// Live returns the live deployment of an instance, and false if it has none.
func (w World) Live(i Instance) (Deployment, bool) {
	newest := w.Of(i.Environment) - 1
	if newest < i.Index {
		return Deployment{}, false
	}
	for place := newest - (newest-i.Index)%InstancesPerEnvironment; place >= i.Index; place -= InstancesPerEnvironment {
		if d := w.At(i.Environment, place); d.Succeeded() {
			return d, true
		}
	}
	return Deployment{}, false
}

// ID returns its id.
func (d Deployment) ID() string { return ID(id.Deployment, d.Number) }

// Instance returns what is deployed.
func (d Deployment) Instance() Instance {
	return Instance{Environment: d.Environment, Index: d.Place % InstancesPerEnvironment}
}

// isFirst reports whether its instance has no older one.
func (d Deployment) isFirst() bool { return d.Place < InstancesPerEnvironment }

// Succeeded reports whether it has; one in seven has failed.
func (d Deployment) Succeeded() bool { return d.isFirst() || d.Number%7 != 0 }

// Status returns its status.
func (d Deployment) Status() string {
	if d.Succeeded() {
		return "SUCCEEDED"
	}
	return "FAILED"
}

// RollbackTo returns what it rolls back to, which is no rollback itself, and false if it does not: that is one in
// five.
func (d Deployment) RollbackTo() (Deployment, bool) {
	if d.isFirst() || (d.Place+d.Place/InstancesPerEnvironment)%5 != 3 {
		return Deployment{}, false
	}
	var w World
	if before := w.At(d.Environment, d.Place-InstancesPerEnvironment); before.Succeeded() {
		return before, true
	}
	return w.At(d.Environment, d.Place%InstancesPerEnvironment), true
}

// TriggerSource returns what started it.
func (d Deployment) TriggerSource() string {
	if _, ok := d.RollbackTo(); ok {
		return "rollback"
	}
	return "api"
}

// release returns which of the releases of its instance it ships: they take turns, and a rollback ships that of its
// target.
func (d Deployment) release() int {
	if target, ok := d.RollbackTo(); ok {
		return target.release()
	}
	return d.Place / InstancesPerEnvironment % releasesPerInstance
}

// Version returns the version of the module that it ships.
func (d Deployment) Version() string { return versions[d.release()] }

// Description returns its description.
func (d Deployment) Description() string {
	if target, ok := d.RollbackTo(); ok {
		return fmt.Sprintf("Rollback to %s: version %s, succeeded at %s, started by %s", target.ID(), target.Version(),
			target.CompletedAt().Format(time.RFC3339), target.CreatedBy())
	}
	return fmt.Sprintf("Ships build %d with the change that was reviewed", d.Number)
}

// CreatedBy returns the name of who started it.
func (d Deployment) CreatedBy() string { return TokenName(OrganizationOf(d.Environment)) }

// CreatedAt is when it was created.
func (d Deployment) CreatedAt() time.Time {
	return epoch.Add(time.Duration(d.Number)*10*time.Second + time.Duration(d.Number*7919%1_000_000)*time.Microsecond)
}

// StartedAt is when it was claimed.
func (d Deployment) StartedAt() time.Time { return d.CreatedAt().Add(1500 * time.Millisecond) }

// CompletedAt is when it ended.
func (d Deployment) CompletedAt() time.Time {
	return d.CreatedAt().Add(3*time.Minute + 250*time.Millisecond)
}

// ResourceName returns the name of the service that it deploys.
func (d Deployment) ResourceName() string {
	return fmt.Sprintf("service-%d", d.Instance().Number())
}

// DeploymentType is that of every deployment.
const DeploymentType = ecs.Type
