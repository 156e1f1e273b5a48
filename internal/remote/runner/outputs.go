package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

// outputsLine is how a line begins that has the outputs of the deployment.
var outputsLine = regexp.MustCompile(`^\s*\{\s*"outputs"\s*:`)

const (
	// byteOrderMark is what some programs begin their output with.
	byteOrderMark = "\ufeff"
	onOneLine     = "Print the object on one line."
)

// severalLines is how the second line begins of outputs that are printed over several.
var severalLines = regexp.MustCompile(`^\s*"outputs"\s*:`)

// beginsObject reports whether a line begins a JSON object that goes on below.
func beginsObject(r keeper.Record) bool {
	return !r.Stderr && strings.TrimSpace(strings.TrimPrefix(r.Line, byteOrderMark)) == "{"
}

// missedOutputs returns the item for a line that goes on with outputs which were begun on the line before, an event
// that says why they are not taken. It returns false for any other line.
func missedOutputs(r keeper.Record) (item, bool) {
	if r.Stderr || !severalLines.MatchString(r.Line) {
		return item{}, false
	}
	return notTaken(r, "they are over several lines. "+onOneLine), true
}

// parseOutputs returns the item of a line that has outputs, an object with nothing else in it: it is no line of the
// log. If the outputs cannot be taken, the item is an event that says why, and repeats nothing of them. It returns
// false for any other line.
func parseOutputs(r keeper.Record) (item, bool) {
	r.Line = strings.TrimPrefix(r.Line, byteOrderMark)
	if r.Stderr || !outputsLine.MatchString(r.Line) {
		return item{}, false
	}
	if r.Cut > 0 {
		return notTaken(r, fmt.Sprintf("the line is too long, by %d bytes.", r.Cut)), true
	}

	var members object
	if err := json.Unmarshal([]byte(r.Line), &members); err != nil {
		return notTaken(r, "the line is not JSON. "+onOneLine), true
	}

	switch outputs := bytes.TrimSpace(members["outputs"]); {
	case len(members) > 1:
		return item{}, false
	case outputs[0] != '{':
		return notTaken(r, "they are no object."), true
	default:
		return item{outputs: outputs}, true
	}
}

// notTaken returns an event that says why the outputs of a line are not taken.
func notTaken(r keeper.Record, why string) item {
	return item{event: message("The outputs that the program printed are not taken: "+why, r.At)}
}

// succeed completes the deployment of a program that has ended well, with the outputs that it printed last. No success
// is lost by its outputs: those that the server refuses are left out, which an event says. A server of before refuses
// all.
func (j *job) succeed() (client.DeploymentStatus, error) {
	r := &reporter{job: j}
	if _, err := j.program.LoadNote(&r.progress); err != nil {
		j.log.Error("cannot read what the program has made; its outputs are lost", "error", err)
	}
	for narrowed := false; ; narrowed = true {
		status, err := j.runner.complete(client.CompleteDeploymentInput{
			Id: j.DeploymentID, LeaseId: j.lease().ID, Outputs: json.RawMessage(r.Outputs),
		})
		if r.Outputs == nil || !aboutContent(err) {
			return status, err
		}
		r.leaveOut(err, narrowed)
	}
}

// leaveOut leaves out the outputs that the server has refused, or all if it names none or has refused others before.
func (r *reporter) leaveOut(refusal error, all bool) {
	names := refusedOutputs(refusal)
	rest, left := without(r.Outputs, names)
	said := fmt.Sprintf("The server rejected these outputs: %s: %s", refusal, listed(names))
	if all || left == 0 || len(names) == 0 {
		rest, said = nil, fmt.Sprintf("The server rejected the outputs: %s", refusal)
	}
	r.Outputs = rest
	r.job.log.Warn("outputs were refused", "error", refusal)
	if err := r.send([]item{{event: message(said, time.Now())}}, r.reported()); err != nil {
		r.job.refused("a report was refused", err)
	}
}

// refusedOutputs returns the names of the outputs that a refusal is about.
func refusedOutputs(refusal error) (names []string) {
	refused, ok := errors.AsType[*client.Error](refusal)
	if !ok {
		return nil
	}
	violations, _ := refused.Metadata["violations"].([]any)
	for _, v := range violations {
		violation, _ := v.(map[string]any)
		pointer, _ := violation["pointer"].(string)
		if inside, ok := strings.CutPrefix(pointer, "/input/outputs/"); ok {
			names = append(names, fault.Keys("/" + inside)[0])
		}
	}
	return names
}

// without returns an object without some of its members, as it is otherwise, and how many members that has.
func without(outputs json.RawMessage, names []string) (rest json.RawMessage, left int) {
	d := json.NewDecoder(bytes.NewReader(outputs))
	_, err := d.Token()
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if key, ok := name.(string); ok && err == nil && !slices.Contains(names, key) {
			rest = append(append(append(append(rest, ','), jsonOf(key)...), ':'), value...)
			left++
		}
	}

	if err != nil || left == 0 {
		return nil, 0
	}
	rest[0] = '{'
	return append(rest, '}'), left
}

// maxListed is how many names an event has.
const maxListed = 20

// listed returns the first of the names, and says how many more there are.
func listed(names []string) string {
	text := strings.Join(names[:min(len(names), maxListed)], ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "."
}
