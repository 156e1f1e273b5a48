// Package data has the rows that the benchmark runs on. What each row has follows from its number, so that whoever
// sends requests knows the right answers without asking the database.
//
// A fifth of the deployments is in one large environment, number 0; the others take turns. The deployments of an
// environment take turns over its instances. The first of each instance has succeeded, and all have ended: an instance
// can be rolled back to its first deployment at any time.
package data

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/edge/auth"
)

// How many records there are beside the deployments.
const (
	Organizations           = 50
	Projects                = 200
	Environments            = 1000
	InstancesPerEnvironment = 20
	Instances               = Environments * InstancesPerEnvironment
	Definitions             = 1000
	// GlobalDefinitions are the first ones; the others are the organizations'.
	GlobalDefinitions = 100
	// TokensOfLarge are the tokens of the organization that has the large environment; any other has one.
	TokensOfLarge = 16
)

// World is all rows.
type World struct {
	// Deployments is how many there are.
	Deployments int
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ID returns the id of the record with a number.
func ID(k id.Kind, number int) string { return fmt.Sprintf("%s_%026d", k, number) }

// Token returns a token of an organization. Only that of the large environment has more than the one with number 0.
func Token(organization, number int) auth.Secret {
	secret, err := auth.Generate(
		actor.Developer, &stream{seed: fmt.Sprintf("token %d of organization %d", number, organization)},
	)
	if err != nil {
		panic(err) // neither the role nor the stream can fail
	}
	return secret
}

// stream is an endless source of bytes that are the same for the same seed.
type stream struct {
	seed  string
	block uint64
}

var _ io.Reader = (*stream)(nil)

func (s *stream) Read(p []byte) (n int, err error) {
	for n < len(p) {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(s.seed), s.block))
		s.block++
		n += copy(p[n:], sum[:])
	}
	return n, nil
}

// OrganizationOf returns the organization of an environment.
func OrganizationOf(environment int) int { return environment % Organizations }

// ProjectOf returns the project of an environment.
func ProjectOf(environment int) int { return environment % Projects }

// EnvironmentsOf returns the environments of a project, in their order.
func EnvironmentsOf(project int) (all []int) {
	for e := project; e < Environments; e += Projects {
		all = append(all, e)
	}
	return all
}

// Instance is a module instance.
type Instance struct{ Environment, Index int }

// InstanceOf returns the instance with a number.
func InstanceOf(number int) Instance {
	return Instance{Environment: number % Environments, Index: number / Environments}
}

// Number returns the number of an instance.
func (i Instance) Number() int { return i.Index*Environments + i.Environment }

// ID returns the id of an instance.
func (i Instance) ID() string { return ID(id.ModuleInstance, i.Number()) }

// Name returns the name of an instance.
func (i Instance) Name() string { return fmt.Sprintf("service-%02d", i.Index) }

// CreatedAt is when it was created: those of an environment one after the other.
func (i Instance) CreatedAt() time.Time {
	return epoch.Add(-time.Hour + time.Duration(i.Number())*time.Millisecond)
}

// Definition returns the number of its module definition: each fifth is a global one.
func (i Instance) Definition() int {
	if i.Index%5 == 0 {
		return (i.Environment + i.Index) % GlobalDefinitions
	}
	own := (Definitions - GlobalDefinitions) / Organizations
	return GlobalDefinitions + OrganizationOf(i.Environment) + Organizations*((i.Environment/Organizations+i.Index)%own)
}

// Definition is a module definition.
type Definition int

// Organization returns whose it is, and false for a global one.
func (d Definition) Organization() (int, bool) { return int(d) % Organizations, d >= GlobalDefinitions }

// ID returns its id.
func (d Definition) ID() string { return ID(id.ModuleDefinition, int(d)) }

// Name returns its name.
func (d Definition) Name() string { return fmt.Sprintf("Module %d", int(d)) }

// Description returns its description.
func (d Definition) Description() string {
	return fmt.Sprintf("Runs a service of the kind %d behind a load balancer, with its logs, alarms and secrets, in one "+
		"cluster.", int(d))
}

// Type returns its type.
func (d Definition) Type() string { return fmt.Sprintf("aws/service-%d", int(d)) }

// CreatedAt is when it was created: global ones and others in turn.
func (d Definition) CreatedAt() time.Time {
	const stride = 7 // which has no factor in common with their number
	return epoch.Add(-2*time.Hour + time.Duration(int(d)*stride%Definitions)*time.Second)
}

// versions are those of each definition, the latest last.
var versions = []string{"1.0.0", "1.1.0"}

// VersionID returns the id of one of its versions.
func (d Definition) VersionID(version int) string {
	return ID(id.ModuleVersion, int(d)*len(versions)+version)
}

// LatestVersion returns the name and the id of its latest version.
func (d Definition) LatestVersion() (name, versionID string) {
	last := len(versions) - 1
	return versions[last], d.VersionID(last)
}
