package fake_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/internal/test/fake"
)

func TestTagsBeyondWhatAResourceCanHaveAreRefused(t *testing.T) {
	t.Parallel()
	one := func(key, value string) []types.Tag { return []types.Tag{{Key: &key, Value: &value}} }
	for reason, tags := range map[string][]types.Tag{
		"at most 50 tags, found 51":       tags(51),
		"Duplicate tag keys":              append(tags(1), tags(1)...),
		"1 to 128 characters":             one(strings.Repeat("é", 129), ""),
		"more than 256 characters":        one("a", strings.Repeat("é", 257)),
		"aws: is reserved":                one("Aws:a", ""),
		"a character that is not allowed": one("a", "50%"),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t)
			service := a.cloud.Services()[0].ServiceArn
			_, err := a.TagResource(t.Context(), &ecs.TagResourceInput{ResourceArn: service, Tags: tags})
			refused(t, err, "InvalidParameterException", reason)
			in := newDefinition()
			in.Tags = tags
			_, err = a.RegisterTaskDefinition(t.Context(), in)
			refused(t, err, "InvalidParameterException", reason)
		})
	}
	a := newAccount(t)
	service := a.cloud.Services()[0].ServiceArn
	if _, err := a.TagResource(t.Context(), &ecs.TagResourceInput{ResourceArn: service, Tags: tags(50)}); err != nil {
		t.Fatal(err)
	}
	_, err := a.TagResource(t.Context(), &ecs.TagResourceInput{ResourceArn: service, Tags: one("more", "")})
	refused(t, err, "InvalidParameterException", "at most 50 tags, found 51")
	short := aws.String("arn:aws:ecs:" + fake.Region + ":" + fake.Account + ":service/web")
	_, err = a.TagResource(t.Context(), &ecs.TagResourceInput{ResourceArn: short, Tags: tags(1)})
	refused(t, err, "InvalidParameterException", "Long arn format")
}

func TestATaskDefinitionThatECSDoesNotTakeIsNotRegistered(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(in *ecs.RegisterTaskDefinitionInput){
		"family is not valid":       func(in *ecs.RegisterTaskDefinitionInput) { in.Family = aws.String("a b") },
		"list cannot be empty":      func(in *ecs.RegisterTaskDefinitionInput) { in.ContainerDefinitions = []types.ContainerDefinition{} },
		"network mode is not valid": func(in *ecs.RegisterTaskDefinitionInput) { in.NetworkMode = "wireless" },
		"it needs awsvpc":           func(in *ecs.RegisterTaskDefinitionInput) { in.NetworkMode = types.NetworkModeBridge },
		"No Fargate configuration":  func(in *ecs.RegisterTaskDefinitionInput) { in.Memory = aws.String("4096") },
		"Container.name is not":     func(in *ecs.RegisterTaskDefinitionInput) { in.ContainerDefinitions[0].Name = nil },
		"image should not be":       func(in *ecs.RegisterTaskDefinitionInput) { in.ContainerDefinitions[0].Image = nil },
		"must be essential":         func(in *ecs.RegisterTaskDefinitionInput) { in.ContainerDefinitions[0].Essential = aws.Bool(false) },
		"must match": func(in *ecs.RegisterTaskDefinitionInput) {
			in.ContainerDefinitions[0].PortMappings[0].HostPort = aws.Int32(80)
		},
		"must be unique": func(in *ecs.RegisterTaskDefinitionInput) {
			in.ContainerDefinitions = append(in.ContainerDefinitions, in.ContainerDefinitions[0])
		},
		"At least one of 'memory'": func(in *ecs.RegisterTaskDefinitionInput) { in.RequiresCompatibilities, in.Memory = nil, nil },
		"port mappings are not": func(in *ecs.RegisterTaskDefinitionInput) {
			in.RequiresCompatibilities, in.NetworkMode = nil, types.NetworkModeNone
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			in := newDefinition()
			change(in)
			a := newAccount(t)
			_, err := a.RegisterTaskDefinition(t.Context(), in)
			refused(t, err, "ClientException", reason)
		})
	}
}

func TestAPageThatECSDoesNotTakeIsRefused(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	_, err := a.ListTaskDefinitions(t.Context(), &ecs.ListTaskDefinitionsInput{MaxResults: aws.Int32(101)})
	refused(t, err, "InvalidParameterException", "maxResults must be 1 to 100")
	_, err = a.ListServiceDeployments(t.Context(), &ecs.ListServiceDeploymentsInput{Service: aws.String("web"), MaxResults: aws.Int32(0)})
	refused(t, err, "InvalidParameterException", "maxResults must be 1 to 100")
}
