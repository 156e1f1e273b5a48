package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences under which programs may be shipped with no more than a notice.
var allowed = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "PSF-2.0", "Unicode-DFS-2016",
	"Unlicense", "Zlib",
}

// licence is what a component may be used by.
type licence struct {
	ids   []string
	texts []string
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)

// licence returns the licences of a component and their texts, which are in files of its folder. The error says that
// there is none, or one that is not allowed.
func (c component) licence() (found licence, err error) {
	files, err := os.ReadDir(c.folder)
	if err != nil {
		return found, err
	}

	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.folder, f.Name()))
		if err != nil {
			return found, err
		}
		found.texts = append(found.texts, tidy(string(text)))
		for _, m := range licensecheck.Scan(text).Match {
			found.ids = append(found.ids, m.ID)
		}
	}

	if len(found.ids) == 0 { // npm has packages without a text, of which package.json says what they are under
		found.ids, err = declared(c.folder)
		if err != nil {
			return found, err
		}
	}

	slices.Sort(found.ids)
	found.ids = slices.Compact(found.ids)
	for _, id := range found.ids {
		if !slices.Contains(allowed, id) {
			return found, fmt.Errorf(
				"its licence is %s; want some of %s", strings.Join(found.ids, " and "), strings.Join(allowed, ", "),
			)
		}
	}

	return found, nil
}

// declared returns the licence that package.json declares.
func declared(folder string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return nil, errors.New("no licence that is known is in its folder")
	}
	var p struct{ License string }
	if err := json.Unmarshal(text, &p); err != nil || p.License == "" {
		return nil, fmt.Errorf("package.json declares no licence: %w", err)
	}
	return []string{p.License}, nil
}

// tidy returns a text without what differs between equal licences.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
