package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/pure/inputprop"
	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// finding is something that was found, as it is shown.
type finding struct {
	// File is the file that it was written in, Line and Column the place there.
	File   *string `json:"file"`
	Line   *int    `json:"line"`
	Column *int    `json:"column"`
	// Instance is the path of the instance whose values it is about; nil for what stands in a file.
	Instance *string `json:"instance"`
	Pointer  string  `json:"pointer"`
	Rule     string  `json:"rule"`
	Message  string  `json:"message"`
	Severity string  `json:"severity"`
}

var findingView = view[finding]{
	columns: []column{
		{"FILE", "file"}, {"LINE", "line"}, {"COLUMN", "column"}, {"INSTANCE", "instance"}, {"SEVERITY", "severity"},
		{"RULE", "rule"}, {"POINTER", "pointer"}, {"MESSAGE", "message"},
	},
	name: func(f *finding) string {
		if f.Instance != nil {
			return *f.Instance
		}
		var file string
		var position document.Position
		if f.File != nil {
			file = *f.File
		}
		if f.Line != nil {
			position = document.Position{Line: *f.Line, Column: *f.Column}
		}
		return document.At(file, position)
	},
}

// findings are what a command has found.
type findings struct {
	list manifest.Findings
	// live are those in the values of instances; their files are the paths of these.
	live manifest.Findings
}

// all returns everything that was found.
func (f *findings) all() manifest.Findings {
	return append(f.list[:len(f.list):len(f.list)], f.live...)
}

func (f *findings) records() []finding {
	var records []finding
	for _, one := range f.list {
		records = append(records, findingOf(one))
	}
	for _, one := range f.live {
		record := findingOf(one)
		record.File, record.Instance = nil, record.File
		records = append(records, record)
	}
	return records
}

func findingOf(f manifest.Finding) finding {
	record := finding{File: orNil(f.File), Pointer: f.Pointer, Rule: f.Code, Message: f.Message, Severity: "error"}
	if f.Position.Line > 0 {
		record.Line, record.Column = &f.Position.Line, &f.Position.Column
	}
	if f.Warning {
		record.Severity = "warning"
	}
	return record
}

// report writes findings as the result, for people a line each, and returns errFound if there is more than warnings.
func (s *session) report(f findings) error {
	s.annotate(f.all())
	if s.out.format == formatTable && len(s.out.fields) == 0 {
		for _, one := range f.all() {
			if _, err := fmt.Fprintln(s.destination, safe(one.String())); err != nil {
				return err
			}
		}
	} else if err := showAll(s, findingView, f.records()); err != nil {
		return err
	}
	wrong := len(f.all().Errors())
	if len(f.all()) > 0 {
		s.note("found %s", countOf(wrong, len(f.all())-wrong))
	}
	if wrong > 0 {
		return errFound
	}
	return nil
}

// tellWarnings tells of what keeps nothing from being done.
func (s *session) tellWarnings(list manifest.Findings) {
	s.annotate(list)
	for _, one := range list {
		s.note("%s", one)
	}
}

func countOf(wrong, warnings int) string {
	switch {
	case warnings == 0:
		return counted(wrong, "error")
	case wrong == 0:
		return counted(warnings, "warning")
	}
	return counted(wrong, "error") + " and " + counted(warnings, "warning")
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// annotate has a workflow of GitHub show findings beside their lines. It knows files by their paths in the repository.
func (s *session) annotate(list manifest.Findings) {
	if variable(s.config.Env, "GITHUB_ACTIONS") != "true" {
		return
	}
	for _, one := range list {
		workspace := variable(s.config.Env, "GITHUB_WORKSPACE")
		if path, err := filepath.Abs(one.File); err == nil && workspace != "" && one.Position.Line > 0 {
			if inside, err := filepath.Rel(workspace, path); err == nil && filepath.IsLocal(inside) {
				one.File = filepath.ToSlash(inside)
			}
		}
		_, _ = fmt.Fprintln(s.errOut, visible(one.Annotation()))
	}
}

// violationsOf returns the violations of an answer that refuses an input, none of any other error. Their pointers lead
// into the input.
func violationsOf(err error) []fault.Violation {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return nil
	}
	text, failed := json.Marshal(refused.Metadata["violations"])
	var violations []fault.Violation
	if failed != nil || json.Unmarshal(text, &violations) != nil {
		return nil
	}
	for i := range violations {
		v := &violations[i]
		v.Pointer = inInput(v.Pointer)
		// A message may name another place at its end.
		if last := strings.LastIndexByte(v.Message, ' ') + 1; strings.HasPrefix(v.Message[last:], "/input/") {
			v.Message = v.Message[:last] + inInput(v.Message[last:])
		}
	}
	return violations
}

// inInput returns a pointer into an operation's input, of one that may lead into its arguments.
func inInput(pointer string) string {
	if rest, ok := strings.CutPrefix(pointer, "/input"); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return pointer
}

// warningsOf returns the warnings of an answer.
func warningsOf(records []client.WarningRecord) []inputprop.Warning {
	warnings := make([]inputprop.Warning, len(records))
	for i, r := range records {
		warnings[i] = inputprop.Warning{Pointer: inInput(r.Pointer), Rule: r.Rule, Message: r.Message}
	}
	return warnings
}
