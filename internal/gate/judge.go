package gate

import "time"

// Facts are what is known of a deployment that is to be judged.
type Facts struct {
	Operation Operation
	// Voices are those who have approved and whose voices count: they may deploy there, and are others than the author.
	Voices []Voice
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
	// At is when it will be met by time alone; nil where it is met, will not be so, or nobody knows.
	At *time.Time
	// Needed and Given are how many approvals there have to be, and are; nil for other demands.
	Needed, Given *int32
}

// Judge returns what the rules that bind an operation come to at a time, in their order. Rules of other places must not be
// among them.
func Judge(rules []Rule, f Facts, at time.Time) []Requirement {
	var all []Requirement
	for i := range rules {
		if r := &rules[i]; r.Binds(f.Operation) {
			all = append(all, r.judge(f, at))
		}
	}
	return all
}

func (r *Rule) judge(f Facts, at time.Time) Requirement {
	switch d := r.Demand; {
	case d.Approvals != nil:
		return d.Approvals.judge(r, f)
	case d.Hours != nil:
		return d.Hours.judge(r, at)
	case d.Freeze != nil:
		return d.Freeze.judge(r, at)
	case d.LiveIn != nil:
		return d.LiveIn.judge(r, f, at)
	}
	// A newer program may know it.
	return Requirement{Rule: r, Message: "Rule \"" + r.Name + "\": this server does not know its demand."}
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

// Messages returns the messages of requirements.
func Messages(all []Requirement) []string {
	messages := make([]string, len(all))
	for i, r := range all {
		messages[i] = r.Message
	}
	return messages
}

// Opens returns the first moment, not before one, at which all rules of hours and freezes that bind an operation are met;
// nil where there is none within a year, or too many changes come before it.
func Opens(rules []*Rule, op Operation, at time.Time) *time.Time {
	const maxSteps = 1000
	now, end := at, at.AddDate(1, 0, 0)
	for range maxSteps {
		latest := now
		for _, r := range rules {
			if !r.Binds(op) {
				continue
			}
			opens := &now
			switch {
			case r.Demand.Hours != nil:
				opens = r.Demand.Hours.opens(now)
			case r.Demand.Freeze != nil:
				opens = r.Demand.Freeze.opens(now)
			}
			if opens == nil {
				return nil
			}
			if opens.After(latest) {
				latest = *opens
			}
		}
		switch {
		case latest.Equal(now):
			return &now
		case latest.After(end):
			return nil
		}
		now = latest
	}
	return nil
}
