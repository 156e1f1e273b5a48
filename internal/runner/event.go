package runner

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"slipway/internal/event"
)

var reportMembers = []string{"data", "externalDeploymentId", "resourceArn", "resourceName"}

// object is a JSON object whose members are passed on as they are.
type object map[string]json.RawMessage

// item is what a line of a program says: an event, or fields of the deployment's record.
type item struct {
	event, fields object
	// end is the offset of the program's output after the line.
	end int64
}

// parse reads a line: an object of an event's members is that event, one of the single member report has
// fields of the record, and anything else is the message of an event. Blank lines say nothing.
func parse(line string, at time.Time) (_ item, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" {
		return item{}, false
	}
	said := objectOf([]byte(line))
	if report, ok := said["report"]; ok && len(said) == 1 {
		if fields := objectOf(report); fields.only(reportMembers) {
			return item{fields: fields}, true
		}
	}
	if !said.only(event.Members) {
		return message(line, at), true
	}
	if _, timed := said["startedAt"]; !timed {
		said["startedAt"] = timeText(at)
	}
	return item{event: said}, true
}

// objectOf reads a JSON object; it gives nil for anything else.
func objectOf(text []byte) (o object) {
	if json.Unmarshal(text, &o) != nil {
		return nil
	}
	return o
}

// only says whether there are members, and all of them among the names.
func (o object) only(names []string) bool {
	for name := range o {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return len(o) > 0
}

// message is an event that says a text, cut to what a message may have.
func message(text string, at time.Time) item {
	return item{event: object{"startedAt": timeText(at), "message": jsonText(cut(text, event.MaxText))}}
}

// cut keeps so many characters of a text.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

func timeText(at time.Time) json.RawMessage { return jsonText(at.UTC().Format(time.RFC3339Nano)) }

func jsonText(text string) json.RawMessage {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err) // every text can be encoded
	}
	return encoded
}

// size is about how many bytes the item has in a request.
func (i item) size() int {
	n := 0
	for _, o := range []object{i.event, i.fields} {
		for name, value := range o {
			n += len(name) + len(value) + 4
		}
	}
	return n
}
