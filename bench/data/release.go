package data

import (
	"fmt"
	"math"

	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/release"
)

// releasesPerInstance are the releases of an instance, one of each version of its module.
const releasesPerInstance = 2

// moduleInputs are the inputs of every module version.
const moduleInputs = `[{"id":"image","label":"Image","type":"string","required":true},` +
	`{"id":"replicas","label":"Replicas","type":"number","default":2,"min":0,"max":100},` +
	`{"id":"health_path","label":"Health check","type":"string","default":"/healthz"},` +
	`{"id":"public","label":"Public","type":"boolean","default":false}]`

const (
	releaseInputs   = `{"image":"registry.example/team/service-%d","replicas":%d,"health_path":"/healthz","public":%t}`
	releaseArtifact = `{"arn":"arn:aws:ecs:eu-west-1:123456789012:task-definition/service-%[1]d:%[2]d","revision":%[2]d,"definition":{` +
		`"family":"service-%[1]d","cpu":"512","memory":"1024","networkMode":"awsvpc","requiresCompatibilities":["FARGATE"],` +
		`"executionRoleArn":"arn:aws:iam::123456789012:role/service-%[1]d-execution","containerDefinitions":[{"name":"main",` +
		`"image":"registry.example/team/service-%[1]d:1.%[2]d","essential":true,"portMappings":[{"containerPort":8080,"protocol":"tcp"}],` +
		`"environment":[{"name":"ENVIRONMENT","value":"production"},{"name":"LOG_FORMAT","value":"json"},{"name":"PORT","value":"8080"}],` +
		`"logConfiguration":{"logDriver":"awslogs","options":{"awslogs-group":"/ecs/service-%[1]d","awslogs-region":"eu-west-1"}}}]}}`
)

// releaseID returns the id of one of the releases of an instance.
func (i Instance) releaseID(number int) string {
	return ID(id.Release, i.Number()*releasesPerInstance+number)
}

// seal returns the content of one of the releases of an instance, with its digest.
func (i Instance) seal(number int) (release.Sealed, error) {
	inputs, err := parse(fmt.Sprintf(releaseInputs, i.Number(), 1+i.Index%4, i.Index%2 == 0))
	if err != nil {
		return release.Sealed{}, err
	}
	artifact, err := parse(fmt.Sprintf(releaseArtifact, i.Number(), number+1))
	if err != nil {
		return release.Sealed{}, err
	}
	return release.Seal(release.Unsealed{
		ModuleVersionID: Definition(i.Definition()).VersionID(number), Kind: ecs.Type, Inputs: inputs, Artifact: artifact,
	})
}

func parse(text string) (*strictjson.Node, error) {
	return strictjson.ParseWithin([]byte(text), strictjson.Limits{Depth: math.MaxInt, Bytes: math.MaxInt})
}
