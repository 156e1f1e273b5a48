package admission

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"slipway/internal/base/fault"
)

// planParts are the parts of a plan's token: what may move between a plan and the mutation that was planned.
var planParts = []string{"request", "release", "live", "rules", "references", "quarantine"}

// partBytes is how many bytes of a hash a part of a token has.
const partBytes = 8

// Token returns what fixes a proposal as it was seen: a hash of each part, in hex. It grants nothing.
func (p *Proposal) Token() (string, error) {
	type applied struct {
		ID      string
		Version int32
	}

	var rules []applied
	for _, r := range p.Rules {
		if r.Binds(p.Operation) {
			rules = append(rules, applied{r.ID, r.Version})
		}
	}

	parts := []any{[]any{p.Operation, p.Request()}, p.Digest, p.Live, rules, p.References, p.Quarantine}
	hashes := make([]string, len(parts))
	for i, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("deployment: %s of a plan: %w", planParts[i], err)
		}
		sum := sha256.Sum256(text)
		hashes[i] = hex.EncodeToString(sum[:partBytes])
	}

	return strings.Join(hashes, "."), nil
}

var tokenForm = regexp.MustCompile(`^[0-9a-f]{16}(\.[0-9a-f]{16}){5}$`)

// checkPlanToken returns what is wrong with the token of a plan, nil for none.
func checkPlanToken(token *string) []fault.Violation {
	if token == nil || tokenForm.MatchString(*token) {
		return nil
	}
	return []fault.Violation{
		{
			Pointer: "/expectedPlan", Rule: "pattern", Message: fmt.Sprintf("must be the token of a plan, found %.120q", *token),
		},
	}
}

// checkPlan returns DeploymentPlanMoved if a proposal is another than the caller has seen; expected is nil for a
// caller who has seen none.
func (p *Proposal) checkPlan(expected *string) error {
	if expected == nil {
		return nil
	}
	token, err := p.Token()
	if err != nil || token == *expected {
		return err
	}

	var moved []string
	now, then := strings.Split(token, "."), strings.Split(*expected, ".")
	for i, part := range planParts {
		if now[i] != then[i] {
			moved = append(moved, part)
		}
	}

	f := fault.New(
		fault.DeploymentPlanMoved, "The plan is out of date, because these changed: %s. Make a new plan.",
		strings.Join(moved, ", "),
	)
	f.Metadata = map[string]any{"moved": moved}
	return f
}
