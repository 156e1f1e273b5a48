package fake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// Definition is a task definition with its tags.
type Definition struct {
	types.TaskDefinition
	Tags []types.Tag
	// Request is the request by which it was registered, as it came.
	Request json.RawMessage
}

type definition struct{ Definition }

// definitionOf returns the task definition of an ARN, of a family and a revision, or the newest of a family that is
// ACTIVE.
func (c *Cloud) definitionOf(name *string) (*definition, error) {
	for _, d := range slices.Backward(c.definitions) {
		short := fmt.Sprintf("%s:%d", deref(d.Family), d.Revision)
		newest := deref(name) == deref(d.Family) && d.Status == types.TaskDefinitionStatusActive
		if deref(name) == deref(d.TaskDefinitionArn) || deref(name) == short || newest {
			return d, nil
		}
	}
	return nil, refuse("ClientException", "Unable to describe task definition.")
}

// definitionFor returns the task definition that a service is to run, nil for a service whose task sets have their own.
func (c *Cloud) definitionFor(s *types.Service, name *string) (*definition, error) {
	if name == nil && controllerOf(s.DeploymentController) == types.DeploymentControllerTypeExternal {
		return nil, nil
	}
	d, err := c.definitionOf(name)
	if err != nil {
		return nil, err
	}
	if d.Status != types.TaskDefinitionStatusActive {
		return nil, refuse("ClientException", "TaskDefinition is inactive.")
	}
	return d, nil
}

// registerAsItCame is registerTaskDefinition, which keeps the request.
func registerAsItCame(c *Cloud, body []byte) (any, error) {
	out, err := operation(registerTaskDefinition)(c, body)
	if err == nil {
		c.definitions[len(c.definitions)-1].Request = body
	}
	return out, err
}

func registerTaskDefinition(c *Cloud, in *ecs.RegisterTaskDefinitionInput) (*ecs.RegisterTaskDefinitionOutput, error) {
	if err := checkDefinition(in); err != nil {
		return nil, err
	}
	revision := int32(1)
	for _, d := range c.definitions {
		if deref(d.Family) == deref(in.Family) {
			revision = max(revision, d.Revision+1)
		}
	}

	d := &definition{Definition{Tags: in.Tags, TaskDefinition: types.TaskDefinition{
		TaskDefinitionArn: arn("task-definition", fmt.Sprintf("%s:%d", deref(in.Family), revision)), Family: in.Family,
		Revision: revision,
		Status:   types.TaskDefinitionStatusActive, ContainerDefinitions: in.ContainerDefinitions, Cpu: in.Cpu,
		Memory:      in.Memory,
		NetworkMode: in.NetworkMode, RequiresCompatibilities: in.RequiresCompatibilities, RuntimePlatform: in.RuntimePlatform,
		ExecutionRoleArn: in.ExecutionRoleArn, TaskRoleArn: in.TaskRoleArn, RegisteredAt: new(c.Clock.Now()),
	}}}

	c.definitions = append(c.definitions, d)
	return &ecs.RegisterTaskDefinitionOutput{TaskDefinition: &d.TaskDefinition, Tags: d.Tags}, nil
}

func describeTaskDefinition(c *Cloud, in *ecs.DescribeTaskDefinitionInput) (*ecs.DescribeTaskDefinitionOutput, error) {
	d, err := c.definitionOf(in.TaskDefinition)
	if err != nil {
		return nil, err
	}
	out := &ecs.DescribeTaskDefinitionOutput{TaskDefinition: &d.TaskDefinition}
	if slices.Contains(in.Include, types.TaskDefinitionFieldTags) {
		out.Tags = d.Tags
	}
	return out, nil
}

func listTaskDefinitions(c *Cloud, in *ecs.ListTaskDefinitionsInput) (*ecs.ListTaskDefinitionsOutput, error) {
	if err := checkPage(in.MaxResults); err != nil {
		return nil, err
	}
	var arns []string
	for _, d := range c.definitions {
		// AWS calls it a prefix, and documents the whole name: those whose name only begins so are more to tell apart.
		if strings.HasPrefix(deref(d.Family), deref(in.FamilyPrefix)) && d.Status == types.TaskDefinitionStatusActive {
			arns = append(arns, deref(d.TaskDefinitionArn))
		}
	}
	if in.Sort == types.SortOrderDesc {
		slices.Reverse(arns)
	}
	page, next, err := pageOf(c, arns, in.NextToken, deref(in.MaxResults))
	return &ecs.ListTaskDefinitionsOutput{TaskDefinitionArns: page, NextToken: next}, err
}

func deregisterTaskDefinition(
	c *Cloud, in *ecs.DeregisterTaskDefinitionInput,
) (*ecs.DeregisterTaskDefinitionOutput, error) {
	if !strings.Contains(idOf(deref(in.TaskDefinition)), ":") {
		return nil, refuse("ClientException", "Please specify revision: %s.", deref(in.TaskDefinition))
	}
	d, err := c.definitionOf(in.TaskDefinition)
	if err != nil {
		return nil, err
	}
	d.Status = types.TaskDefinitionStatusInactive
	return &ecs.DeregisterTaskDefinitionOutput{TaskDefinition: &d.TaskDefinition}, nil
}

// idOf returns the last part of an ARN.
func idOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }
