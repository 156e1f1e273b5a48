package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const tree = "../.."

func TestLicencesAreOfAllThatIsShippedAndNothingElse(t *testing.T) {
	t.Parallel()
	list, err := components(tree)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(tree, "docs", "licences.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	var rows, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `.*`.*\\|\n").FindAllString(page, -1) {
		cells := strings.Split(row, " | ")
		rows = append(rows, strings.Join(cells[:3], " | "))
		if !strings.Contains(page, "### ") || len(cells) != 4 || strings.Trim(cells[3], "| \n") == "" {
			t.Errorf("no licence: %s", row)
		}
	}
	for _, c := range list {
		if c.name == "go" { // its version is that of the machine
			c.version = regexp.MustCompile("(?m)^\\| `go` \\| (.*?) \\|").FindStringSubmatch(page)[1]
		}
		cells := strings.Split(c.row(""), " | ")
		want = append(want, strings.Join(cells[:3], " | "))
	}
	if len(list) < 100 || !slices.Equal(rows, want) {
		for _, row := range want {
			if !slices.Contains(rows, row) {
				t.Errorf("docs/licences.md does not have %s", row)
			}
		}
		for _, row := range rows {
			if !slices.Contains(want, row) {
				t.Errorf("docs/licences.md has %s, which is not shipped", row)
			}
		}
		t.Error("run make licences")
	}
}

func TestALicenceThatIsNotKnownOrNotAllowedIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "no licence that is known",
		"Ask the author before you use this.": "no licence that is known",
		gpl:                                   "its licence is GPL-3.0",
	} {
		folder := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(folder, "LICENSE"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := (component{folder: folder}).licence(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v, want %q", text, found.ids, err, want)
		}
	}
}

const gpl = `This program is free software: you can redistribute it and/or modify
it under the terms of the GNU General Public License as published by
the Free Software Foundation, either version 3 of the License, or
(at your option) any later version.`
