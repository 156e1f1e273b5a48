package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// draft is the task definition to run, before it may have to be registered.
type draft struct {
	// named is the one that the artifact names, nil if there is one to register.
	named     *types.TaskDefinition
	registers *ecs.RegisterTaskDefinitionInput
}

func (d *draft) task() task {
	if d.named != nil {
		return taskOf(d.named)
	}
	return task{d.registers.ContainerDefinitions, d.registers.NetworkMode}
}

func taskOf(d *types.TaskDefinition) task { return task{d.ContainerDefinitions, d.NetworkMode} }

// draft returns the task definition to run: the one that the artifact names, or the one to register. service is nil for
// none.
func (w *worker) draft(ctx context.Context, service *types.Service) (*draft, error) {
	arn := w.Release.Artifact.ARN
	if arn == "" {
		return &draft{registers: w.definition(service)}, nil
	}
	out, err := w.ecs.DescribeTaskDefinition(ctx, &ecs.DescribeTaskDefinitionInput{TaskDefinition: &arn})
	if err != nil {
		return nil, explain(err)
	}
	if out.TaskDefinition.Status != types.TaskDefinitionStatusActive {
		return nil, fmt.Errorf("the task definition %s of the artifact is %s: only one that is ACTIVE can be deployed",
			arn, out.TaskDefinition.Status)
	}
	return &draft{named: out.TaskDefinition}, nil
}

// taskDefinition returns the task definition to run, which it registers if this deployment has not done so yet.
func (w *worker) taskDefinition(ctx context.Context, d *draft) (*types.TaskDefinition, error) {
	if d.named != nil {
		return d.named, nil
	}
	if found, err := w.registered(ctx); found != nil || err != nil {
		return found, err
	}
	if _, err := w.beforeChange(ctx); err != nil {
		return nil, err
	}
	return once(ctx, w, func() (*types.TaskDefinition, error) { return w.registered(ctx) },
		func() (*types.TaskDefinition, error) {
			out, err := w.ecs.RegisterTaskDefinition(ctx, d.registers, onlyRefusals)
			if err != nil {
				return nil, err
			}
			return out.TaskDefinition, nil
		})
}

// family is that of the task definitions of the service.
func (w *worker) family() string {
	_, cluster, _ := strings.Cut(w.wants().ClusterARN, ":cluster/")
	return cut(cluster+"-"+w.wants().ServiceName, 255)
}

func cut(s string, most int) string { return s[:min(len(s), most)] }

// maxRecent is how many of the newest task definitions of a family are looked at for the one of this deployment.
const maxRecent = 10

// registered returns the task definition that this deployment has registered, nil for none.
func (w *worker) registered(ctx context.Context) (*types.TaskDefinition, error) {
	arns, err := w.definitions(ctx, maxRecent)
	if err != nil {
		return nil, err
	}
	for _, arn := range arns {
		found, tags, err := w.describeTaskDefinition(ctx, arn)
		if err != nil {
			return nil, err
		}
		if tagOf(tags, tagDeployment) == w.Deployment.ID {
			return found, nil
		}
	}
	return nil, nil
}

