package fake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// deployment is a service deployment on its way.
type deployment struct {
	types.ServiceDeployment
	service *service
	target  *revision
	// plan are the steps that are still to come, and due is when the next one is.
	plan []step
	due  time.Time
	// rollbackID is what events call the deployment that goes back.
	rollbackID string
	definition *definition
	// tags are those of the service when it began.
	tags []types.Tag
	// backTo is the revision that it goes back to, nil while it does not.
	backTo *revision
	// pausedAt is when the last pause began, and accepted the last one that somebody has let continue.
	pausedAt time.Time
	accepted *Pause
	// looks are what was shown of it; before and after are what the load balancers did when it began and when it ended.
	looks         []Look
	events        []Event
	before, after []Route
}

// step is a part of a service deployment.
type step struct {
	stage types.ServiceDeploymentLifecycleStage
	// begin is what happens at its beginning.
	begin func(d *deployment)
	// takes is how long it then goes on.
	takes time.Duration
}

// How long it takes to start a task, and to pass a stage that waits for nothing.
const (
	taskTakes  = 10 * time.Second
	stageTakes = 10 * time.Second
)

func (d *deployment) ended() bool {
	switch d.Status {
	case types.ServiceDeploymentStatusSuccessful, types.ServiceDeploymentStatusStopped,
		types.ServiceDeploymentStatusRollbackSuccessful,
		types.ServiceDeploymentStatusRollbackFailed:
		return true
	default:
		return false
	}
}

// deploy begins a service deployment of a task definition. One that is under way is stopped.
func (s *service) deploy(definition *definition) {
	c, now := s.cloud, s.cloud.Clock.Now()
	number := fmt.Sprintf("%019d", 4980306466373570000+c.next())
	name := "main/" + deref(s.described.ServiceName) + "/"
	target := &revision{externalID: "ecs-svc/" + number, group: s.nextGroup(), ServiceRevision: types.ServiceRevision{
		ServiceRevisionArn: arn("service-revision", name+number), ServiceArn: s.described.ServiceArn,
		ClusterArn:     new(Cluster),
		TaskDefinition: definition.TaskDefinitionArn, LoadBalancers: s.described.LoadBalancers, CreatedAt: &now,
	}}

	d := &deployment{service: s, target: target, due: now, definition: definition, tags: slices.Clone(
		s.described.Tags,
	), before: c.routes(), ServiceDeployment: types.ServiceDeployment{
		ServiceDeploymentArn: arn("service-deployment", name+fmt.Sprintf("FAKE%017d", c.next())),
		ServiceArn:           s.described.ServiceArn,
		ClusterArn:           new(Cluster), CreatedAt: &now, UpdatedAt: &now, Status: types.ServiceDeploymentStatusPending,
		DeploymentConfiguration: s.described.DeploymentConfiguration,
		TargetServiceRevision:   &types.ServiceRevisionSummary{Arn: target.ServiceRevisionArn},
	}}

	target.deploymentArn = d.ServiceDeploymentArn
	if d.DeploymentConfiguration == nil {
		d.DeploymentConfiguration = &types.DeploymentConfiguration{}
	}
	if d.DeploymentConfiguration.Strategy == "" {
		d.DeploymentConfiguration.Strategy = types.DeploymentStrategyRolling
	}
	if s.current != nil {
		d.SourceServiceRevisions = append(d.SourceServiceRevisions, s.current.summary)
	}

	if last := s.last; last != nil && !last.ended() {
		last.stop("The service deployment was superseded by " + deref(d.ServiceDeploymentArn) + ".")
		d.SourceServiceRevisions = append(d.SourceServiceRevisions, *last.TargetServiceRevision)
	}

	s.last = d
	c.deployments = append(c.deployments, d)
	d.plan = append([]step{{begin: (*deployment).start}}, d.planOf(definition)...)
	d.summarize()
}

func (d *deployment) start() {
	now := d.service.cloud.Clock.Now()
	d.Status, d.StartedAt = types.ServiceDeploymentStatusInProgress, &now
	d.event(d.target.externalID, inProgress, fmt.Sprintf("ECS deployment %s in progress.", d.target.externalID))
}

