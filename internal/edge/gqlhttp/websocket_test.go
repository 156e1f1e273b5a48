package gqlhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/test/testkit"
)

const items = `subscription { feed(of: "items") { n } }`

func TestASocketCarriesEveryKindOfOperation(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	p := l.welcome(t)
	p.say(subscribe("q", `{ echo(text: "x") }`))
	p.hear(`{"type":"next","id":"q","payload":{"data":{"echo":"x"}}}`, complete("q"))
	p.say(subscribe("m", `mutation { echo(text: "y") }`))
	p.hear(`{"type":"next","id":"m","payload":{"data":{"echo":"y"}}}`, complete("m"))
	p.say(subscribe("s", `subscription { feed(of: "three") { n } }`))
	p.hear(item("s", 1), item("s", 2), item("s", 3), complete("s"))
	l.over(t, "three")
	p.frame(testkit.OpClose, true, []byte{3, 232})
	p.ends(1000, "")
}

func TestASocketIsClosedForWhatTheProtocolForbids(t *testing.T) {
	t.Parallel()
	long := func(bytes int) string { // the whole message
		return `{"type":"ping","payload":{"text":"` + strings.Repeat("x", bytes-37) + `"}}`
	}
	for name, c := range map[string]struct {
		say    []string
		code   int
		reason string
	}{
		"no JSON":                 {[]string{`{"type":`}, 4400, "The message is not the JSON that is taken here"},
		"an array":                {[]string{`[]`}, 4400, "The message must be one object, found an array."},
		"duplicate key":           {[]string{`{"type":"ping","type":"ping"}`}, 4400, "The message is not the JSON that is taken here"},
		"lone surrogate":          {[]string{`{"type":"ping","payload":{"a":"\ud800"}}`}, 4400, "The message is not the JSON that is taken here"},
		"unknown member":          {[]string{`{"type":"ping","more":1}`}, 4400, "The message's /more is not known, the members are id, type, payload"},
		"no type":                 {[]string{`{"id":"1"}`}, 4400, "The message's /type must be"},
		"type of another kind":    {[]string{`{"type":7}`}, 4400, "The message's /type must be a string or null, found a number"},
		"unknown type":            {[]string{`{"type":"start"}`}, 4400, "The message's /type must be"},
		"a server's type":         {[]string{`{"type":"next","id":"1","payload":{}}`}, 4400, "The message's /type must be"},
		"init payload":            {[]string{`{"type":"connection_init","payload":[]}`}, 4400, "The message's /payload must be an object, found an array."},
		"init token":              {[]string{`{"type":"connection_init","payload":{"Authorization":7}}`}, 4400, "The message's /payload/Authorization must be a string, found a number."},
		"subscribe without id":    {[]string{hello, `{"type":"subscribe","payload":{"query":"{ echo }"}}`}, 4400, "The message's /id must be"},
		"without payload":         {[]string{hello, `{"type":"subscribe","id":"1"}`}, 4400, "The message's /payload must be an object"},
		"without query":           {[]string{hello, `{"type":"subscribe","id":"1","payload":{}}`}, 4400, "The request /query must be"},
		"complete without id":     {[]string{hello, `{"type":"complete"}`}, 4400, "The message's /id must be"},
		"subscribe before init":   {[]string{subscribe("1", "{ echo }")}, 4401, "Unauthorized"},
		"a second init":           {[]string{hello, hello}, 4429, "Too many initialisation requests"},
		"an id that is taken":     {[]string{hello, subscribe("é1", items), subscribe("é1", items)}, 4409, "Subscriber for é1 already exists"},
		"a very long id":          {[]string{hello, subscribe(strings.Repeat("é", 200), items), subscribe(strings.Repeat("é", 200), items)}, 4409, "Subscriber for " + strings.Repeat("é", 40)},
		"64 KiB and a byte":       {[]string{hello, long(64 << 10), long(64<<10 + 1)}, 1009, ""},
		"a cost that is no true":  {[]string{`{"type":"connection_init","payload":{"Authorization":"Bearer good","cost":"1"}}`}, 4400, `Slipway-Cost must be true, found "1"; leave it out if the cost is not wanted.`},
		"a token that is no good": {[]string{`{"type":"connection_init","payload":{"Authorization":"Bearer bad"}}`}, 4403, "Forbidden"},
		"no token at all":         {[]string{`{"type":"connection_init"}`}, 4403, "Forbidden: a socket needs a token, as Authorization in connection_init"},
		"two tokens":              {[]string{`{"type":"connection_init","payload":{"Authorization":"Bearer good","authorization":"Bearer good"}}`}, 4403, "Forbidden"},
		"too many questions":      {[]string{`{"type":"connection_init","payload":{"Authorization":"Bearer crowded"}}`}, 1013, "Try again later"},
		"unverifiable":            {[]string{`{"type":"connection_init","payload":{"Authorization":"Bearer down"}}`}, 1013, "Try again later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := goLive(t, stream.Config{Authenticate: doorkeeper(nil)}).socket(t)
			for _, text := range c.say {
				p.say(text)
			}
			p.ends(c.code, c.reason)
		})
	}
}

