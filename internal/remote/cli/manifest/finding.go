package manifest

import (
	"errors"
	"fmt"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/remote/cli/document"
)

// Finding is something that is wrong with what was written, or that may not be what was meant, and where that stands.
type Finding struct {
	// File is a file's name, or the flag of the command line that the value is from; "" if neither is known.
	File     string
	Position document.Position
	// Pointer leads to the value as a JSON Pointer; "" is the whole.
	Pointer string
	// Message reads on after the pointer.
	Message string
	// Code is the stable name of the rule.
	Code string
	// Warning findings refuse nothing.
	Warning bool
}

// String returns the finding on one line, as compilers print them.
func (f Finding) String() string {
	text := f.text()
	if f.Warning {
		text = "warning: " + text
	}
	if f.File == "" {
		return text
	}
	return document.At(f.File, f.Position) + ": " + text
}

func (f Finding) text() string {
	return strings.TrimPrefix(fmt.Sprintf("%s %s (%s)", f.Pointer, f.Message, f.Code), " ")
}

// GitHub escapes what ends a command of a workflow, and in its properties what ends those.
var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotation returns the finding as a command of a GitHub workflow, which shows it beside the line.
func (f Finding) Annotation() string {
	command := "error"
	if f.Warning {
		command = "warning"
	}
	switch {
	case f.Position.Line > 0:
		command = fmt.Sprintf("%s file=%s,line=%d,col=%d",
			command, escapeProperty.Replace(f.File), f.Position.Line, f.Position.Column)
	case f.File != "":
		return "::" + command + "::" + escapeMessage.Replace(f.File+": "+f.text())
	}
	return "::" + command + "::" + escapeMessage.Replace(f.text())
}

// Findings are all that was found. As an error they are one a line.
type Findings []Finding

// Error implements error.
func (f Findings) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Errors returns those that are no warnings.
func (f Findings) Errors() Findings {
	var list Findings
	for _, one := range f {
		if !one.Warning {
			list = append(list, one)
		}
	}
	return list
}

// syntax returns what kept a document from being read.
func syntax(err error) Findings {
	var flaw *document.Error
	if errors.As(err, &flaw) {
		return Findings{{File: flaw.File, Position: flaw.Position, Message: flaw.Message, Code: "syntax"}}
	}
	return Findings{{Message: err.Error(), Code: "syntax"}}
}

// atKey are the rules that are about a key, or about what is missing behind it, and not about its value.
var atKey = map[string]bool{"unknown_field": true, "unknown_input": true}

// inDocument returns violations, whose pointers lead into a document, as findings.
func inDocument(d *document.Document, violations []fault.Violation) Findings {
	var list Findings
	for _, v := range violations {
		f := Finding{File: d.File, Position: d.Position(v.Pointer), Pointer: v.Pointer, Message: v.Message, Code: v.Rule}
		if atKey[v.Rule] {
			f.Position = d.KeyPosition(v.Pointer)
		}
		list = append(list, f)
	}
	return list
}
