package main

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// unknownCount is the value of tagCount while a count is being set, or the service is being destroyed: it may be in
// force or not.
const unknownCount = "unknown"

// desiredCount is how many tasks a deployment wants.
type desiredCount struct {
	// set is the count to set, nil for what the service has.
	set *int32
	// tag is what tagCount says afterwards.
	tag string
	// kept says that the count that the inputs name is not set, "" if it is.
	kept bool
}

// count returns the desired count. Autoscaling and others change that of a service, so it is only set if the inputs
// name another one than Slipway has set last; live is nil for a new service.
func (in *wanted) count(live *types.Service) desiredCount {
	last := ""
	if live != nil {
		last = tagOf(live.Tags, tagCount)
	}

	switch {
	case live == nil, last == unknownCount && live.DesiredCount == 0:
		return setCount(either(in.Count, 1))
	case last == unknownCount && in.Count != nil:
		return setCount(*in.Count)
	case last == unknownCount:
		return desiredCount{tag: decimal(live.DesiredCount)}
	case last == "":
		named := either(in.Count, live.DesiredCount)
		return desiredCount{tag: decimal(named), kept: named != live.DesiredCount}
	case in.Count != nil && decimal(*in.Count) != last:
		return setCount(*in.Count)
	default:
		return desiredCount{tag: last}
	}
}

func setCount(n int32) desiredCount { return desiredCount{set: &n, tag: decimal(n)} }

// claimed returns what tagCount says before the update.
func (d desiredCount) claimed() string {
	if d.set != nil {
		return unknownCount
	}
	return d.tag
}

func decimal(n int32) string { return strconv.Itoa(int(n)) }

func either(n *int32, or int32) int32 {
	if n == nil {
		return or
	}
	return *n
}
