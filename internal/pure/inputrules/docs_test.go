package inputrules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/pure/inputprop"
)

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")

func TestTheExamplesOfTheDocumentationKeepTheRules(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, block := range jsonBlock.FindAllStringSubmatch(document(t, "inputs.md"), -1) {
		text := strings.TrimSpace(block[1])
		if strings.HasPrefix(text, `{"data"`) {
			continue // an answer of the API
		}
		if !strings.HasPrefix(text, "[") {
			text = "[" + text + "]"
		}
		list := mustDecodeList(t, text)
		violations, warnings, err := rules.CheckList(t.Context(), list, "")
		if err != nil || len(violations) > 0 || len(warnings) > 0 {
			t.Errorf("%s: %v %v %v", text, violations, warnings, err)
		}
		inputprop.Walk(list, "", func(p inputprop.Property, _ string) {
			kind, _, _ := strings.Cut(p.Head().Type, ":")
			kinds[kind] = true
		})
	}
	for _, p := range inputprop.Variants() {
		if kind, _, _ := strings.Cut(p.Head().Type, ":"); !kinds[kind] {
			t.Errorf("there is no example of %s", kind)
		}
	}
}

// Rules are named in calls of Fail, in flaws and warnings, and where flaws are returned.
var ruleName = regexp.MustCompile(`(?:\bFail\(|FailMember\([^,]+, |FailBelow\([^,]+, |Rule: |warn\()"([a-z_0-9]+)"|return "([a-z]+_[a-z]+)"`)

func TestTheDocumentationHasEveryRule(t *testing.T) {
	t.Parallel()
	text, seen := document(t, "inputs.md"), 0
	for _, pattern := range []string{"../inputvalues/*.go", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range ruleName.FindAllStringSubmatch(string(code), -1) {
				seen++
				if name := rule[1] + rule[2]; !strings.Contains(text, "`"+name+"`") {
					t.Errorf("%s: no word of %s", file, name)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d mentions of rules were found in the code", seen)
	}
}
