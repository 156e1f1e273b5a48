package gate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"slipway/internal/base/meter"
)

// Facts are what is known of a deployment that is to be judged.
type Facts struct {
	Operation Operation
	// Approvals are those that count: whoever gave one may deploy there, and is another than the author.
	Approvals []Approval
	// Stay is where and when that was live which is promoted, or from which a replay was promoted; nil for nothing.
	Stay *Stay
	// SucceededHere is whether it replays what has succeeded in this instance.
	SucceededHere bool
}

// Requirement is what a rule comes to for a deployment.
type Requirement struct {
	Rule *Rule
	Met  bool
	// Message says it in a sentence.
	Message string
	// At is when it will be met by time alone; nil if it is met, will not be so, or nobody knows.
	At *time.Time
	// Needed and Given are how many approvals there have to be, and are; nil for other demands.
	Needed, Given *int32
	// ApprovalIDs are the ids of the approvals that count, which may be more than needed; nil for other demands.
	ApprovalIDs []string
	// hours are what a demand for hours leaves open; nil for other demands, and in an unknown time zone.
	hours *zoneHours
}

// Judge returns what the rules that bind an operation come to at a time, in their order. Rules of other places must not
// be among them. Each rule is work of the context's request, with its part in looking for an opening. Judge fails with
// the error that ends that request.
func Judge(ctx context.Context, rules []Rule, f Facts, at time.Time) ([]Requirement, error) {
	var all []Requirement
	for i := range rules {
		r := &rules[i]
		if !r.Binds(f.Operation) {
			continue
		}
		if err := meter.Spend(ctx, meter.Rules, 1); err != nil {
			return nil, err
		}
		all = append(all, r.judge(f, at))
	}
	return all, nil
}

func (r *Rule) judge(f Facts, at time.Time) Requirement {
	if r.Demand.Kind == nil {
		return Requirement{Rule: r, Message: fmt.Sprintf("Rule %q: it demands nothing that this server knows.", r.Name)}
	}
	return r.Demand.Kind.judge(r, f, at)
}

// Unmet returns the requirements that are not met.
func Unmet(all []Requirement) []Requirement {
	var unmet []Requirement
	for _, r := range all {
		if !r.Met {
			unmet = append(unmet, r)
		}
	}
	return unmet
}

// MaxNamed is how many rules an error or a warning names at most; it counts the rest.
const MaxNamed = 20

// Summary returns the messages of requirements as sentences, one after the other.
func Summary(unmet []Requirement) string { return strings.Join(messages(unmet), " ") }

// messages returns the messages of the first requirements, and how many more there are.
func messages(unmet []Requirement) []string {
	var list []string
	for _, r := range unmet[:min(len(unmet), MaxNamed)] {
		list = append(list, r.Message)
	}
	if more := len(unmet) - MaxNamed; more > 0 {
		list = append(list, fmt.Sprintf("%d more rules are not met.", more))
	}
	return list
}
