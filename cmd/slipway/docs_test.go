package main_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	main "slipway/cmd/slipway"
	"slipway/internal/remote/cli"
)

// flagsOf returns the flags of each command that has settings, as "serve --listen", with their variables and defaults.
// Those of the commands for users are said with each command, and have no variables.
func flagsOf(root *cobra.Command) map[string]string {
	all := map[string]string{}
	for _, c := range root.Commands() {
		maps.Copy(all, flagsOf(c))
		if c.HasSubCommands() && c.Name() != "runner" || c.Hidden || cli.Is(c) {
			continue
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name := strings.TrimPrefix(c.CommandPath(), "slipway ") + " --" + f.Name
			all[name] = fmt.Sprintf("%s %q", main.VariableOf(f.Name), f.DefValue)
		})
	}
	return all
}

var (
	quoted = regexp.MustCompile("`([^`]*)`")
	only   = regexp.MustCompile(" \\(`([a-z ]+)` only\\)")
)

// documentedFlags reads the tables of docs/operations.md whose first column is "flag of …", in the form of flagsOf.
// A table names its commands at its head, or has a column of them. A default is `in quotes` or none, and may have
// another for one command after it: `a`; for `demo` `b`.
func documentedFlags(t *testing.T, page string) map[string]string {
	t.Helper()
	all := map[string]string{}
	var head []string
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		switch {
		case strings.HasPrefix(line, "| flag of "):
			head = cells
		case !strings.HasPrefix(line, "|"):
			head = nil
		case head != nil && strings.HasPrefix(line, "| `--"):
			documentedFlag(t, head, cells, all)
		}
	}
	return all
}

func documentedFlag(t *testing.T, head, cells []string, all map[string]string) {
	t.Helper()
	if len(cells) != len(head) {
		t.Fatalf("%d cells under %v: %v", len(cells), head, cells)
	}
	name := strings.TrimPrefix(quoted.FindStringSubmatch(cells[0])[1], "--")
	commands := unquote(head[0])
	if head[3] == "commands" {
		commands = unquote(cells[3])
	}
	if one := only.FindStringSubmatch(cells[0]); one != nil {
		commands = one[1:]
	}
	variable, usual, special := unquote(cells[1])[0], "", map[string]string{}
	for i, part := range strings.Split(cells[2], "; for ") {
		command := unquote(part)
		switch {
		case i == 0 && len(command) > 0:
			usual = command[0]
		case i > 0:
			special[command[0]] = strings.Join(command[1:], "")
		}
	}
	for _, command := range commands {
		value, ok := special[command]
		if !ok {
			value = usual
		}
		if key := command + " --" + name; all[key] != "" {
			t.Errorf("%s has two rows", key)
		} else {
			all[key] = fmt.Sprintf("%s %q", variable, value)
		}
	}
}

// unquote returns what stands in a cell between `quotes`.
func unquote(cell string) (all []string) {
	for _, found := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, found[1])
	}
	return all
}

func TestOperationsGuideHasEveryFlagWithItsVariableAndDefault(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	flags, rows := flagsOf(main.Commands(variables{}.lookup)), documentedFlags(t, string(page))
	if len(flags) < 100 {
		t.Fatalf("only %d flags", len(flags))
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if flags[name] != rows[name] {
			t.Errorf("%s: the program has %s, docs/operations.md %s", name, flags[name], rows[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if flags[name] == "" {
			t.Errorf("%s: docs/operations.md has it, the program does not", name)
		}
	}
}

func TestDocumentsNameTheAddressThatIsServed(t *testing.T) {
	t.Parallel()
	flags := flagsOf(main.Commands(variables{}.lookup))
	served := flags["serve --listen"] + flags["demo --listen"]
	for _, file := range []string{"README.md", "docs/tutorial.md", "docs/rest.md", "docs/ecs.md", "docs/frontend.md", "docs/persisted-documents.md"} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`127\.0\.0\.1:\d+`).FindAllString(string(text), -1) {
			if !strings.Contains(served, `"`+found+`"`) {
				t.Errorf("%s: %s, served is %s", file, found, served)
			}
		}
	}
}
