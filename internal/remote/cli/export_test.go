package cli

import (
	"reflect"
	"slices"
	"strings"

	"slipway/internal/remote/client"
)

// Views are all that records are shown by, by their names.
var Views = map[string]interface{ Unknown() []string }{
	"lineView": lineView, "comparisonView": comparisonView, "differenceView": differenceView,
	// Of one that a list has, the sheet shows what there is: the detail has all of it.
	"deploymentView":       view[client.DeploymentRecord]{columns: deploymentView.columns},
	"deploymentDetailView": deploymentDetailView, "environmentView": environmentView,
	"findingView": findingView, "instanceView": instanceView, "contextView": contextView, "viewerView": viewerView,
	"logView": logView, "writtenFileView": writtenFileView, "moduleView": moduleView, "versionView": versionView,
	"versionDetailView": versionDetailView, "planView": planView, "projectView": projectView, "releaseView": releaseView,
	"ruleView": ruleView, "runnerView": runnerView, "progressView": progressView, "awaitedView": awaitedView, "auditView": auditView,
	"tokenView": tokenView, "createdTokenView": createdTokenView,
}

// Unknown returns the paths of columns that lead to nothing that a record has.
func (v view[T]) Unknown() (wrong []string) {
	for _, c := range slices.Concat(v.columns, v.sheet) {
		for path := range strings.SplitSeq(c.path, "/") {
			if !leads(reflect.TypeFor[T](), path) {
				wrong = append(wrong, path)
			}
		}
	}
	return wrong
}

// leads reports whether a path leads to a member of the JSON of a type, or into JSON of which the type says nothing.
func leads(t reflect.Type, path string) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		t = t.Elem()
	}
	if path == "" || t.Kind() != reflect.Struct {
		return path == "" || t.Kind() == reflect.Map || t.Kind() == reflect.Slice
	}

	name, rest, _ := strings.Cut(path, ".")
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return leads(f.Type, rest)
		}
	}
	return false
}
