package stream

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

// message is one of the messages of a client.
type message struct {
	kind, id string
	payload  *strictjson.Node // of connection_init and ping; nil where there is none
	params   *wire.Request    // of subscribe
}

// parseMessage reads a message as strictly as the body of a POST.
func parseMessage(text []byte) (message, *closeReason) {
	root, err := strictjson.ParseWithin(text, strictjson.Limits{Depth: strictjson.MaxBodyLevels + 1, Bytes: len(text)})
	switch {
	case err != nil:
		return message{}, invalidMessage("The message is not the JSON that is taken here: %v", err)
	case root.Kind != strictjson.Object:
		return message{}, invalidMessage("The message must be one object, found %s.", root.Kind)
	}
	var r wire.Reader
	m := message{kind: r.Text(root, "type"), id: r.Text(root, "id"), payload: root.Get("payload")}
	if m.payload != nil && m.payload.Kind == strictjson.Null {
		m.payload = nil
	}
	r.Unknown(root.Keys, []string{"id", "type", "payload"})
	if len(r.Violations) > 0 {
		return message{}, invalidMessage("The message's %s %s.", r.Violations[0].Pointer, r.Violations[0].Message)
	}
	return m.check()
}

// check refuses a message that lacks what its type needs, and reads the request of subscribe.
func (m message) check() (message, *closeReason) {
	switch m.kind {
	case "connection_init", "ping", "pong":
		if m.payload != nil && m.payload.Kind != strictjson.Object {
			return m, invalidMessage("The message's /payload must be an object, found %s.", m.payload.Kind)
		}
		return m, nil
	case "subscribe", "complete":
	default:
		return m, invalidMessage("The message's /type must be "+
			"connection_init, ping, pong, subscribe or complete; found %q.", wire.Shorten(m.kind))
	}

	if m.id == "" {
		return m, invalidMessage("The message's /id must be the id of an operation, found nothing.")
	}
	if m.kind == "complete" {
		return m, nil
	}

	if m.payload == nil || m.payload.Kind != strictjson.Object {
		return m, invalidMessage("The message's /payload must be an object with a query or a documentId.")
	}
	var err error
	m.params, err = wire.FromNode(m.payload)
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return m, invalidMessage("%s", refusal.Message)
	}
	return m, nil
}

// initHeaders are those that members of the payload of connection_init stand in for, by their names.
var initHeaders = map[string]string{
	"authorization": "Authorization", "organization": httpx.OrganizationHeader, "cost": wire.CostHeader,
}

// headers returns the headers that the payload of connection_init stands in for.
func (m message) headers() (http.Header, *closeReason) {
	headers := http.Header{}
	if m.payload == nil {
		return headers, nil
	}
	for i, key := range m.payload.Keys {
		item, header := m.payload.Items[i], initHeaders[strings.ToLower(key)]
		if header == "" || item.Kind == strictjson.Null {
			continue
		}
		if item.Kind != strictjson.String {
			return nil, invalidMessage("The message's /payload/%s must be a string, found %s.", key, item.Kind)
		}
		headers.Add(header, item.Text)
	}
	return headers, nil
}

// encodeMessage returns the JSON of a message of the server's. The payload is JSON already, and absent if it is
// empty.
func encodeMessage(kind, id string, payload []byte) []byte {
	b := append(make([]byte, 0, len(payload)+64), `{"type":"`+kind+`"`...)
	if id != "" {
		b = append(append(b, `,"id":`...), wire.Marshal(id)...)
	}
	if len(payload) > 0 {
		b = append(append(b, `,"payload":`...), payload...)
	}
	return append(b, '}')
}

// pong returns the answer to a ping, which has the same payload.
func pong(ping message) []byte {
	if ping.payload == nil {
		return encodeMessage("pong", "", nil)
	}
	payload, err := json.Marshal(wire.Plain(ping.payload))
	if err != nil {
		payload = nil // no value of JSON is without a JSON form
	}
	return encodeMessage("pong", "", payload)
}
