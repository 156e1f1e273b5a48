package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestFlagsThatAskForWordsAloneChangeNothing(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]struct {
		code        int
		out, errors string
	}{
		"-version": {0, "slipway-ecs unversioned, commit unknown, go", ""},
		"-help":    {0, "", "-patience"},
		"-poll=0s": {exitUsage, "", "-poll, -attempts and -max-backoff must be more than 0"},
		"-unknown": {exitUsage, "", "flag provided but not defined: -unknown"},
		"words":    {exitUsage, "", `there are no arguments, found "words"`},
	} {
		var out, errors bytes.Buffer
		code := run([]string{flag}, strings.NewReader(""), &out, &errors)
		if code != want.code || !strings.HasPrefix(out.String(), want.out) || !strings.Contains(errors.String(), want.errors) {
			t.Errorf("%s: exit code %d, %q, %q", flag, code, out.String(), errors.String())
		}
	}
}
