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
		"RegisterTaskDefinition":     operation(registerTaskDefinition),
		"StopServiceDeployment":      operation(stopServiceDeployment),
		"TagResource":                operation(tagResource),
		"UpdateService":              operation(updateService),
	}
}

func (c *Cloud) deploymentOf(arn *string) (*deployment, error) {
	for _, s := range c.services {
		for _, d := range s.deployments {
			if deref(d.ServiceDeploymentArn) == deref(arn) {
				return d, nil
			}
		}
	}
	return nil, refuse("ServiceDeploymentNotFoundException", "Service deployment not found.")
}

func listServiceDeployments(c *Cloud, in *ecs.ListServiceDeploymentsInput) (*ecs.ListServiceDeploymentsOutput, error) {
	s, err := c.find(in.Cluster, in.Service)
	if err != nil {
		return nil, err
	}
	out := &ecs.ListServiceDeploymentsOutput{}
	for _, d := range slices.Backward(s.deployments) {
		out.ServiceDeployments = append(out.ServiceDeployments, types.ServiceDeploymentBrief{
			ServiceDeploymentArn: d.ServiceDeploymentArn, ServiceArn: d.ServiceArn, ClusterArn: d.ClusterArn, CreatedAt: d.CreatedAt,
			StartedAt: d.StartedAt, FinishedAt: d.FinishedAt, Status: d.Status, StatusReason: d.StatusReason,
			TargetServiceRevisionArn: d.target.ServiceRevisionArn,
		})
	}
	return out, nil
}

func describeServiceDeployments(c *Cloud, in *ecs.DescribeServiceDeploymentsInput) (*ecs.DescribeServiceDeploymentsOutput, error) {
	out := &ecs.DescribeServiceDeploymentsOutput{}
	for _, arn := range in.ServiceDeploymentArns {
		d, err := c.deploymentOf(&arn)
		if err != nil {
			out.Failures = append(out.Failures, types.Failure{Arn: &arn, Reason: new("MISSING")})
			continue
		}
		out.ServiceDeployments = append(out.ServiceDeployments, d.ServiceDeployment)
	}
	return out, nil
}

func describeServiceRevisions(c *Cloud, in *ecs.DescribeServiceRevisionsInput) (*ecs.DescribeServiceRevisionsOutput, error) {
	out := &ecs.DescribeServiceRevisionsOutput{}
	for _, s := range c.services {
		for _, d := range s.deployments {
			if slices.Contains(in.ServiceRevisionArns, deref(d.target.ServiceRevisionArn)) {
				out.ServiceRevisions = append(out.ServiceRevisions, d.target.ServiceRevision)
			}
		}
	}
	return out, nil
}
