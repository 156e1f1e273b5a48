package fake

import (
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// unfit returns the error of a task definition that AWS does not take.
func unfit(message string, args ...any) error { return refuse("ClientException", message, args...) }

// checkDefinition refuses a task definition that cannot be registered.
func checkDefinition(in *ecs.RegisterTaskDefinitionInput) error {
	switch {
	case !resourceName.MatchString(deref(in.Family)):
		return unfit("The family is not valid, found %q.", deref(in.Family))
	case len(in.ContainerDefinitions) == 0:
		return unfit("Container list cannot be empty.")
	case in.NetworkMode != "" && !slices.Contains(in.NetworkMode.Values(), in.NetworkMode):
		return unfit("The network mode is not valid, found %q.", in.NetworkMode)
	}

	if err := checkTags(in.Tags); err != nil {
		return err
	}
	fargate := slices.Contains(in.RequiresCompatibilities, types.CompatibilityFargate)
	if fargate && in.NetworkMode != types.NetworkModeAwsvpc {
		return unfit("When networkMode=%s, the launch type FARGATE is not supported: it needs awsvpc.", in.NetworkMode)
	}
	if fargate && !fitsFargate(deref(in.Cpu), deref(in.Memory)) {
		return unfit("No Fargate configuration exists for given values: %s CPU, %s memory.", deref(in.Cpu), deref(in.Memory))
	}
	return checkContainerDefinitions(in)
}

func checkContainerDefinitions(in *ecs.RegisterTaskDefinitionInput) error {
	names := map[string]bool{}
	essential := false
	for _, c := range in.ContainerDefinitions {
		name := deref(c.Name)
		switch {
		case !resourceName.MatchString(name):
			return unfit("Container.name is not valid, found %q.", name)
		case deref(c.Image) == "":
			return unfit("Container.image should not be null or empty.")
		case names[name]:
			return unfit("Container.name must be unique, found %s twice.", name)
		case in.Memory == nil && c.Memory == nil && c.MemoryReservation == nil:
			return unfit("Invalid setting for container '%s'. At least one of 'memory' or 'memoryReservation' must be "+
				"specified.", name)
		case in.NetworkMode == types.NetworkModeNone && len(c.PortMappings) > 0:
			return unfit("When networkMode=none, port mappings are not allowed.")
		}

		names[name] = true
		essential = essential || c.Essential == nil || *c.Essential
		for _, p := range c.PortMappings {
			own := in.NetworkMode == types.NetworkModeAwsvpc || in.NetworkMode == types.NetworkModeHost
			if own && p.HostPort != nil && *p.HostPort != deref(p.ContainerPort) {
				return unfit("When networkMode=%s, the host ports and container ports in port mappings must match.", in.NetworkMode)
			}
		}
	}

	if !essential {
		return unfit("At least one container must be essential.")
	}
	return nil
}

// sizes are what memory a task of Fargate may have in MiB, by its CPU units: from, to, in steps of.
var sizes = map[int][3]int{
	512: {1024, 4096, 1024}, 1024: {2048, 8192, 1024}, 2048: {4096, 16384, 1024}, 4096: {8192, 30720, 1024},
	8192: {16384, 61440, 4096}, 16384: {32768, 122880, 8192},
}

// fitsFargate reports whether there are tasks of Fargate of a size. It knows numbers alone, not texts such as 1 GB.
func fitsFargate(cpu, memory string) bool {
	units, err := strconv.Atoi(cpu)
	if err != nil {
		return false
	}
	mib, err := strconv.Atoi(memory)
	if err != nil {
		return false
	}
	if units == 256 {
		return mib == 512 || mib == 1024 || mib == 2048
	}
	s, ok := sizes[units]
	return ok && mib >= s[0] && mib <= s[1] && (mib-s[0])%s[2] == 0
}
