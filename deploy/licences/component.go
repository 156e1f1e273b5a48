package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// component is somebody's work that is a part of what is shipped.
type component struct {
	name, version string
	// in are the programs that it is in.
	in []string
	// folder has its files.
	folder string
}

// row returns its line in the page, with its licence.
func (c component) row(licence string) string {
	return "| `" + strings.Join([]string{c.name + "`", c.version, strings.Join(c.in, ", "), licence}, " | ") + " |\n"
}

// programs are what is shipped, by their folders and packages.
var programs = []struct{ name, folder, pkg string }{
	{"slipway", ".", "./cmd/slipway"},
	{"slipway-ecs", "runners/ecs", "."},
}

// systems are those that programs are built for. What is linked differs between them.
var systems = []string{"linux", "darwin"}

// components returns what is in the programs of a tree, and in the explorer: Go itself, modules, packages of npm.
func components(tree string) ([]component, error) {
	found := map[string]component{}
	for _, p := range programs {
		for _, system := range systems {
			if err := addModules(found, filepath.Join(tree, p.folder), p.name, p.pkg, system); err != nil {
				return nil, err
			}
		}
	}
	if err := addPackages(found, filepath.Join(tree, "web")); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(found), func(a, b component) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.version, b.version))
	}), nil
}

func add(found map[string]component, c component) {
	key := c.name + "@" + c.version
	if known, ok := found[key]; ok {
		c.in = append(known.in, c.in...)
		slices.Sort(c.in)
		c.in = slices.Compact(c.in)
	}
	found[key] = c
}

// addModules adds the modules that a program is linked from, and Go.
func addModules(found map[string]component, folder, program, pkg, system string) error {
	list := exec.Command("go", "list", "-deps", "-json=Standard,Root,Module", pkg) //nolint:gosec // of the list above
	list.Dir, list.Env, list.Stderr = folder, append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list in %s: %w", folder, err)
	}
	version, err := exec.Command("go", "env", "GOVERSION", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}

	goVersion, root, _ := strings.Cut(strings.TrimSpace(string(version)), "\n")
	add(found, component{"go", strings.TrimPrefix(goVersion, "go"), []string{program}, root})
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}

		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list in %s: %w", folder, err)
		}

		if p.Module != nil && !p.Module.Main {
			add(found, component{p.Module.Path, p.Module.Version, []string{program}, p.Module.Dir})
		}
	}
}

// addPackages adds the packages of npm that the explorer is built from, without those that only build it.
func addPackages(found map[string]component, folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}

	var lock struct {
		Packages map[string]struct {
			Version       string
			Dev, Optional bool
			Resolved      string
			Link          bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}

	for place, p := range lock.Packages {
		at := strings.LastIndex(place, "node_modules/")
		if at < 0 || p.Dev || p.Optional || p.Link {
			continue
		}
		name := place[at+len("node_modules/"):]
		add(found, component{name, p.Version, []string{"explorer"}, filepath.Join(folder, filepath.FromSlash(place))})
	}

	return nil
}
