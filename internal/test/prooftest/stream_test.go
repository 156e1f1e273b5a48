package prooftest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

const everyChange = `subscription($after: String) { deploymentsChanged(after: $after) { cursor kind version deployment { id version } } }`

// feedAnswer is an answer to everyChange.
type feedAnswer struct {
	Data   struct{ DeploymentsChanged *feedItem }
	Errors []struct{ Message string }
}

// take calls see with the item of an answer.
func take(text []byte, see func(feedItem)) error {
	var a feedAnswer
	if err := json.Unmarshal(text, &a); err != nil || a.Data.DeploymentsChanged == nil {
		return fmt.Errorf("no item: %s", text)
	}
	see(*a.Data.DeploymentsChanged)
	return nil
}

func subscribeTo(after string) []byte {
	return mustJSON(map[string]any{"query": everyChange, "variables": map[string]any{"after": after}})
}

// openEvents follows every change after a cursor over an event stream, until the context ends.
func openEvents(ctx context.Context, url, token, after string, see func(feedItem)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/graphql", bytes.NewReader(subscribeTo(after)))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		if data, isData := strings.CutPrefix(line, "data: "); isData {
			if err := take([]byte(data), see); err != nil || ctx.Err() != nil {
				return err
			}
		}
	}
}

// openSocket follows every change after a cursor over a WebSocket, until the context ends.
func openSocket(ctx context.Context, url, token, after string, see func(feedItem)) error {
	conn, resp, err := websocket.Dial(ctx, url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		return err
	}
	_ = resp // has no body
	defer func() { _ = conn.CloseNow() }()
	for _, message := range []string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`,
		`{"id":"1","type":"subscribe","payload":` + string(subscribeTo(after)) + `}`,
	} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return err
		}
		if message[2:4] == "id" {
			break
		}
		if _, _, err := conn.Read(ctx); err != nil { // its acknowledgement
			return err
		}
	}
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var m struct {
			Type    string
			Payload json.RawMessage
		}
		if err := json.Unmarshal(text, &m); err != nil || m.Type != "next" {
			return fmt.Errorf("no item: %s", text)
		}
		if err := take(m.Payload, see); err != nil || ctx.Err() != nil {
			return err
		}
	}
}