// planOf returns the steps of a service deployment.
func (d *deployment) planOf(definition *definition) []step {
	broken := false
	for _, container := range definition.ContainerDefinitions {
		broken = broken || strings.Contains(deref(container.Image), "broken")
	}
	if d.DeploymentConfiguration.Strategy == types.DeploymentStrategyRolling {
		return d.rolling(broken)
	}
	return d.shifting(broken)
}

// rolling replaces a task after the other. Those that are broken end again, until the circuit breaker has seen enough.
func (d *deployment) rolling(broken bool) []step {
	wanted := d.service.described.DesiredCount
	plan := []step{{takes: taskTakes, begin: func(d *deployment) { d.tasks(0, wanted) }}}
	if broken {
		for range 3 {
			plan = append(plan, step{takes: taskTakes, begin: func(d *deployment) {
				d.DeploymentCircuitBreaker = &types.ServiceDeploymentCircuitBreaker{
					Threshold: 3, Status: types.ServiceDeploymentRollbackMonitorsStatusMonitoring,
					FailureCount: deref(d.DeploymentCircuitBreaker).FailureCount + 1,
				}
			}})
		}
		return append(plan, step{begin: func(d *deployment) { d.breakCircuit() }})
	}

	for started := int32(1); started <= wanted; started++ {
		plan = append(plan, step{takes: taskTakes, begin: func(d *deployment) {
			d.tasks(started, wanted)
			d.sources(func(s *types.ServiceRevisionSummary) { s.RunningTaskCount = min(s.RunningTaskCount, wanted-started) })
		}})
	}

	return append(plan, step{begin: (*deployment).succeed})
}

// shifting starts all tasks beside the others, and moves the traffic.
func (d *deployment) shifting(broken bool) []step {
	wanted := d.service.described.DesiredCount
	plan, slow := []step{}, d.shiftTakes()
	if len(d.SourceServiceRevisions) > 1 {
		plan = append(plan, step{stage: types.ServiceDeploymentLifecycleStageReconcileService, takes: stageTakes})
	}

	plan = append(plan,
		step{
			stage: types.ServiceDeploymentLifecycleStagePreScaleUp, takes: stageTakes,
			begin: func(d *deployment) { d.weights(0, 0) },
		},
		step{
			stage: types.ServiceDeploymentLifecycleStageScaleUp, takes: taskTakes,
			begin: func(d *deployment) { d.tasks(0, wanted) },
		},
	)

	if broken { // a guess: ECS goes on trying
		return append(plan, step{takes: 1000 * time.Hour})
	}

	plan = append(plan,
		step{
			stage: types.ServiceDeploymentLifecycleStagePostScaleUp, takes: stageTakes,
			begin: func(d *deployment) { d.tasks(wanted, wanted) },
		},
		step{
			stage: types.ServiceDeploymentLifecycleStageTestTrafficShift, takes: slow,
			begin: func(d *deployment) { d.weights(0, 100) },
		},
		step{stage: types.ServiceDeploymentLifecycleStagePostTestTrafficShift, takes: stageTakes},
	)

	plan = append(plan, d.shifts()...)
	bake := time.Duration(deref(d.DeploymentConfiguration.BakeTimeInMinutes)) * time.Minute
	return append(plan,
		step{stage: types.ServiceDeploymentLifecycleStagePostProductionTrafficShift, takes: stageTakes},
		step{stage: types.ServiceDeploymentLifecycleStageBakeTime, takes: bake},
		step{stage: types.ServiceDeploymentLifecycleStageCleanUp, takes: stageTakes, begin: func(d *deployment) {
			d.sources(func(s *types.ServiceRevisionSummary) { s.RunningTaskCount, s.RequestedTaskCount = 0, 0 })
		}},
		step{begin: (*deployment).succeed},
	)
}

// shiftTakes returns how long traffic takes to shift: with a Network Load Balancer ECS waits for 10 minutes more.
func (d *deployment) shiftTakes() time.Duration {
	for _, b := range d.service.described.LoadBalancers {
		if balancer, _ := d.service.cloud.balancerOf(deref(b.TargetGroupArn)); balancer != nil &&
			balancer.kind == elbtypes.LoadBalancerTypeEnumNetwork {
			return stageTakes + 10*time.Minute
		}
	}
	return stageTakes
}