// doorkeeper lets in whoever has no token or the good one, until the door is shut.
func doorkeeper(shut <-chan struct{}) func(*http.Request) (context.Context, error) {
	return func(r *http.Request) (context.Context, error) {
		select {
		case <-shut:
			return nil, fault.New(fault.RequestUnauthenticated, "The bearer token is revoked.")
		default:
		}
		switch given := r.Header.Values("Authorization"); {
		case len(given) == 1 && given[0] == "Bearer crowded":
			return nil, fault.New(fault.RequestRateLimited, "Too many tokens wait to be looked up.")
		case len(given) == 0, len(given) == 1 && given[0] == "Bearer good":
			return r.Context(), nil
		case given[0] == "Bearer down":
			return nil, errors.New("dial: secret")
		default:
			return nil, fault.New(fault.RequestUnauthenticated, "The bearer token is unknown.")
		}
	}
}

func TestFramesThatAreNoMessagesCloseTheSocket(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op      byte
		payload string
		code    int
	}{
		"binary": {testkit.OpBinary, `{"type":"ping"}`, 4400},
		"latin1": {testkit.OpText, "{\"type\":\"ping\",\"payload\":{\"a\":\"\xe9\"}}", 1007},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := goLive(t, stream.Config{}).welcome(t)
			p.frame(c.op, true, []byte(c.payload))
			p.ends(c.code, "")
		})
	}
}

func TestATokenMayComeInTheHeaderOrTheFirstMessage(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{Authenticate: doorkeeper(nil)})
	for _, init := range []string{
		`{"type":"connection_init"}`, `{"type":"connection_init","payload":null}`, `{"type":"connection_init","payload":{"other":1}}`,
		`{"type":"connection_init","payload":{"authorization":null}}`,
	} {
		p := l.socket(t, "Authorization: Bearer bad")
		p.say(init)
		p.ends(4403, "Forbidden")
	}
	p := l.socket(t, "Authorization: Bearer bad") // the message counts
	p.say(`{"type":"connection_init","payload":{"authorization":"Bearer good"}}`)
	p.hear(`{"type":"connection_ack"}`)
}

func TestASocketWithoutTheSubprotocolIsClosed(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	for _, headers := range [][]string{nil, {"Sec-WebSocket-Protocol: graphql-ws"}} {
		p, resp := l.handshake(t, headers...)
		if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-WebSocket-Protocol") != "" {
			t.Errorf("handshake: %v", resp)
		}
		p.ends(4406, "Subprotocol not acceptable")
	}
	p, _ := l.handshake(t, "Sec-WebSocket-Protocol: graphql-ws, graphql-transport-ws")
	p.say(hello)
	p.hear(`{"type":"connection_ack"}`)
}

func TestPagesOfOtherHostsGetNoSocketUnlessTheirOriginWasLookedAt(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	host := strings.TrimPrefix(l.URL, "http://")
	for origin, want := range map[string]int{
		"http://" + host: 101, "https://" + host: 101, "https://evil.example": 403, "null": 403, "http://" + host + ".evil.example": 403, "%": 403,
	} {
		if _, resp := l.handshake(t, "Origin: "+origin, transport); resp.StatusCode != want {
			t.Errorf("Origin %s: %d, want %d", origin, resp.StatusCode, want)
		}
	}
	l = goLive(t, stream.Config{OriginChecked: true})
	if _, resp := l.handshake(t, "Origin: https://app.example", transport); resp.StatusCode != http.StatusSwitchingProtocols {
		t.Errorf("an origin that was looked at: %d", resp.StatusCode)
	}
}

func TestASocketThatSaysNothingIsClosed(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{InitTimeout: time.Millisecond})
	l.socket(t).ends(4408, "Connection initialisation timeout")

	l = goLive(t, stream.Config{InitTimeout: 100 * time.Millisecond})
	p := l.welcome(t)
	<-time.After(150 * time.Millisecond)
	p.say(`{"type":"ping"}`)
	p.hear(`{"type":"pong"}`)
}