// definitions returns the ARNs of the newest task definitions of the service's family that are ACTIVE, the newest
// first.
func (w *worker) definitions(ctx context.Context, most int) (arns []string, err error) {
	err = eachPage("task definitions of the family "+w.family(), func(token *string) (*string, error) {
		page, err := w.ecs.ListTaskDefinitions(ctx, &ecs.ListTaskDefinitionsInput{
			FamilyPrefix: aws.String(w.family()), Sort: types.SortOrderDesc, MaxResults: aws.Int32(100), NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, arn := range page.TaskDefinitionArns {
			if family, _, _ := strings.Cut(idOf(&arn), ":"); family == w.family() { // a longer name may begin so
				arns = append(arns, arn)
			}
			if len(arns) == most {
				return nil, nil
			}
		}
		return page.NextToken, nil
	})
	return arns, err
}

func (w *worker) describeTaskDefinition(ctx context.Context, arn string) (*types.TaskDefinition, []types.Tag, error) {
	out, err := w.ecs.DescribeTaskDefinition(ctx, &ecs.DescribeTaskDefinitionInput{
		TaskDefinition: &arn, Include: []types.TaskDefinitionField{types.TaskDefinitionFieldTags},
	})
	if err != nil {
		return nil, nil, explain(err)
	}
	return out.TaskDefinition, out.Tags, nil
}

// definition returns the task definition to register: that of the artifact, or what the inputs say.
func (w *worker) definition(service *types.Service) *ecs.RegisterTaskDefinitionInput {
	definition := w.Release.Artifact.registers
	if definition == nil {
		definition = w.fromInputs(service)
	}
	ours := []types.Tag{
		tag(tagInstance, w.Deployment.ModuleInstanceID), tag(tagDeployment, w.Deployment.ID),
		tag(tagFence, string(w.Deployment.Fence)),
	}
	definition.Family, definition.Tags = aws.String(w.family()), withTags(definition.Tags, ours)
	return definition
}

func (w *worker) fromInputs(service *types.Service) *ecs.RegisterTaskDefinitionInput {
	in := w.wants()
	if service == nil {
		service = &types.Service{}
	}

	container := types.ContainerDefinition{
		Name: aws.String(in.container(service, nil)), Image: &in.Image, Essential: aws.Bool(true), Command: in.Command,
		HealthCheck: in.healthCheck(), LogConfiguration: in.logs(w.region),
	}
	for _, name := range slices.Sorted(maps.Keys(in.Environment)) {
		container.Environment = append(
			container.Environment, types.KeyValuePair{Name: aws.String(name), Value: aws.String(in.Environment[name])},
		)
	}

	for _, name := range slices.Sorted(maps.Keys(in.Secrets)) {
		container.Secrets = append(
			container.Secrets, types.Secret{Name: aws.String(name), ValueFrom: aws.String(in.Secrets[name])},
		)
	}

	if port := in.port(service); port > 0 {
		container.PortMappings = []types.PortMapping{{ContainerPort: &port, Protocol: types.TransportProtocolTcp}}
	}

	return &ecs.RegisterTaskDefinitionInput{
		ContainerDefinitions: []types.ContainerDefinition{container}, NetworkMode: types.NetworkModeAwsvpc,
		Cpu: aws.String(strconv.Itoa(int(in.Size.CPU))), Memory: aws.String(strconv.Itoa(int(in.Size.Memory))),
		RequiresCompatibilities: in.compatibilities(service),
		RuntimePlatform: &types.RuntimePlatform{
			CpuArchitecture: types.CPUArchitecture(in.Architecture), OperatingSystemFamily: types.OSFamilyLinux,
		},
		ExecutionRoleArn: orNil(in.ExecutionRoleARN), TaskRoleArn: orNil(in.TaskRoleARN),
	}
}

func (in *wanted) healthCheck() *types.HealthCheck {
	if in.HealthCheckCommand == "" {
		return nil
	}
	return &types.HealthCheck{
		Command:  []string{"CMD-SHELL", in.HealthCheckCommand},
		Interval: above0(in.HealthCheckInterval), Retries: above0(in.HealthCheckRetries),
		StartPeriod: above0(in.HealthCheckStartPeriod),
	}
}

func (in *wanted) logs(region string) *types.LogConfiguration {
	if in.LogGroup == "" {
		return nil
	}
	return &types.LogConfiguration{LogDriver: types.LogDriverAwslogs, Options: map[string]string{
		"awslogs-group": in.LogGroup, "awslogs-region": region, "awslogs-stream-prefix": in.ServiceName,
	}}
}

// above0 returns a number, nil for none that is more than 0, so that AWS takes its own default.
func above0(n int32) *int32 {
	if n <= 0 {
		return nil
	}
	return &n
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func text[S ~string](s *S) string {
	if s == nil {
		return ""
	}
	return string(*s)
}
