package runner

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"slipway/internal/client"
	"slipway/internal/event"
)

var reportMembers = []string{"data", "externalDeploymentId", "resourceArn", "resourceName"}

// object is a JSON object whose members are passed on as they are.
type object map[string]json.RawMessage

// item is the meaning of a line that a program printed: an event, or fields of the deployment's record.
type item struct {
	event, fields object
	// end is the offset in the program's output of what follows the line.
	end int64
}

// parse returns the item of a line. A JSON object with members of an event only is that event; one whose single member
// is report has fields of the record; anything else is the message of an event. A blank line has no item.
func parse(line string, at time.Time) (_ item, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" {
		return item{}, false
	}
	members := parseObject([]byte(line))
	if report, ok := members["report"]; ok && len(members) == 1 {
		if fields := parseObject(report); fields.hasOnly(reportMembers) {
			return item{fields: fields}, true
		}
	}
	if !members.hasOnly(event.Members) {
		return message(line, at), true
	}
	if _, timed := members["startedAt"]; !timed {
		members["startedAt"] = timeText(at)
	}
	return item{event: members}, true
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
func message(text string, at time.Time) item {
	return item{event: object{"startedAt": timeText(at), "message": jsonOf(cut(text, event.MaxText))}}
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
	return n
}