func TestPingsAreAnsweredBothWays(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{Heartbeat: time.Millisecond})
	p := l.socket(t)
	p.mute = true
	if op, _, err := p.read(); op != testkit.OpPing || err != nil {
		t.Fatalf("no ping: frame of kind %d, %v", op, err)
	}
	l = goLive(t, stream.Config{})
	p = l.socket(t)
	p.say(`{"type":"ping"}`) // even before connection_init
	p.hear(`{"type":"pong"}`)
	p.say(`{"type":"ping","payload":{"n":1.50,"a":[null]}}`)
	p.hear(`{"type":"pong","payload":{"a":[null],"n":1.50}}`)
	p.say(`{"type":"pong"}`)
	p.say(`{"type":"complete","id":"unknown"}`)
	p.frame(testkit.OpPing, true, []byte("hello"))
	if op, payload, err := p.read(); op != testkit.OpPong || string(payload) != "hello" {
		t.Errorf("no pong: frame of kind %d, %q, %v", op, payload, err)
	}
}

func TestASocketWhosePeerIsSilentIsCutOff(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{Heartbeat: 5 * time.Millisecond})
	p := l.welcome(t)
	p.say(subscribe("1", items))
	p.mute = true
	for {
		if _, _, err := p.read(); err != nil {
			break
		}
	}
	l.over(t, "items")
}

func TestAMessageMayComeInPiecesAndBe64KiBLong(t *testing.T) {
	t.Parallel()
	p := goLive(t, stream.Config{}).welcome(t)
	p.frame(testkit.OpText, false, []byte(`{"type":`))
	p.frame(testkit.OpPing, true, nil) // in between
	p.frame(0, false, []byte(`"ping"`))
	p.frame(0, true, []byte(`}`))
	if op, _, err := p.read(); op != testkit.OpPong {
		t.Fatalf("frame of kind %d, %v", op, err)
	}
	p.hear(`{"type":"pong"}`)
	p.say(`{"type":"ping"` + strings.Repeat(" ", 64<<10-15) + `}`)
	p.hear(`{"type":"pong"}`)
}

func TestARefusedOperationIsAnErrorMessageAndTheSocketGoesOn(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	p := l.welcome(t)
	for query, want := range map[string]fault.Code{
		`{`:                                      fault.DocumentParseFailed,
		`{ nothing }`:                            fault.DocumentValidationFailed,
		`query($n: String!) { echo(text: $n) }`:  fault.DocumentVariablesInvalid,
		`{ echo } #` + strings.Repeat(" ", 4096): fault.DocumentTooLarge,
		`subscription { feed(of: "error") { n } }`:  fault.DeploymentNotFound,
		`subscription { feed(of: "secret") { n } }`: fault.ServerInternal,
		`subscription { feed(of: "panic") { n } }`:  fault.ServerInternal,
	} {
		p.say(subscribe("1", query))
		if e := p.refused("1"); e.Extensions["code"] != string(want) || strings.Contains(e.Message, "secret") {
			t.Errorf("%.40s: %v, want %s", query, e, want)
		}
	}
	if !strings.Contains(l.log.String(), "secret of a source") {
		t.Errorf("the panic is not in the log: %s", l.log)
	}
}

func TestOneOperationTooManyIsRefusedAndTheSocketGoesOn(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	p := l.welcome(t)
	for i := range 20 {
		p.say(subscribe(fmt.Sprint(i), items))
	}
	p.say(subscribe("20", items))
	e := p.refused("20")
	if e.Extensions["code"] != string(fault.RequestRateLimited) || e.Message != "A socket may run at most 20 operations at once; this would be one more." {
		t.Errorf("%v", e)
	}
	if got := fmt.Sprint(e.Extensions["metadata"]); got != "map[found:21 limit:operations value:20]" {
		t.Errorf("metadata: %s", got)
	}
	p.say(complete("0"))
	l.over(t, "items")
	p.say(subscribe("20", `{ echo(text: "x") }`))
	p.hear(`{"type":"next","id":"20","payload":{"data":{"echo":"x"}}}`, complete("20"))
}

func TestACompletedOperationIsSilentAndItsIDFree(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	p := l.welcome(t)
	for range 20 {
		p.say(subscribe("1", `subscription { feed(of: "endless") { n } }`))
		p.hear(item("1", 1), item("1", 2))
		p.say(complete("1"))
		p.say(`{"type":"ping"}`)
		for p.next() != `{"type":"pong"}` { // events that were on their way
		}
		p.say(subscribe("1", `{ echo(text: "x") }`))
		p.hear(`{"type":"next","id":"1","payload":{"data":{"echo":"x"}}}`, complete("1"))
		l.over(t, "endless")
	}
}
