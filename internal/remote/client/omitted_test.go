package client_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sentAsNull are the members that are sent as null if they are not given. Servers have known them since there is a client.
var sentAsNull = []string{
	"ArchiveEnvironmentInput.acknowledgeDependents", "ArchiveEnvironmentInput.acknowledgeLive",
	"ArchiveModuleInstanceInput.acknowledgeDependents", "ArchiveModuleInstanceInput.acknowledgeLive",
	"ArchiveProjectInput.acknowledgeDependents", "ArchiveProjectInput.acknowledgeLive",
	"CancelDeploymentInput.force",
	"DestroyModuleInstanceInput.acknowledgeDependents", "DestroyModuleInstanceInput.idempotencyKey",
}

var (
	inputType = regexp.MustCompile(`(?ms)^type (\w+) struct \{\n(.*?)^\}`)
	member    = regexp.MustCompile("(?m)^\\s\\w+ +\\*\\S+ +`json:\"(\\w+)(,omitempty)?\"`")
)

// A server of before refuses a member that it does not know, also as null: a member that is new must not be sent unless it is
// given. The operations say so: # @genqlient(for: "CancelDeploymentInput.reason", omitempty: true).
func TestMembersThatAreNotGivenAreNotSent(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("generated.go")
	if err != nil {
		t.Fatal(err)
	}
	seen, kept := 0, []string{}
	for _, found := range inputType.FindAllStringSubmatch(string(code), -1) {
		name := found[1]
		if strings.HasPrefix(name, "__") || !strings.HasSuffix(name, "Input") && !strings.HasSuffix(name, "Filter") {
			continue
		}
		for _, m := range member.FindAllStringSubmatch(found[2], -1) {
			seen++
			if key := name + "." + m[1]; m[2] == "" {
				kept = append(kept, key)
			}
		}
	}
	slices.Sort(kept)
	if seen < 40 || !slices.Equal(kept, slices.Sorted(slices.Values(sentAsNull))) {
		t.Errorf("of %d members these are sent as null: %q", seen, kept)
	}
}
