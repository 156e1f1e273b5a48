// Command pictures draws the pictures of the documents: each NAME.dot of its folder becomes NAME.svg in the folder that
// it is given. Graphviz, compiled to WebAssembly, places boxes and arrows; picture.css colors them for light and dark.
package main

import (
	"context"
	_ "embed" // for the colors
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-graphviz"
)

//go:embed picture.css
var css string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures FOLDER")
		os.Exit(2)
	}
	if err := drawAll(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// drawAll draws every source into a folder.
func drawAll(ctx context.Context, folder string) error {
	sources, err := filepath.Glob("*.dot")
	if err != nil {
		return err
	}
	engine, err := graphviz.New(ctx)
	if err != nil {
		return err
	}

	for _, source := range sources {
		picture, err := draw(ctx, engine, source)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		file := filepath.Join(folder, strings.TrimSuffix(source, ".dot")+".svg")
		if err := os.WriteFile(file, []byte(picture), 0o644); err != nil { //nolint:gosec // everyone may read a picture
			return err
		}
	}
	return engine.Close()
}

// draw returns the SVG of a source.
func draw(ctx context.Context, engine *graphviz.Graphviz, source string) (string, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	graph, err := graphviz.ParseBytes(text)
	if err != nil {
		return "", err
	}

	var drawn strings.Builder
	if err := engine.Render(ctx, graph, graphviz.SVG, &drawn); err != nil {
		return "", err
	}
	title, description, err := about(string(text))
	if err != nil {
		return "", err
	}
	return styled(drawn.String(), title, description)
}
