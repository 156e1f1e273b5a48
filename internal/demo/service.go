package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"text/template"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/ecs"
)

const (
	accountID = "123456789012"
	rolling   = "ROLLING"
	blue      = "BLUE_GREEN"
)

// service is an instance of a container service and where its releases have got to.
type service struct {
	instanceFile
	instanceID string
	// place is project/environment/name.
	place, project, environment string

	strategy string
	// replicas is how many tasks it wants.
	replicas int32
	// balancer names its load balancer, empty for workers.
	balancer string
	hooks    bool

	// build and revision count its releases and task definitions.
	build, revision int32
	// live is the revision of the service that has the traffic, and color its target group.
	live  string
	color int
	// liveDeployment is the cloud's deployment that is live, and liveARN its service deployment.
	liveDeployment, liveARN string
	// last is its last deployment; succeeded are those that went well, without repetitions in a row.
	last      string
	succeeded []string
}

func newService(instanceID, project, environment string, in instanceFile) *service {
	s := &service{
		instanceFile: in, instanceID: instanceID, project: project, environment: environment,
		place:    project + "/" + environment + "/" + in.Name,
		strategy: rolling, replicas: 1, revision: 11,
	}
	if n, ok := in.Inputs["replicas"].(float64); ok {
		s.replicas = int32(n)
	}
	if strategy, ok := in.Inputs["strategy"].(string); ok {
		s.strategy = strategy
	}
	if in.Module == "aws/ecs-service" {
		s.balancer = fmt.Sprintf("%s-%s", project, environment)
	}
	s.hooks, _ = in.Inputs["pre_deploy"].(bool)
	return s
}

// region is where a service runs: those of payments in Frankfurt, all others in Dublin.
func (s *service) region() string {
	if s.project == "payments" {
		return "eu-central-1"
	}
	return "eu-west-1"
}

// arn names something of the service in the cloud; what is below it follows in rest.
func (s *service) arn(kind, rest string) string {
	name := fmt.Sprintf("arn:aws:ecs:%s:%s:%s/%s-%s", s.region(), accountID, kind, s.project, s.environment)
	if kind != "cluster" {
		name += "/" + s.Name
	}
	return name + rest
}

// family is the name of its task definitions.
func (s *service) family() string { return s.project + "-" + s.environment + "-" + s.Name }

// hosts are those whose requests the load balancer sends to the service.
func (s *service) hosts() []string {
	named, ok := s.Inputs["hosts"].([]any)
	if !ok {
		return []string{s.Name + "." + s.project + ".internal.example"}
	}
	hosts := make([]string, len(named))
	for i, host := range named {
		hosts[i] = fmt.Sprint(host)
	}
	return hosts
}

// release returns the version, values and tag of the next release.
func (s *service) release(m *published) (versionID string, values *strictjson.Node, tag string, err error) {
	s.build++
	name := s.Version
	if s.Earlier != "" && s.build <= 3 {
		name = s.Earlier
	}
	v := m.versions[name]
	tag = fmt.Sprintf("2.%d.%d", 14+s.build/3, s.build%3)
	inputs := maps.Clone(s.Inputs)
	inputs["image"] = fmt.Sprintf("%s:%s", inputs["image"], tag)
	maps.DeleteFunc(inputs, func(id string, _ any) bool { return !slices.Contains(v.inputs, id) })
	text, err := json.Marshal(inputs)
	if err != nil {
		return "", nil, "", err
	}
	values, err = strictjson.Parse(text)
	return v.id, values, tag, err
}

var taskDefinition = template.Must(template.New("").Option("missingkey=error").ParseFS(files, taskDefinitionFile))

const taskDefinitionFile = "task-definition.json.tmpl"

// artifact returns the next revision of the service's task definition, with the image of a tag.
func (s *service) artifact(tag string) (*strictjson.Node, error) {
	s.revision++
	arn := fmt.Sprintf("arn:aws:ecs:%s:%s:task-definition/%s:%d", s.region(), accountID, s.family(), s.revision)
	port, balanced := s.Inputs["port"].(float64)
	if !balanced {
		port = 8080
	}
	cpu, memory := 512, 1024
	if size, ok := s.Inputs["size"].(map[string]any); ok {
		cpu, memory = int(size["cpu"].(float64)), int(size["memory"].(float64))
	}

	const telemetryCPU, telemetryMemory = 64, 128
	var definition bytes.Buffer
	err := taskDefinition.ExecuteTemplate(&definition, taskDefinitionFile, map[string]any{
		"Family": s.family(), "Name": s.Name, "Image": s.Inputs["image"], "Tag": tag, "Port": int(port),
		"Balanced": s.balancer != "",
		"Project":  s.project, "Environment": s.environment, "Region": s.region(), "Account": accountID,
		"ARN": arn, "Revision": s.revision, "CPU": cpu, "Memory": memory,
		"TelemetryCPU": telemetryCPU, "TelemetryMemory": telemetryMemory,
		"OwnCPU": cpu - telemetryCPU, "OwnMemory": memory - telemetryMemory,
	})
	if err != nil {
		return nil, err
	}
	return tree(&ecs.TaskDefinition{ARN: &arn, Definition: definition.Bytes(), Revision: &s.revision}), nil
}

// beforehand is what is known of a deployment before it begins.
func (s *service) beforehand() *strictjson.Node {
	post, _ := s.Inputs["post_deploy"].(bool)
	return tree(&ecs.Data{
		Type: ecs.Type, ClusterARN: new(s.arn("cluster", "")), ServiceARN: new(s.arn("service", "")),
		PreDeployEnabled: &s.hooks, PostDeployEnabled: &post,
	})
}

// tree is what this package has made, as a caller sends it.
func tree(v any) *strictjson.Node { return strictjson.MustParse(string(strictjson.Encode(v))) }
