package document_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/remote/cli/document"
)

// nested returns lists within one another.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// mappings returns block mappings within one another.
func mappings(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "%sk:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// bomb returns aliases of lists of aliases: each level has ten times the values of the one before.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n")
	for i := range levels {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return b.String()
}

func TestLimits(t *testing.T) {
	t.Parallel()
	const levels, nodes, bytes = document.MaxLevels, document.MaxNodes, document.MaxBytes
	for name, c := range map[string]struct {
		within, beyond, want string
	}{
		"bytes":             {"#" + strings.Repeat("x", bytes-3) + "\n1", "#" + strings.Repeat("x", bytes-2) + "\n1", fmt.Sprintf("x.yaml: must have at most %d bytes, found %d", bytes, bytes+1)},
		"levels of JSON":    {nested(levels), nested(levels + 1), "x.yaml:1:65: must be nested at most 64 levels deep"},
		"flow levels":       {"# c\n" + nested(levels), "# c\n" + nested(levels+1), "x.yaml:2:65: must be nested at most 64 levels deep"},
		"block levels":      {mappings(levels), mappings(levels + 1), "x.yaml:65:65: must be nested at most 64 levels deep"},
		"levels of dashes":  {strings.Repeat("- ", levels) + "a", strings.Repeat("- ", levels+1) + "a", "x.yaml:1:129: must be nested"},
		"levels of aliases": {"a: &a " + nested(levels-2) + "\nb: [*a]", "a: &a " + nested(levels-1) + "\nb: [*a]", "x.yaml:2:5: must be nested"},
		"nodes of JSON":     {"[" + strings.Repeat("1,", nodes-2) + "1]", "[" + strings.Repeat("1,", nodes-1) + "1]", fmt.Sprintf("x.yaml:1:%d: has more than 100000 values", 2*nodes)},
		"nodes of YAML":     {"[" + strings.Repeat("a,", nodes-2) + "a]", "[" + strings.Repeat("a,", nodes-1) + "a]", fmt.Sprintf("x.yaml:1:%d: has more than 100000 values", 2*nodes)},
		"nodes of aliases":  {bomb(3), bomb(4), "x.yaml:5:45: has more than 100000 values, aliases expanded"},
		"bytes of aliases": {
			"a: &a " + strings.Repeat("x", bytes/4) + "\nb: [" + strings.Repeat("*a, ", 14) + "*a]",
			"a: &a " + strings.Repeat("x", bytes/4) + "\nb: [" + strings.Repeat("*a, ", 15) + "*a]",
			"x.yaml:2:65: has more than 4194304 bytes",
		},
		"levels of the parser": {nested(levels), strings.Repeat("[", 20_000), "x.yaml:1:1: cannot be read: exceeded max depth"},
		"a key":                {strings.Repeat("k", 1024) + ": 1", strings.Repeat("k", 1025) + ": 1", "x.yaml:1:1: cannot be read: mapping values are not allowed in this context"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := document.Read("x.yaml", []byte(c.within)); err != nil {
				t.Errorf("within: %v", err)
			}
			_, err := document.Read("x.yaml", []byte(c.beyond))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("beyond: %v, want %s", err, c.want)
			}
		})
	}
}
