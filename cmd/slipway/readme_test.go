package main_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// pastes is a block of a page to paste, and what the page shows of what its last command prints.
type pastes struct {
	commands []string
	prints   []string
}

var (
	shown = regexp.MustCompile("(?ms)^```(sh|)\n(.*?)^```$")
	took  = regexp.MustCompile(` [\d.]+ m?s$`)
)

// readPastes returns the blocks of a page.
func readPastes(t *testing.T, text string) (all []pastes) {
	t.Helper()
	blocks := shown.FindAllStringSubmatch(text, -1)
	if fences := strings.Count(text, "\n```"); fences != 2*len(blocks) {
		t.Fatalf("%d blocks of %d: each is sh, or what that prints", len(blocks), fences/2)
	}
	for _, found := range blocks {
		lines := strings.Split(strings.TrimSuffix(found[2], "\n"), "\n")
		if found[1] == "sh" {
			all = append(all, pastes{commands: lines})
		} else {
			all[len(all)-1].prints = lines
		}
	}
	return all
}

// readme returns the blocks of the README: how to begin, how to deploy, fail and roll back, and a server of one's own.
func readme(t *testing.T) (try, rollBack, own pastes) {
	t.Helper()
	all := readPastes(t, read(t, "../../README.md"))
	if len(all) != 3 {
		t.Fatalf("%d blocks to paste", len(all))
	}
	return all[0], all[1], all[2]
}

func TestTheReadmeStartsTheDemo(t *testing.T) {
	t.Parallel()
	try, _, _ := readme(t)
	if len(try.commands) != 2 || try.commands[0] != "make build" || try.commands[1] != "bin/slipway demo" {
		t.Fatalf("%q", try.commands)
	}
	if !strings.Contains(read(t, "../../Makefile"), "\nbuild: bin/slipway ") {
		t.Error("make build does not write bin/slipway")
	}
	d := runDemo(t, "100")
	if got := status(t, d.url+"/playground", ""); got != 200 {
		t.Errorf("the page of GraphiQL is answered %d", got)
	}
}

func TestTheReadmeFailsAndRollsBack(t *testing.T) {
	t.Parallel()
	_, rollBack, _ := readme(t)
	d := runDemo(t, "100")
	var script strings.Builder
	for _, command := range rollBack.commands {
		script.WriteString(command + "\nprintf '" + between + "'$?\n")
	}
	printed := newNewcomer(t).shell(script.String(), "SLIPWAY_SERVER="+d.url, "SLIPWAY_TOKEN="+d.token)

	outputs := strings.Split(printed, between)
	for i, command := range rollBack.commands {
		want := "0"
		if strings.Contains(command, "broken") {
			want = "6"
		}
		if i+1 >= len(outputs) || !strings.HasPrefix(outputs[i+1], want) {
			t.Fatalf("%s does not exit with %s: %s", command, want, printed)
		}
	}
	checkPrints(t, rollBack.prints, strings.Split(outputs[len(outputs)-2], "\n"))
}

// checkPrints wants each line that a page shows among the lines that are printed, in the same order, however long it took.
func checkPrints(t *testing.T, page, printed []string) {
	t.Helper()
	if len(page) == 0 {
		t.Error("the page shows nothing")
	}
	for _, line := range page {
		for len(printed) > 0 && !matches([]string{took.ReplaceAllString(line, " …")}, printed[:1]) {
			printed = printed[1:]
		}
		if len(printed) == 0 {
			t.Errorf("no line %q, or not in this order", line)
		}
	}
}

func TestTheReadmeStartsAServer(t *testing.T) {
	t.Parallel()
	_, _, own := readme(t)
	last := len(own.commands) - 1
	own.commands[last] += " 2>serve.log &"
	n := newNewcomer(t)
	printed := n.shell("set -e\n" + strings.Join(own.commands, "\n") + "\nslipway whoami --fields organization.slug\n")
	if !regexp.MustCompile(`(?m)^organization\.slug +acme$`).MatchString(printed) {
		log, err := os.ReadFile(n.path("serve.log"))
		t.Error(fmt.Errorf("no organization acme in %s: %s, %w", printed, log, err))
	}
	for _, file := range []string{"slipway.db", "runner.token"} {
		if _, err := os.Stat(n.path(file)); err != nil {
			t.Error(err)
		}
	}
}
