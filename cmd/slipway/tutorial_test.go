package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tutorial is what there is to do on a page of a beginner's: its blocks in their order.
type tutorial struct {
	// files are those that are to be written before a step, by the number of that.
	files map[int]writing
	steps []step
}

// writing is a file that a page shows whole.
type writing struct{ name, text string }

// step is a command line and what it prints, a line each.
type step struct {
	command string
	prints  []string
}

var (
	block  = regexp.MustCompile("(?ms)^([^\n]*)\n\n```(console|sh)\n(.*?)^```$")
	inFile = regexp.MustCompile("`([\\w./-]+)`:$")
)

// readTutorial reads a page: of a console block each line after "$ " is a command, and below it is what that prints; a sh block
// is the file whose name ends the line above.
func readTutorial(t *testing.T, text string) *tutorial {
	t.Helper()
	page := &tutorial{files: map[int]writing{}}
	blocks := block.FindAllStringSubmatch(text, -1)
	if fences := strings.Count(text, "\n```"); fences != 2*len(blocks) {
		t.Fatalf("%d blocks of %d: each has a line above it, and is of console or sh", len(blocks), fences/2)
	}
	for _, found := range blocks {
		if found[2] == "sh" {
			name := inFile.FindStringSubmatch(found[1])
			if name == nil {
				t.Fatalf("%q names no file for what is below it", found[1])
			}
			page.files[len(page.steps)] = writing{name[1], found[3]}
			continue
		}
		for line := range strings.Lines(found[3]) {
			line = strings.TrimSuffix(line, "\n")
			command, ok := strings.CutPrefix(line, "$ ")
			switch {
			case ok:
				page.steps = append(page.steps, step{command: command})
			case len(page.steps) == 0:
				t.Fatalf("%q is printed before any command", line)
			default:
				last := &page.steps[len(page.steps)-1]
				last.prints = append(last.prints, line)
			}
		}
	}
	return page
}

// between stands where a script prints the number of a step before it runs.
const between = "\x1e"

// script returns a script of the steps, each with the exit code of the one before in $?.
func (p *tutorial) script() string {
	var b strings.Builder
	for i, s := range p.steps {
		if f, ok := p.files[i]; ok {
			b.WriteString("cat >" + f.name + " <<'END OF FILE'\n" + f.text + "END OF FILE\n")
		}
		b.WriteString("code=$?; printf '" + between + "'; (exit $code)\n" + s.command + "\n")
	}
	return b.String()
}

// onTheWay is what depends on the time at which a command looks: how a deployment stands before its end, and that the server is
// not there yet.
var onTheWay = regexp.MustCompile(`^dep_\S+ +(?:PENDING|RUNNING)\b|cannot be reached: .*; trying again for `)

// matches reports whether lines are printed as a page has them: … stands for any text, and spaces between columns do not count.
func matches(page, printed []string) bool {
	page, printed = without(page, onTheWay), without(printed, onTheWay)
	if len(page) != len(printed) {
		return false
	}
	for i, line := range page {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(columns(line)), "…", ".+?")
		if !regexp.MustCompile("^" + pattern + "$").MatchString(columns(printed[i])) {
			return false
		}
	}
	return true
}

func columns(line string) string { return strings.Join(strings.Fields(line), " ") }

func without(lines []string, out *regexp.Regexp) (kept []string) {
	for _, line := range lines {
		if !out.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return kept
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheTutorialPrintsWhatItSays(t *testing.T) {
	t.Parallel()
	typed(t, readTutorial(t, read(t, "../../docs/tutorial.md")))
}

func TestTheGuideForOneServerPrintsWhatItSays(t *testing.T) {
	t.Parallel()
	_, guide, _ := strings.Cut(read(t, "../../docs/operations.md"), "\n## One server, step by step\n")
	guide, _, _ = strings.Cut(guide, "\n## ")
	typed(t, readTutorial(t, guide))
}

// typed types what a page says into a newcomer's shell, and compares what that prints.
func typed(t *testing.T, page *tutorial) {
	t.Helper()
	if len(page.steps) < 15 {
		t.Fatalf("only %d commands", len(page.steps))
	}
	n := newNewcomer(t)
	printed := strings.Split(n.shell(page.script()), between)[1:]
	for i, s := range page.steps {
		if i >= len(printed) {
			t.Fatalf("it ended before $ %s", s.command)
		}
		lines := strings.Split(strings.TrimSuffix(printed[i], "\n"), "\n")
		if printed[i] == "" {
			lines = nil
		}
		if !matches(s.prints, lines) {
			t.Errorf("$ %s\nprints\n%s\nand not\n%s", s.command, printed[i], strings.Join(s.prints, "\n"))
		}
	}
	if t.Failed() {
		for _, name := range []string{"serve.log", "runner.log"} {
			text, _ := os.ReadFile(n.path(name))
			t.Logf("%s: %s", name, text)
		}
	}
}

func TestTheTutorialsProgramIsThatOfTheExamples(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../../examples/runner/deploy.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range readTutorial(t, read(t, "../../docs/tutorial.md")).files {
		if f.name != "deploy.sh" || f.text != string(want) {
			t.Errorf("%s is not examples/runner/deploy.sh", filepath.Base(f.name))
		}
	}
}
