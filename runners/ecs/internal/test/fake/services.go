package fake

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// The statuses of a service.
const (
	active   = "ACTIVE"
	draining = "DRAINING"
	inactive = "INACTIVE"
)

// service is a service, and all that it has ever deployed.
type service struct {
	cloud     *Cloud
	described types.Service
	token     string
	// current is the revision that serves, nil before the first.
	current   *revision
	last      *deployment
	drainedAt time.Time
	// unseen is how many requests do not find the service yet.
	unseen int
	// launchType is the one with which it was created, which it has while it has no capacity providers.
	launchType types.LaunchType
}

// revision is a service revision with its tasks.
type revision struct {
	types.ServiceRevision
	summary types.ServiceRevisionSummary
	// externalID is what events call the deployment that brought it, and deploymentArn its service deployment.
	externalID    string
	deploymentArn *string
	// group is the target group of its tasks.
	group string
}

func (s *service) describe() types.Service {
	d := s.described
	d.Tags = slices.Clone(d.Tags)
	d.Deployments = s.describeDeployments()
	d.RunningCount, d.PendingCount = 0, 0
	if n := s.last; n != nil && !n.ended() {
		d.CurrentServiceDeployment = n.ServiceDeploymentArn
		d.RunningCount, d.PendingCount = n.TargetServiceRevision.RunningTaskCount, n.TargetServiceRevision.PendingTaskCount
	}
	if s.current != nil {
		d.RunningCount += s.current.summary.RunningTaskCount
	}
	return d
}

// describeDeployments returns the deployments as events call them: the one that is wanted, and those that still run.
func (s *service) describeDeployments() (all []types.Deployment) {
	n := s.last
	if n == nil || s.current == nil && n.Rollback != nil { // it is gone
		return nil
	}
	primary, definition := n.target.externalID, n.target.TaskDefinition
	if n.Rollback != nil {
		primary, definition = n.rollbackID, s.current.TaskDefinition
	}
	all = append(all, types.Deployment{Id: &primary, Status: new("PRIMARY"), TaskDefinition: definition})
	if s.current != nil && s.current.externalID != primary {
		all = append(
			all, types.Deployment{Id: &s.current.externalID, Status: new(active), TaskDefinition: s.current.TaskDefinition},
		)
	}
	return all
}

// find returns the service of a name or an ARN.
func (c *Cloud) find(cluster, name *string) (*service, error) {
	if cluster != nil && *cluster != Cluster && *cluster != "main" {
		return nil, refuse("ClusterNotFoundException", "Cluster not found.")
	}
	short := deref(name)[strings.LastIndex(deref(name), "/")+1:]
	s := c.services[short]
	if s == nil || c.blind {
		return nil, refuse("ServiceNotFoundException", "Service not found.")
	}
	if s.unseen > 0 {
		s.unseen--
		return nil, refuse("ServiceNotFoundException", "Service not found.")
	}
	return s, nil
}

// findActive is find for what is changed.
func (c *Cloud) findActive(cluster, name *string) (*service, error) {
	s, err := c.find(cluster, name)
	if err == nil && deref(s.described.Status) != active {
		return nil, refuse("ServiceNotActiveException", "Service was not ACTIVE.")
	}
	return s, err
}

func describeServices(c *Cloud, in *ecs.DescribeServicesInput) (*ecs.DescribeServicesOutput, error) {
	if err := atMost(len(in.Services), maxServices); err != nil {
		return nil, err
	}
	out := &ecs.DescribeServicesOutput{}
	for _, name := range in.Services {
		s, err := c.find(in.Cluster, &name)
		if err != nil {
			if r := asRefusal(err); r.code == "ClusterNotFoundException" {
				return nil, err
			}
			out.Failures = append(out.Failures, types.Failure{Arn: arn("service", "main/"+name), Reason: new("MISSING")})
			continue
		}

		if deref(s.described.Status) == draining {
			c.Clock.Advance(c.Tick)
		}
		d := s.describe()
		if !slices.Contains(in.Include, types.ServiceFieldTags) {
			d.Tags = nil
		}
		out.Services = append(out.Services, d)
	}

	return out, nil
}

func createService(c *Cloud, in *ecs.CreateServiceInput) (*ecs.CreateServiceOutput, error) {
	if err := checkCreate(in); err != nil {
		return nil, err
	}
	created := serviceOf(c, in)
	definition, err := c.definitionFor(created, in.TaskDefinition)
	if err != nil {
		return nil, err
	}
	if err := c.checkService(created, definition); err != nil {
		return nil, err
	}

	if definition != nil {
		created.TaskDefinition = definition.TaskDefinitionArn
	}

	if s := c.services[deref(in.ServiceName)]; s != nil && deref(s.described.Status) != inactive {
		if s.token != "" && s.token == deref(in.ClientToken) {
			d := s.describe()
			return &ecs.CreateServiceOutput{Service: &d}, nil
		}
		if deref(s.described.Status) == draining {
			return nil, invalid("Unable to Start a service that is still Draining.")
		}
		return nil, invalid("Creation of service was not idempotent.")
	}

	s := &service{
		cloud: c, token: deref(in.ClientToken), described: *created, unseen: c.Unseen, launchType: created.LaunchType,
	}
	c.services[deref(in.ServiceName)] = s
	if created.DeploymentController.Type == types.DeploymentControllerTypeEcs {
		s.deploy(definition)
	}

	d := s.describe()
	return &ecs.CreateServiceOutput{Service: &d}, nil
}

