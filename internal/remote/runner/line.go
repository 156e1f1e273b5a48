package runner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"slipway/internal/pure/event"
	"slipway/internal/pure/runlog"
	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

var reportMembers = []string{"data", "externalDeploymentId", "resourceArn", "resourceName"}

// object is a JSON object whose members are passed on as they are.
type object map[string]json.RawMessage

// item is the meaning of a line that a program printed, or of a part of a long one: a line of the log, an event, fields
// of the deployment's record, or its outputs, which are not reported but kept until its end. An item of none of them is
// not reported.
type item struct {
	event, fields object
	outputs       json.RawMessage
	log           *client.LogLineInput
	// end is the place in the program's output behind the item.
	end place
}

// parse returns the items of a record of the output, with their secrets masked. A line of standard output that is a
// JSON object with members of an event only is that event; one whose single member is report has fields of the
// deployment's record, and one whose single member is outputs what the deployment has made, which is not masked: others
// read it as it is. Anything else is a line of the log. That is cut into several if it is too long.
func parse(r keeper.Record, m mask) []item {
	if outputs, ok := parseOutputs(r); ok {
		return []item{outputs}
	}

	if !r.Stderr {
		members := parseObject([]byte(r.Line))
		if report, ok := members["report"]; ok && len(members) == 1 {
			if fields := parseObject(report); fields.hasOnly(reportMembers) {
				return []item{{fields: m.object(fields)}}
			}
		}
		if members.hasOnly(event.Members) {
			if _, timed := members["startedAt"]; !timed {
				members["startedAt"] = timeText(r.At)
			}
			return []item{{event: m.object(members)}}
		}
	}

	stream := client.LogStreamStdout
	if r.Stderr {
		stream = client.LogStreamStderr
	}
	texts := runlog.Split(m.line(r.Line, r.Cut > 0))
	if r.Cut > 0 {
		texts = append(texts, fmt.Sprintf("The line goes on for %d bytes, which are not reported.", r.Cut))
	}

	items := make([]item, len(texts))
	for i, text := range texts {
		items[i].log = &client.LogLineInput{At: &r.At, Stream: stream, Text: text}
	}
	return items
}

// asEvent returns the item for a server that knows no logs: a line of standard output is the message of an event, and
// one of standard error is not reported.
func (i item) asEvent() item {
	if i.log == nil {
		return i
	}
	as := item{end: i.end}
	if text := strings.TrimSpace(i.log.Text); i.log.Stream == client.LogStreamStdout && text != "" {
		as.event = message(text, *i.log.At)
	}
	return as
}

// parseObject parses a JSON object, and returns nil for anything else.
func parseObject(text []byte) (o object) {
	if json.Unmarshal(text, &o) != nil {
		return nil
	}
	return o
}

// hasOnly reports whether the object has members and all of their names are among the given ones.
func (o object) hasOnly(names []string) bool {
	for name := range o {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return len(o) > 0
}

// message returns an event with a text as its message, cut to the length of a message.
func message(text string, at time.Time) object {
	return object{"startedAt": timeText(at), "message": jsonOf(cut(text, event.MaxText))}
}

// cut returns at most so many characters of a text.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

func timeText(at time.Time) json.RawMessage { return jsonOf(at.UTC().Format(time.RFC3339Nano)) }

func jsonOf(v any) json.RawMessage {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, and what was read as JSON, can be encoded
	}
	return encoded
}

// addTo adds the item to a report.
func (i item) addTo(report *client.ReportDeploymentInput) {
	if i.event != nil {
		report.Events = append(report.Events, jsonOf(i.event))
	}
	if i.log != nil {
		report.Logs = append(report.Logs, *i.log)
	}
	for name, value := range i.fields {
		switch name {
		case "data":
			report.Data = value
		case "externalDeploymentId":
			report.ExternalDeploymentId = value
		case "resourceArn":
			report.ResourceArn = value
		case "resourceName":
			report.ResourceName = value
		}
	}
}

// size returns about how many bytes the item has in a request.
func (i item) size() int {
	n := 0
	for _, o := range []object{i.event, i.fields} {
		for name, value := range o {
			n += len(name) + len(value) + 4
		}
	}
	if i.log != nil {
		n += len(jsonOf(i.log))
	}
	return n + len(i.outputs)
}
