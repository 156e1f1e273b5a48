package docs_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

const (
	pictures = "docs/images"
	sources  = ".ci/pictures"
)

// maxPicture is how many bytes of a picture a page loads.
const maxPicture = 40 << 10

var (
	// shown is a picture in a page, with its text alternative.
	shown = regexp.MustCompile(`!\[([^\]]*)\]\(([^)]*)\)`)
	// foreign is what a picture would load or run.
	foreign = regexp.MustCompile(`(?i)<script|<foreignObject|@import|@font-face|url\(|href=|\son[a-z]+=`)
	// alternative is what a picture says to those who do not see it.
	alternative = regexp.MustCompile(`(?s)<title id="title">[^<]{10,}</title>\s*<desc id="desc">[^<]{40,}</desc>`)
)

func TestPicturesAreLegibleAndComplete(t *testing.T) {
	t.Parallel()
	seen := 0
	walk(t, pictures, func(file string) {
		if path.Ext(file) != ".svg" {
			return
		}
		seen++
		text := read(t, file)
		source := sources + "/" + strings.TrimSuffix(path.Base(file), ".svg") + ".dot"
		for wrong, is := range map[string]bool{
			"is too long": len(text) > maxPicture, "has no source " + source: !isThere(source),
			"loads or runs something":     foreign.MatchString(text),
			"has no title or description": !alternative.MatchString(text),
			"has no colors for the dark":  !strings.Contains(text, "prefers-color-scheme: dark"),
			"has no background":           !strings.Contains(text, `<rect class="card"`),
		} {
			if is {
				t.Errorf("%s %s", file, wrong)
			}
		}
	})
	if seen < 3 {
		t.Errorf("only %d pictures", seen)
	}
}

func TestEachPictureIsInAPageWithATextAlternative(t *testing.T) {
	t.Parallel()
	var used []string
	for file, text := range pages(t) {
		for _, found := range shown.FindAllStringSubmatch(text, -1) {
			used = append(used, path.Join(path.Dir(file), found[2]))
			if len(strings.Fields(found[1])) < 5 {
				t.Errorf("%s: %s needs a text that says what it shows", file, found[0])
			}
		}
	}
	walk(t, pictures, func(file string) {
		if !slices.Contains(used, file) {
			t.Errorf("no page shows %s", file)
		}
	})
}

func TestThePictureOfADeploymentHasEveryStatus(t *testing.T) {
	t.Parallel()
	schema, err := parser.ParseSchema(&ast.Source{Input: read(t, "schema.graphql")})
	if err != nil {
		t.Fatal(err)
	}
	picture := read(t, pictures+"/deployment.svg")
	for _, status := range schema.Definitions.ForName("DeploymentStatus").EnumValues {
		if !strings.Contains(picture, ">"+status.Name+"<") {
			t.Errorf("it does not show %s", status.Name)
		}
	}
}
