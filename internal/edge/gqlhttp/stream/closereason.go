package stream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/coder/websocket"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/wire"
)

// closeReason is what the close frame of a socket has. The codes and texts are those that clients of the
// protocol know.
type closeReason struct {
	code websocket.StatusCode
	text string
}

var (
	goingAway     = closeReason{websocket.StatusGoingAway, "Going away"}
	notUTF8       = closeReason{websocket.StatusInvalidFramePayloadData, "Invalid UTF-8"}
	internalError = closeReason{websocket.StatusInternalError, "Internal server error"}
	tryAgain      = closeReason{websocket.StatusTryAgainLater, "Try again later"}
	unauthorized  = closeReason{4401, "Unauthorized"}
	forbidden     = closeReason{4403, "Forbidden"}
	noToken       = closeReason{4403, "Forbidden: a socket needs a token, as Authorization in connection_init"}
	noSubprotocol = closeReason{4406, "Subprotocol not acceptable"}
	initTimeout   = closeReason{4408, "Connection initialisation timeout"}
	tooManyInits  = closeReason{4429, "Too many initialisation requests"}
)

// invalidMessage returns the reason to close a socket for a message that is not the protocol's.
func invalidMessage(format string, args ...any) *closeReason {
	return &closeReason{4400, truncate(fmt.Sprintf(format, args...))}
}

func duplicateID(id string) *closeReason {
	return &closeReason{4409, truncate("Subscriber for " + wire.Shorten(id) + " already exists")}
}

// refusedCaller returns the reason to close a socket whose caller is refused. It says what is wrong with the
// organization, because a client that sees a code alone would look for the mistake in its token.
func refusedCaller(err error) closeReason {
	refusal, known := errors.AsType[*fault.Error](err)
	switch {
	case known && refusal.Code == fault.RequestInvalid:
		return *invalidMessage("%s", refusal.Message)
	case known && refusal.Code == fault.OrganizationNotFound:
		return closeReason{forbidden.code, truncate(forbidden.text + ": " + refusal.Message)}
	default:
		return forbidden
	}
}

// limitReached returns the reason to close a socket that one of the server's limits has no place for now. Clients
// connect again after it, which they do not after the protocol's 4429.
func limitReached(err error) closeReason {
	refusal, known := errors.AsType[*fault.Error](err)
	if !known {
		return tryAgain
	}
	return closeReason{tryAgain.code, truncate(refusal.Message)}
}

// truncate cuts a text to what a close frame holds.
func truncate(text string) string {
	const most = 123
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most-len("…")], "") + "…"
	}
	return text
}

// readFailed returns the reason to close a socket with that could not be read. Where the peer has closed it, or the
// library has for a message that is too long, that stands.
func readFailed(err error) closeReason {
	if code := websocket.CloseStatus(err); code != -1 {
		return closeReason{websocket.StatusNormalClosure, ""}
	}
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return closeReason{websocket.StatusMessageTooBig, "Message too big"}
	}
	return closeReason{websocket.StatusProtocolError, "Protocol error"}
}
