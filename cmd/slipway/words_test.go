package main_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	main "slipway/cmd/slipway"
	"slipway/internal/test/wordtest"
)

var shrink = flag.Bool("shrink", false, "take out of the list of allowed sentences what is no hit any longer")

const (
	root        = "../.."
	allowedFile = "internal/test/wordtest/allowed.txt"
)

// texts are what Slipway says: the sentences of each source, such as a document or the help of a command.
type texts map[string][]string

func (t texts) add(source, text string) {
	for _, sentence := range wordtest.Sentences(text) {
		if !slices.Contains(t[source], sentence) {
			t[source] = append(t[source], sentence)
		}
	}
}

func TestWordsArePlain(t *testing.T) {
	t.Parallel()
	list, err := wordtest.ReadList(readFile(t, allowedFile))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := wordtest.Sources(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}

	left := wordtest.List{Head: list.Head, Comments: checkComments(t, list, sources), Sentences: checkSentences(t, list, allTexts(t, sources))}
	if *shrink {
		if err := os.WriteFile(filepath.Join(root, allowedFile), []byte(left.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// checkComments compares how often the comments have the patterns with the list, and returns the lower counts.
func checkComments(t *testing.T, list wordtest.List, sources map[string]wordtest.Source) map[int]int {
	t.Helper()
	left := map[int]int{}
	for _, p := range wordtest.Patterns() {
		want, isCounted := list.Comments[p.Number]
		if !isCounted {
			continue
		}
		found := 0
		for _, s := range sources {
			for _, sentence := range s.Comments {
				found += p.Count(sentence)
			}
		}
		left[p.Number] = min(found, want)

		switch {
		case found > want:
			t.Errorf("comments of Go have pattern %d (%s, as in %q) %d times, allowed are %d", p.Number, p.Name, p.Example, found, want)
		case found < want && !*shrink:
			t.Errorf("comments of Go have pattern %d only %d times: write that instead of %d into %s, or run with -shrink", p.Number, found, want, allowedFile)
		}
	}
	return left
}

// checkSentences compares the sentences that have a pattern with the list, and returns those of the list that have one.
func checkSentences(t *testing.T, list wordtest.List, all texts) map[wordtest.Sentence]wordtest.Allowed {
	t.Helper()
	left := map[wordtest.Sentence]wordtest.Allowed{}
	for source, sentences := range all {
		for _, text := range sentences {
			s := wordtest.Sentence{Source: source, Text: text}
			found := wordtest.Allowed{Sentence: s, Numbers: wordtest.Hits(text), Reason: wordtest.AsYet}
			if allowed, ok := list.Sentences[s]; ok && len(found.Numbers) > 0 {
				found.Reason = allowed.Reason
				left[s] = found
			}
			for _, n := range found.Numbers {
				if !slices.Contains(list.Sentences[s].Numbers, n) {
					t.Errorf("%s: %s\n\tpattern %d: %s", source, found, n, nameOf(n))
				}
			}
		}
	}
	for s, allowed := range list.Sentences {
		if !slices.Equal(left[s].Numbers, allowed.Numbers) && !*shrink {
			t.Errorf("%s allows what is no hit any longer; take it out, or run with -shrink:\n\t%s: %s", allowedFile, s.Source, allowed)
		}
	}
	return left
}

func nameOf(number int) string {
	for _, p := range wordtest.Patterns() {
		if p.Number == number {
			return p.Name
		}
	}
	return ""
}

// allTexts returns the texts of the help, the schema, the golden files of the commands, the documents and the messages.
func allTexts(t *testing.T, sources map[string]wordtest.Source) texts {
	t.Helper()
	all := texts{}
	addHelp(all, main.Commands(variables{}.lookup))
	help := slices.Concat(slices.Collect(maps.Values(all))...)
	addSchema(t, all)
	for file, s := range sources {
		if !strings.HasSuffix(file, "_test.go") && !unseen.MatchString(file) {
			for _, message := range s.Messages {
				all.add(file, message)
			}
			all[file] = slices.DeleteFunc(all[file], func(sentence string) bool { return slices.Contains(help, sentence) })
		}
	}
	for _, file := range pages(t) {
		all.add(file, wordtest.Prose(page(t, file)))
	}
	for _, file := range files(t, "internal/remote/cli/testdata/*.golden") {
		all.add(file, strings.ReplaceAll(readFile(t, file), "\n", "\n\n"))
	}
	return all
}

var (
	remark   = regexp.MustCompile(`(?m)(?:^|\s)# (.*)$`)
	variable = regexp.MustCompile(` \[SLIPWAY_\w+\]$`)
	// unseen are the folders whose messages no user sees.
	unseen = regexp.MustCompile(`^(bench|conformance|ent)/|/?internal/test/`)
)

// addHelp adds the prose of the help of each command. Of its examples that is what the remarks say.
func addHelp(all texts, c *cobra.Command) {
	source := "help of " + c.CommandPath()
	all.add(source, c.Short)
	all.add(source, c.Long)
	for _, found := range remark.FindAllStringSubmatch(c.Example, -1) {
		all.add(source, found[1])
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { all.add(source, variable.ReplaceAllString(f.Usage, "")) })
	for _, group := range c.Groups() {
		all.add(source, group.Title)
	}
	for _, below := range c.Commands() {
		addHelp(all, below)
	}
}

const schemaFile = "schema.graphql"

// schema returns the schema as it is written.
func schema(t *testing.T) *ast.SchemaDocument {
	t.Helper()
	document, err := parser.ParseSchema(&ast.Source{Name: schemaFile, Input: readFile(t, schemaFile)})
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func addSchema(t *testing.T, all texts) {
	t.Helper()
	document := schema(t)
	for _, d := range document.Directives {
		all.add(schemaFile, d.Description)
		addArguments(all, d.Arguments)
	}
	for _, d := range slices.Concat(document.Definitions, document.Extensions) {
		all.add(schemaFile, d.Description)
		for _, f := range d.Fields {
			all.add(schemaFile, f.Description)
			addArguments(all, f.Arguments)
		}
		for _, value := range d.EnumValues {
			all.add(schemaFile, value.Description)
		}
	}
}

func addArguments(all texts, arguments ast.ArgumentDefinitionList) {
	for _, a := range arguments {
		all.add(schemaFile, a.Description)
	}
}

// pages are the documents that are written by hand.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md", changelog, "SECURITY.md", "CONTRIBUTING.md", "examples/README.md"}
	all = append(all, files(t, "docs/*.md")...)
	all = append(all, files(t, "docs/*/*.md")...)
	isGenerated := func(file string) bool {
		return slices.Contains([]string{"docs/cli.md", "docs/errors.md", "docs/licences.md"}, file)
	}
	return append(slices.DeleteFunc(all, isGenerated), "internal/remote/cli/cmd/clidocs/head.md")
}

const changelog = "CHANGELOG.md"

// page returns a document. Of the changelog that is what is not released: the rest never changes.
func page(t *testing.T, file string) string {
	t.Helper()
	text := readFile(t, file)
	if file == changelog {
		text, _, _ = strings.Cut(text, "\n## [0.1.0]")
	}
	return text
}

// files returns the files of the repository that a pattern names.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range all {
		all[i] = strings.TrimPrefix(filepath.ToSlash(file), root+"/")
	}
	return all
}

// readFile returns a file of the repository.
func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// How short the help is.
const (
	maxShort     = 60
	maxSentences = 6
)

func TestHelpIsShort(t *testing.T) {
	t.Parallel()
	checkHelp(t, main.Commands(variables{}.lookup))
}

func checkHelp(t *testing.T, c *cobra.Command) {
	t.Helper()
	if len(c.Short) > maxShort || strings.HasSuffix(c.Short, ".") {
		t.Errorf("%s: its short help has %d characters, at most %d and no full stop: %s", c.CommandPath(), len(c.Short), maxShort, c.Short)
	}
	if sentences := wordtest.Sentences(c.Long); len(sentences) > maxSentences {
		t.Errorf("%s: its help has %d sentences, at most %d", c.CommandPath(), len(sentences), maxSentences)
	}
	for _, below := range c.Commands() {
		checkHelp(t, below)
	}
}