// shifts are the steps by which production traffic moves, as the strategy says.
func (d *deployment) shifts() (plan []step) {
	c := d.DeploymentConfiguration
	shift := func(weight float64, takes time.Duration) {
		plan = append(plan,
			step{stage: "PRE_PRODUCTION_TRAFFIC_SHIFT", takes: stageTakes},
			step{
				stage: types.ServiceDeploymentLifecycleStageProductionTrafficShift, takes: takes + d.shiftTakes(),
				begin: func(d *deployment) { d.weights(weight, 100) },
			})
	}

	switch {
	case c.CanaryConfiguration != nil:
		shift(
			deref(c.CanaryConfiguration.CanaryPercent),
			time.Duration(deref(c.CanaryConfiguration.CanaryBakeTimeInMinutes))*time.Minute,
		)
	case c.LinearConfiguration != nil:
		by := deref(c.LinearConfiguration.StepPercent)
		for weight := by; weight < 100; weight += by {
			shift(weight, time.Duration(deref(c.LinearConfiguration.StepBakeTimeInMinutes))*time.Minute)
		}
	}

	shift(100, 0)
	return plan
}

// settle goes through the steps that are due.
func (d *deployment) settle(now time.Time) {
	if d.service.cloud.Held && d.Status == types.ServiceDeploymentStatusPending {
		return
	}
	d.settlePauses(now)

	for !d.ended() && len(d.plan) > 0 && !now.Before(d.due) && !d.waits() {
		next := d.plan[0]
		d.plan = d.plan[1:]
		d.finishHooks()
		if next.stage != "" {
			d.LifecycleStage = next.stage
		}

		d.due = d.due.Add(next.takes)
		if d.due.Before(now.Add(-next.takes)) {
			d.due = now.Add(next.takes) // it has waited for somebody
		}
		d.UpdatedAt = &now
		if next.begin != nil {
			next.begin(d)
		}
		if next.stage != "" && d.Status == types.ServiceDeploymentStatusInProgress {
			d.beginHooks(next.stage)
		}

		d.summarize()
		d.finish()
	}
}

// finish keeps what the load balancers do once it has ended.
func (d *deployment) finish() {
	if d.ended() && d.after == nil {
		d.after = d.service.cloud.routes()
	}
}

func (d *deployment) tasks(running, wanted int32) {
	t := d.TargetServiceRevision
	t.RunningTaskCount, t.RequestedTaskCount, t.PendingTaskCount = running, wanted, wanted-running
}

func (d *deployment) sources(change func(s *types.ServiceRevisionSummary)) {
	for i := range d.SourceServiceRevisions {
		change(&d.SourceServiceRevisions[i])
	}
}

// weights gives the new revision so many percent of the traffic. The first revision has all of it from the beginning.
func (d *deployment) weights(production, test float64) {
	if len(d.SourceServiceRevisions) == 0 {
		production, test = 100, 100
	}
	t := d.TargetServiceRevision
	t.RequestedProductionTrafficWeight, t.RequestedTestTrafficWeight = &production, &test
	d.sources(func(s *types.ServiceRevisionSummary) {
		s.RequestedProductionTrafficWeight, s.RequestedTestTrafficWeight = new(100-production), new(100-test)
	})
	d.service.route(d.target.group, production, test)
}

// summarize carries the tasks of the earlier revision to the service.
func (d *deployment) summarize() {
	if d.service.current != nil && len(d.SourceServiceRevisions) > 0 && !d.ended() {
		d.service.current.summary.RunningTaskCount = d.SourceServiceRevisions[0].RunningTaskCount
	}
}

func (d *deployment) succeed() {
	now := d.service.cloud.Clock.Now()
	d.Status, d.FinishedAt, d.LifecycleHookDetails = types.ServiceDeploymentStatusSuccessful, &now, nil
	d.sources(func(s *types.ServiceRevisionSummary) {
		s.RunningTaskCount, s.RequestedTaskCount, s.PendingTaskCount = 0, 0, 0
	})
	d.target.summary = *d.TargetServiceRevision
	d.service.current = d.target
	d.event(d.target.externalID, completed, fmt.Sprintf("ECS deployment %s completed.", d.target.externalID))
}

// stop ends a service deployment without going back.
func (d *deployment) stop(reason string) {
	now := d.service.cloud.Clock.Now()
	d.Status, d.StatusReason = types.ServiceDeploymentStatusStopped, &reason
	d.StoppedAt, d.FinishedAt, d.UpdatedAt = &now, &now, &now
	d.LifecycleHookDetails = nil
	d.finish()
}
