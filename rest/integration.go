package rest

import (
	"net/http"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

// receiveECSEvent takes an event of the cloud's container service as its event bus delivers it: the body is the event.
// The answer has none, for nobody reads it.
func receiveECSEvent(i Integrations) func(request) (answer, error) {
	return func(r request) (answer, error) {
		if err := r.checkNoQuery(); err != nil {
			return answer{}, err
		}
		if len(r.body) == 0 {
			return answer{}, fault.New(fault.RequestMalformed, "A body is needed: an event as the event bus delivers it.")
		}
		event, err := strictjson.ParseBody(r.body)
		if err != nil {
			return answer{}, err
		}
		ctx, err := r.enter()
		if err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusAccepted}, i.ReceiveECSEvent(ctx, event)
	}
}
