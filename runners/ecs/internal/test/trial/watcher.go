package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"syscall"
)

// watcher notes what a program prints: the statuses and stages of its service deployment, the steps, and which fields
// of the record it fills.
type watcher struct {
	process func() *os.Process
	stop    bool
	rest    []byte
	seen    map[string][]string
}

// Write implements io.Writer.
func (w *watcher) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		w.rest = rest
		w.take(line)
	}
}

func (w *watcher) take(line []byte) {
	var said struct {
		Report struct {
			Data map[string]any `json:"data"`
		} `json:"report"`
		Outputs map[string]any `json:"outputs"`
	}
	if json.Unmarshal(line, &said) != nil {
		return // what it prints otherwise is of no interest
	}

	w.fields("data", said.Report.Data)
	w.fields("outputs", said.Outputs)
	state, ok := said.Report.Data["serviceDeploymentState"].(map[string]any)
	if !ok {
		return
	}

	status, _ := state["status"].(string)
	stage, _ := state["lifecycleStage"].(string)
	w.note("statuses", status)
	w.note("stages", stage)

	if w.stop && status == "IN_PROGRESS" {
		w.stop = false
		_ = w.process().Signal(syscall.SIGTERM) // it may have ended
	}
}

// note notes a value unless it is the same as the last.
func (w *watcher) note(name, value string) {
	if all := w.seen[name]; len(all) == 0 && value != "" || len(all) > 0 && all[len(all)-1] != value {
		w.seen[name] = append(all, value)
	}
}

// fields notes what an object has, at any depth but inside a task definition.
func (w *watcher) fields(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			w.seen["fields"] = append(w.seen["fields"], path+"."+name)
			if !strings.HasSuffix(path, "TaskDefinition") {
				w.fields(path+"."+name, member)
			}
		}
	case []any:
		for _, item := range v {
			w.fields(path, item)
		}
	}
}
