package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"slipway/internal/strictjson"

	"github.com/coder/websocket"

	"slipway/internal/fault"
	"slipway/internal/gqlhttp/wire"
	"slipway/internal/httpx"
)

// closing is why a socket is closed, as its peer is told. The reasons are those that clients of the
// protocol know.
type closing struct {
	code   websocket.StatusCode
	reason string
}

var (
	goingAway      = closing{websocket.StatusGoingAway, "Going away"}
	notUTF8        = closing{websocket.StatusInvalidFramePayloadData, "Invalid UTF-8"}
	internalError  = closing{websocket.StatusInternalError, "Internal server error"}
	tryAgain       = closing{websocket.StatusTryAgainLater, "Try again later"}
	unauthorized   = closing{4401, "Unauthorized"}
	forbidden      = closing{4403, "Forbidden"}
	noToken        = closing{4403, "Forbidden: a socket needs a token, as Authorization in connection_init"}
	noSubprotocol  = closing{4406, "Subprotocol not acceptable"}
	initTimeout    = closing{4408, "Connection initialisation timeout"}
	initialisedYet = closing{4429, "Too many initialisation requests"}
)

// invalid is the end of a socket by a message that is not the protocol's.
func invalid(format string, args ...any) *closing {
	return &closing{4400, fit(fmt.Sprintf(format, args...))}
}

func duplicate(id string) *closing {
	return &closing{4409, fit("Subscriber for " + wire.Shorten(id) + " already exists")}
}

// refusedAs is the end of a socket whose caller is not welcome. What is wrong with the organization is told, for a
// client that only ever sees a code would look for the mistake in its token.
func refusedAs(err error) closing {
	refusal, known := errors.AsType[*fault.Error](err)
	switch {
	case known && refusal.Code == fault.RequestInvalid:
		return *invalid("%s", refusal.Message)
	case known && refusal.Code == fault.OrganizationNotFound:
		return closing{forbidden.code, fit(forbidden.reason + ": " + refusal.Message)}
	default:
		return forbidden
	}
}

// tryAgainAs is the end of a socket that one of the server's limits has no place for now. Clients come back
// after it, which they do not after the protocol's 4429.
func tryAgainAs(err error) closing {
	refusal, known := errors.AsType[*fault.Error](err)
	if !known {
		return tryAgain
	}
	return closing{tryAgain.code, fit(refusal.Message)}
}

// fit cuts a reason to what a close frame holds.
func fit(reason string) string {
	const most = 123
	if len(reason) > most {
		reason = strings.ToValidUTF8(reason[:most-len("…")], "") + "…"
	}
	return reason
}

// message is one of the messages of a client.
type message struct {
	kind, id string
	payload  *strictjson.Node // of connection_init and ping; nil where there is none
	params   *wire.Request    // of subscribe
}

// parseMessage reads a message as strictly as the body of a POST.
func parseMessage(text []byte) (message, *closing) {
	root, err := strictjson.ParseWithin(text, strictjson.Limits{Depth: strictjson.MaxBodyLevels + 1, Bytes: len(text)})
	switch {
	case err != nil:
		return message{}, invalid("The message is not the JSON that is taken here: %v", err)
	case root.Kind != strictjson.Object:
		return message{}, invalid("The message must be one object, found %s.", root.Kind)
	}
	var r wire.Reader
	m := message{kind: r.Text(root, "type"), id: r.Text(root, "id"), payload: root.Get("payload")}
	if m.payload != nil && m.payload.Kind == strictjson.Null {
		m.payload = nil
	}
	r.Unknown(root.Keys, []string{"id", "type", "payload"})
	if len(r.Violations) > 0 {
		return message{}, invalid("The message's %s %s.", r.Violations[0].Pointer, r.Violations[0].Message)
	}
	return m.checked()
}

// checked holds the message against its type.
func (m message) checked() (message, *closing) {
	switch m.kind {
	case "connection_init", "ping", "pong":
		if m.payload != nil && m.payload.Kind != strictjson.Object {
			return m, invalid("The message's /payload must be an object, found %s.", m.payload.Kind)
		}
		return m, nil
	case "subscribe", "complete":
	default:
		return m, invalid("The message's /type must be connection_init, ping, pong, subscribe or complete; found %q.", wire.Shorten(m.kind))
	}
	if m.id == "" {
		return m, invalid("The message's /id must be the id of an operation, found nothing.")
	}
	if m.kind == "complete" {
		return m, nil
	}
	if m.payload == nil || m.payload.Kind != strictjson.Object {
		return m, invalid("The message's /payload must be an object with a query or a documentId.")
	}
	var err error
	m.params, err = wire.FromNode(m.payload)
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return m, invalid("%s", refusal.Message)
	}
	return m, nil
}

// initHeaders are those that members of the payload of connection_init stand in for, by their names.
var initHeaders = map[string]string{"authorization": "Authorization", "organization": httpx.OrganizationHeader}

// headers gives the headers that the payload of connection_init stands in for.
func (m message) headers() (http.Header, *closing) {
	given := http.Header{}
	if m.payload == nil {
		return given, nil
	}
	for i, key := range m.payload.Keys {
		item, header := m.payload.Items[i], initHeaders[strings.ToLower(key)]
		if header == "" || item.Kind == strictjson.Null {
			continue
		}
		if item.Kind != strictjson.String {
			return nil, invalid("The message's /payload/%s must be a string, found %s.", key, item.Kind)
		}
		given.Add(header, item.Text)
	}
	return given, nil
}

// frame writes a message of the server's. The payload is JSON already, and absent where it is empty.
func frame(kind, id string, payload []byte) []byte {
	b := append(make([]byte, 0, len(payload)+64), `{"type":"`+kind+`"`...)
	if id != "" {
		b = append(append(b, `,"id":`...), wire.Marshal(id)...)
	}
	if len(payload) > 0 {
		b = append(append(b, `,"payload":`...), payload...)
	}
	return append(b, '}')
}

// pong answers a ping with its own payload.
func pong(ping message) []byte {
	if ping.payload == nil {
		return frame("pong", "", nil)
	}
	payload, err := json.Marshal(wire.Plain(ping.payload))
	if err != nil {
		payload = nil // no value of JSON is without a JSON form
	}
	return frame("pong", "", payload)
}

// ended is what to close a socket with that could not be read. Where the peer has closed it, or the
// library has for a message that is too long, that stands.
func ended(err error) closing {
	if code := websocket.CloseStatus(err); code != -1 {
		return closing{websocket.StatusNormalClosure, ""}
	}
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return closing{websocket.StatusMessageTooBig, "Message too big"}
	}
	return closing{websocket.StatusProtocolError, "Protocol error"}
}
