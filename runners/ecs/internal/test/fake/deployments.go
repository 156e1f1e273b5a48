package fake

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// ecsOperations are those of ECS, by their names.
var ecsOperations map[string]func(*Cloud, []byte) (any, error)

func init() {
	ecsOperations = map[string]func(*Cloud, []byte) (any, error){
		"ContinueServiceDeployment":  operation(continueServiceDeployment),
		"CreateService":              operation(createService),
		"DeleteService":              operation(deleteService),
		"DeregisterTaskDefinition":   operation(deregisterTaskDefinition),
		"DescribeServiceDeployments": operation(describeServiceDeployments),
		"DescribeServiceRevisions":   operation(describeServiceRevisions),
		"DescribeServices":           operation(describeServices),
		"DescribeTaskDefinition":     operation(describeTaskDefinition),
		"ListServiceDeployments":     operation(listServiceDeployments),
		"ListTaskDefinitions":        operation(listTaskDefinitions),
		"RegisterTaskDefinition":     registerAsItCame,
		"StopServiceDeployment":      operation(stopServiceDeployment),
		"TagResource":                operation(tagResource),
		"UpdateService":              operation(updateService),
	}
}

func (c *Cloud) deploymentOf(arn *string) (*deployment, error) {
	for _, d := range c.deployments {
		if deref(d.ServiceDeploymentArn) == deref(arn) && !c.blind {
			return d, nil
		}
	}
	return nil, refuse("ServiceDeploymentNotFoundException", "Service deployment not found.")
}

func listServiceDeployments(c *Cloud, in *ecs.ListServiceDeploymentsInput) (*ecs.ListServiceDeploymentsOutput, error) {
	s, err := c.find(in.Cluster, in.Service)
	if err == nil {
		err = checkPage(in.MaxResults)
	}
	if err != nil {
		return nil, err
	}

	var all []types.ServiceDeploymentBrief
	for _, d := range slices.Backward(c.deployments) {
		if deref(d.ServiceArn) != deref(s.described.ServiceArn) {
			continue
		}
		all = append(all, types.ServiceDeploymentBrief{
			ServiceDeploymentArn: d.ServiceDeploymentArn, ServiceArn: d.ServiceArn, ClusterArn: d.ClusterArn,
			CreatedAt: d.CreatedAt,
			StartedAt: d.StartedAt, FinishedAt: d.FinishedAt, Status: d.Status, StatusReason: d.StatusReason,
			TargetServiceRevisionArn: d.target.ServiceRevisionArn,
		})
	}

	page, next, err := pageOf(c, all, in.NextToken, deref(in.MaxResults))
	return &ecs.ListServiceDeploymentsOutput{ServiceDeployments: page, NextToken: next}, err
}

func describeServiceDeployments(
	c *Cloud, in *ecs.DescribeServiceDeploymentsInput,
) (*ecs.DescribeServiceDeploymentsOutput, error) {
	if err := atMost(len(in.ServiceDeploymentArns), maxArns); err != nil {
		return nil, err
	}
	out := &ecs.DescribeServiceDeploymentsOutput{}
	for _, arn := range in.ServiceDeploymentArns {
		d, err := c.deploymentOf(&arn)
		if err != nil {
			out.Failures = append(out.Failures, types.Failure{Arn: &arn, Reason: new("MISSING")})
			continue
		}
		c.looks[d] = Look{ServiceDeployment: d.shown()}
		out.ServiceDeployments = append(out.ServiceDeployments, d.ServiceDeployment)
	}
	return out, nil
}

func describeServiceRevisions(
	c *Cloud, in *ecs.DescribeServiceRevisionsInput,
) (*ecs.DescribeServiceRevisionsOutput, error) {
	if err := atMost(len(in.ServiceRevisionArns), maxArns); err != nil {
		return nil, err
	}
	out := &ecs.DescribeServiceRevisionsOutput{}
	for _, d := range c.deployments {
		if slices.Contains(in.ServiceRevisionArns, deref(d.target.ServiceRevisionArn)) {
			out.ServiceRevisions = append(out.ServiceRevisions, d.target.ServiceRevision)
		}
	}
	return out, nil
}