// serviceOf returns the service that a request is to create.
func serviceOf(c *Cloud, in *ecs.CreateServiceInput) *types.Service {
	s := &types.Service{
		ServiceName: in.ServiceName, ServiceArn: arn("service", "main/"+deref(in.ServiceName)), ClusterArn: new(Cluster),
		Status: new(active), CreatedAt: new(c.Clock.Now()), DesiredCount: deref(in.DesiredCount),
		TaskDefinition:          in.TaskDefinition,
		DeploymentConfiguration: in.DeploymentConfiguration, LoadBalancers: in.LoadBalancers,
		NetworkConfiguration: in.NetworkConfiguration, LaunchType: in.LaunchType,
		CapacityProviderStrategy: in.CapacityProviderStrategy, Tags: in.Tags, DeploymentController: in.DeploymentController,
		SchedulingStrategy: in.SchedulingStrategy, HealthCheckGracePeriodSeconds: in.HealthCheckGracePeriodSeconds,
		PropagateTags: in.PropagateTags, EnableECSManagedTags: in.EnableECSManagedTags,
	}

	if s.DeploymentController == nil {
		s.DeploymentController = &types.DeploymentController{Type: types.DeploymentControllerTypeEcs}
	}
	if s.SchedulingStrategy == "" {
		s.SchedulingStrategy = types.SchedulingStrategyReplica
	}
	if s.SchedulingStrategy == types.SchedulingStrategyDaemon {
		s.DesiredCount = 1 // the cluster has one container instance
	}

	if s.LaunchType == "" && len(s.CapacityProviderStrategy) == 0 { // the cluster has no default strategy
		s.LaunchType = types.LaunchTypeEc2
	}
	return s
}

func updateService(c *Cloud, in *ecs.UpdateServiceInput) (*ecs.UpdateServiceOutput, error) {
	s, err := c.findActive(in.Cluster, in.Service)
	if err == nil {
		err = checkUpdate(&s.described, in)
	}
	if err != nil {
		return nil, err
	}

	updated := s.updated(in)
	definition, err := c.definitionFor(updated, updated.TaskDefinition)
	deploys := in.ForceNewDeployment ||
		definition != nil && deref(definition.TaskDefinitionArn) != deref(s.described.TaskDefinition) ||
		len(updated.LoadBalancers)+len(s.described.LoadBalancers) > 0 &&
			!reflect.DeepEqual(updated.LoadBalancers, s.described.LoadBalancers) ||
		!reflect.DeepEqual(updated.NetworkConfiguration, s.described.NetworkConfiguration)
	if err != nil && (in.TaskDefinition != nil || deploys) {
		return nil, err // a service goes on with one that is INACTIVE
	}
	if err := c.checkService(updated, definition); err != nil {
		return nil, err
	}

	if definition != nil {
		updated.TaskDefinition = definition.TaskDefinitionArn
	}

	s.described = *updated
	if deploys {
		s.deploy(definition)
	} else if s.current != nil {
		s.current.summary.RequestedTaskCount, s.current.summary.RunningTaskCount = updated.DesiredCount, updated.DesiredCount
	}

	described := s.describe()
	return &ecs.UpdateServiceOutput{Service: &described}, nil
}

// updated returns the service as it is with a request: what the request leaves out stays.
func (s *service) updated(in *ecs.UpdateServiceInput) *types.Service {
	d := s.described
	if in.DesiredCount != nil {
		d.DesiredCount = *in.DesiredCount
	}
	if in.DeploymentConfiguration != nil {
		d.DeploymentConfiguration = in.DeploymentConfiguration
	}
	if in.LoadBalancers != nil {
		d.LoadBalancers = in.LoadBalancers
	}

	if in.NetworkConfiguration != nil {
		d.NetworkConfiguration = in.NetworkConfiguration
	}
	if in.HealthCheckGracePeriodSeconds != nil {
		d.HealthCheckGracePeriodSeconds = in.HealthCheckGracePeriodSeconds
	}

	if in.CapacityProviderStrategy != nil {
		d.CapacityProviderStrategy, d.LaunchType = in.CapacityProviderStrategy, ""
		if len(in.CapacityProviderStrategy) == 0 { // a guess for a service that never had a launch type
			d.LaunchType = cmp.Or(s.launchType, types.LaunchTypeFargate)
		}
	}

	if in.PropagateTags != "" {
		d.PropagateTags = in.PropagateTags
	}
	if in.TaskDefinition != nil {
		d.TaskDefinition = in.TaskDefinition
	}

	return &d
}

// drainingTakes is how long the tasks of a service that is deleted take to end.
const drainingTakes = 20 * time.Second

func deleteService(c *Cloud, in *ecs.DeleteServiceInput) (*ecs.DeleteServiceOutput, error) {
	s, err := c.findActive(in.Cluster, in.Service)
	if err != nil {
		return nil, err
	}
	if s.described.DesiredCount > 0 && !deref(in.Force) {
		return nil, invalid("The service cannot be stopped while it is scaled above 0.")
	}
	if d := s.last; d != nil && !d.ended() {
		d.stop("The service was deleted.")
	}
	s.described.Status, s.described.DesiredCount = new(draining), 0
	s.drainedAt = c.Clock.Now().Add(drainingTakes)
	d := s.describe()
	return &ecs.DeleteServiceOutput{Service: &d}, nil
}

// settle brings everything to where it is by now.
func (c *Cloud) settle() {
	now := c.Clock.Now()
	for _, s := range c.services {
		if deref(s.described.Status) == draining && !now.Before(s.drainedAt) {
			s.described.Status, s.current = new(inactive), nil
		}
		if d := s.last; d != nil {
			d.settle(now)
		}
	}
}
