package meter

import (
	"fmt"

	"slipway/internal/base/fault"
)

// tooCostly returns the error of work over the limit. It names the place that cost most.
func (m *Meter) tooCostly() *fault.Error {
	text := fmt.Sprintf("The operation is over the limit %q (--max-cost): at most %d, and it came to more while it ran.",
		"cost", m.limits.Cost)
	metadata := map[string]any{"limit": "cost", "value": m.limits.Cost}
	if s := m.largest(func(s *share) float64 { return s.cost }); s != nil {
		text += fmt.Sprintf(" Most of it, %d, is %s, which counts %s.", Round(s.cost), s.path, weights[s.kind].unit)
		metadata["path"] = s.path
	}
	e := fault.New(fault.DocumentLimitExceeded, "%s Ask for less in one operation, or in smaller pages.", text)
	e.Metadata = metadata
	return e
}

// tooLarge returns the error of an answer over the limit. It names the place that most of it comes from.
func (m *Meter) tooLarge(at Stage) *fault.Error {
	text := fmt.Sprintf("The answer is over the limit %q (--max-answer): at most %d bytes.", "answer", m.limits.Answer)
	if at == Read {
		text = fmt.Sprintf("What is read for the answer is over the limit %q (--max-answer): "+
			"at most %d bytes, a quarter more than an answer has.",
			"answer", maxRead(m.limits.Answer))
	}
	metadata := map[string]any{"limit": "answer", "value": m.limits.Answer}
	for ; at >= 0; at-- { // the writer does not know where it is
		if s := m.largest(func(s *share) float64 { return float64(s.bytes[at]) }); s != nil && s.bytes[at] > 0 {
			text += fmt.Sprintf(" Most of it is %s.", s.path)
			metadata["path"] = s.path
			break
		}
	}
	e := fault.New(fault.RequestAnswerTooLarge, "%s Ask for less in one operation, or in smaller pages.", text)
	e.Metadata = metadata
	return e
}

// largest returns the share with the highest value.
func (m *Meter) largest(of func(*share) float64) (most *share) {
	for _, s := range m.shares {
		if most == nil || of(s) > of(most) || of(s) == of(most) && s.path < most.path {
			most = s
		}
	}
	return most
}
