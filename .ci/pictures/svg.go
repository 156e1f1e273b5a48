package main

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
)

var (
	errNoAlternative = errors.New("expected comments on top: the title, and below it what the picture shows")
	errNotDrawn      = errors.New("expected Graphviz to draw an svg element with a viewBox")
)

// about returns the text alternative of a picture: the comments on top of its source.
func about(source string) (title, description string, err error) {
	var lines []string
	for line := range strings.Lines(source) {
		comment, ok := strings.CutPrefix(line, "// ")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(comment))
	}
	if len(lines) < 2 {
		return "", "", errNoAlternative
	}
	return lines[0], strings.Join(lines[1:], " "), nil
}

var (
	root = regexp.MustCompile(`(?s)^.*?<svg[^>]* viewBox="0\.00 0\.00 ([0-9]+)[.0-9]* ([0-9]+)[.0-9]*"[^>]*>`)
	// noise is what Graphviz writes for readers of the source, and what picture.css decides.
	noise = regexp.MustCompile(`(?s)<!--.*?-->\n|<title>.*?</title>\n| font-[a-z]+="[^"]*"| xlink:title="[^"]*"`)
)

// styled returns a drawing with its text alternative, its colors and a background.
func styled(drawing, title, description string) (string, error) {
	size := root.FindStringSubmatch(drawing)
	if size == nil {
		return "", errNotDrawn
	}
	shapes := noise.ReplaceAllString(strings.TrimPrefix(drawing, size[0]), "")

	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" `+
		`width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s">
<title id="title">%[3]s</title>
<desc id="desc">%[4]s</desc>
<style>
%[5]s</style>
<rect class="card" width="%[1]s" height="%[2]s" rx="12"/>`,
		size[1], size[2], html.EscapeString(title), html.EscapeString(description), css)
	return head + shapes, nil
}
