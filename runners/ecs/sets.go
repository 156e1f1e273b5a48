package main

import (
	"slices"
	"strings"
)

// sets are what Slipway has set of what a service may also have of others, by the names of the inputs. Only that is
// removed once the inputs name it no more. They are the words of tagSets.
type sets []string

// The words of tagSets. That of a target group has its ARN.
const (
	setCapacity    = "capacity_providers"
	setHooks       = "hooks"
	setPauses      = "pause_stages"
	setTargetGroup = "target_group_arn="
	setNothing     = "none"
)

// sets returns what the inputs set.
func (in *wanted) sets() (s sets) {
	for _, set := range []struct {
		word string
		is   bool
	}{
		{setTargetGroup + in.TargetGroupARN, in.TargetGroupARN != ""}, {setCapacity, len(in.CapacityProviders) > 0},
		{setHooks, len(in.Hooks) > 0}, {setPauses, len(in.PauseStages) > 0},
	} {
		if set.is {
			s = append(s, set.word)
		}
	}
	if s == nil {
		return sets{setNothing}
	}
	return s
}

func (s sets) String() string { return strings.Join(s, " ") }

func (s sets) has(word string) bool { return slices.Contains(s, word) }

// targetGroup returns the ARN of the target group that was set, "" for none.
func (s sets) targetGroup() string {
	for _, word := range s {
		if arn, ok := strings.CutPrefix(word, setTargetGroup); ok {
			return arn
		}
	}
	return ""
}
