package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/sdkjson"
)

// maxInput is how many bytes the deployment on standard input may have.
const maxInput = 32 << 20

// input is a deployment as slipway runner hands it over, as far as it is used.
type input struct {
	Deployment struct {
		ID               string `json:"id"`
		Fence            fence  `json:"fence"`
		ModuleInstanceID string `json:"moduleInstanceId"`
		Action           string `json:"action"`
		Data             data   `json:"data"`
	} `json:"deployment"`
	Release *struct {
		Inputs   wanted   `json:"inputs"`
		Artifact artifact `json:"artifact"`
	} `json:"release"`
}

// wanted are the inputs of the release. docs/modules/aws-ecs-service declares them. A service that exists keeps what
// they leave out.
type wanted struct {
	ServiceName string `json:"service_name"`
	ClusterARN  string `json:"cluster_arn"`
	Adopt       bool   `json:"adopt"`

	Count             *int32             `json:"count"`
	LaunchType        string             `json:"launch_type"`
	CapacityProviders []capacityProvider `json:"capacity_providers"`

	Image         string `json:"image"`
	ContainerName string `json:"container_name"`
	ContainerPort int32  `json:"container_port"`
	Size          struct {
		CPU    int32 `json:"cpu"`
		Memory int32 `json:"memory"`
	} `json:"size"`
	Architecture     string            `json:"architecture"`
	Command          []string          `json:"command"`
	Environment      map[string]string `json:"environment"`
	Secrets          map[string]string `json:"secrets"`
	ExecutionRoleARN string            `json:"execution_role_arn"`
	TaskRoleARN      string            `json:"task_role_arn"`
	LogGroup         string            `json:"log_group"`

	HealthCheckCommand     string `json:"health_check_command"`
	HealthCheckInterval    int32  `json:"health_check_interval"`
	HealthCheckRetries     int32  `json:"health_check_retries"`
	HealthCheckStartPeriod int32  `json:"health_check_start_period"`
	GraceSeconds           *int32 `json:"grace_seconds"`

	SubnetIDs        []string `json:"subnet_ids"`
	SecurityGroupIDs []string `json:"security_group_ids"`
	AssignPublicIP   publicIP `json:"assign_public_ip"`

	TargetGroupARN          string `json:"target_group_arn"`
	AlternateTargetGroupARN string `json:"alternate_target_group_arn"`
	ListenerRuleARN         string `json:"listener_rule_arn"`
	TestListenerRuleARN     string `json:"test_listener_rule_arn"`
	BalancerRoleARN         string `json:"balancer_role_arn"`

	Strategy              string   `json:"strategy"`
	MinimumHealthyPercent *int32   `json:"minimum_healthy_percent"`
	MaximumPercent        *int32   `json:"maximum_percent"`
	BakeMinutes           int32    `json:"bake_minutes"`
	CanaryPercent         int32    `json:"canary_percent"`
	CanaryMinutes         int32    `json:"canary_minutes"`
	StepPercent           int32    `json:"step_percent"`
	StepMinutes           int32    `json:"step_minutes"`
	PauseStages           []string `json:"pause_stages"`
	PauseMinutes          int32    `json:"pause_minutes"`
	PauseAction           string   `json:"pause_action"`
	Hooks                 []hook   `json:"hooks"`
	TimeoutMinutes        int32    `json:"timeout_minutes"`
}

// publicIP is whether each task gets a public address, "" for what the service has.
type publicIP types.AssignPublicIp

// UnmarshalJSON implements json.Unmarshaler. It also accepts true and false, because modules may have a boolean.
func (ip *publicIP) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "true":
		*ip = publicIP(types.AssignPublicIpEnabled)
	case "false":
		*ip = publicIP(types.AssignPublicIpDisabled)
	default:
		return json.Unmarshal(text, (*string)(ip)) // null is ""
	}
	return nil
}

// capacityProvider is a part of a capacity provider strategy. Its weight is 1 if it is left out.
type capacityProvider struct {
	Provider string `json:"provider"`
	Weight   *int32 `json:"weight"`
	Base     int32  `json:"base"`
}

// hook is a Lambda function that ECS runs at stages of a service deployment.
type hook struct {
	FunctionARN string   `json:"function_arn"`
	RoleARN     string   `json:"role_arn"`
	Stages      []string `json:"stages"`
}

// The strategies of a service deployment.
const (
	rolling   = "ROLLING"
	blueGreen = "BLUE_GREEN"
	canary    = "CANARY"
	linear    = "LINEAR"
)

// readInput reads a deployment. The error says everything that is wrong with it.
func readInput(r io.Reader) (*input, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("the deployment on standard input cannot be read: %w", err)
	}
	if len(text) > maxInput {
		return nil, fmt.Errorf("the deployment on standard input has more than %d bytes", maxInput)
	}

	in := new(input)
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(in); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, fmt.Errorf(
				"/%s must be %s, found %s", strings.ReplaceAll(wrong.Field, ".", "/"), sdkjson.KindOf(wrong.Type.Kind()),
				wrong.Value,
			)
		}
		return nil, fmt.Errorf("standard input must have one deployment as slipway runner hands it over: %w", err)
	}
	if in.Release == nil {
		return nil, errors.New("/release must be there; the deployment has none")
	}

	in.setDefaults()
	if err := in.check(); err != nil {
		return nil, err
	}
	return in, nil
}

func (in *input) destroys() bool { return in.Deployment.Action == "destroy" }

// wants are the inputs of the release.
func (in *input) wants() *wanted { return &in.Release.Inputs }

// setDefaults sets what a module may leave out and what no service keeps.
func (in *input) setDefaults() {
	w := in.wants()
	for _, d := range []struct {
		value *string
		or    string
	}{{&w.Architecture, "X86_64"}, {&w.PauseAction, "ROLLBACK"}} {
		if *d.value == "" {
			*d.value = d.or
		}
	}
	if w.TimeoutMinutes == 0 {
		w.TimeoutMinutes = 120
	}
}
