package graph_test

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
)

// The bounds of schema.graphql: what a person, an editor or a model reads at one time.
const (
	maxSchemaBytes        = 150_000
	maxDescriptionBytes   = 95_000
	maxSchemaColumns      = 120
	maxRepeatedCharacters = 60
)

// writtenSchema returns the text of schema.graphql.
func writtenSchema(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// description is a description as it is written: its text, the line that it begins in, and its bytes with quotes.
type description struct {
	text        string
	line, bytes int
}

// descriptions returns the descriptions of a schema. A string behind a colon is the value of an argument.
func descriptions(t *testing.T, sdl string) (all []description) {
	t.Helper()
	runes := []rune(sdl)
	lex := lexer.New(&ast.Source{Name: "schema.graphql", Input: sdl})
	isValue := false
	for {
		token, err := lex.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		if token.Kind == lexer.EOF {
			return all
		}
		isString := token.Kind == lexer.String || token.Kind == lexer.BlockString
		if isString && !isValue {
			written := string(runes[token.Pos.Start:token.Pos.End])
			all = append(all, description{token.Value, token.Pos.Line, len(written)})
		}
		isValue = token.Kind == lexer.Colon || token.Kind == lexer.Equals
	}
}

func TestTheSchemaIsShort(t *testing.T) {
	t.Parallel()
	sdl := writtenSchema(t)
	size := 0
	for _, d := range descriptions(t, sdl) {
		size += d.bytes
	}
	if len(sdl) > maxSchemaBytes {
		t.Errorf("schema.graphql has %d bytes, at most %d are allowed: shorten descriptions", len(sdl), maxSchemaBytes)
	}
	if size > maxDescriptionBytes {
		t.Errorf("the descriptions have %d bytes, at most %d are allowed: shorten them", size, maxDescriptionBytes)
	}
}

func TestTheLinesOfTheSchemaFit(t *testing.T) {
	t.Parallel()
	for i, line := range strings.Split(writtenSchema(t), "\n") {
		if n := utf8.RuneCountInString(line); n > maxSchemaColumns {
			t.Errorf("schema.graphql:%d has %d columns, at most %d are allowed: %s", i+1, n, maxSchemaColumns, line)
		}
	}
}

func TestNoLongDescriptionIsRepeated(t *testing.T) {
	t.Parallel()
	first := map[string]int{}
	for _, d := range descriptions(t, writtenSchema(t)) {
		if utf8.RuneCountInString(d.text) <= maxRepeatedCharacters {
			continue
		}
		if line, is := first[d.text]; is {
			t.Errorf("schema.graphql:%d repeats line %d: refer to it, or use at most %d characters: %s",
				d.line, line, maxRepeatedCharacters, d.text)
			continue
		}
		first[d.text] = d.line
	}
}
