package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"slipway-ecs/sdkjson"
)

// refusal is an error of AWS.
type refusal struct {
	code, message string
	status        int
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func refuse(code, message string, args ...any) error {
	return &refusal{code, fmt.Sprintf(message, args...), http.StatusBadRequest}
}

// serve serves a request of either API: that of ECS is JSON, and names its operation in a header; that of Elastic Load
// Balancing is a form, and its answers are XML.
func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}

	key, region := signedBy(r)
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, operation, _ := strings.Cut(target, ".")
		c.answer(w, key, operation, ecsOperations[operation] != nil, replyJSON, func() (any, error) {
			if err := checkRegion(body, region); err != nil {
				return nil, err
			}
			return ecsOperations[operation](c, body)
		})
		return
	}

	form, err := url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}

	operation := form.Get("Action")
	c.answer(
		w, key, operation, elbOperations[operation] != nil, replyXML,
		func() (any, error) { return elbOperations[operation](c, form) },
	)
}

// answer carries an operation out, unless it is intercepted, and writes what comes of it.
func (c *Cloud) answer(
	w http.ResponseWriter, key, operation string, known bool, encode func(string, string, any, error) reply,
	carryOut func() (any, error),
) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.calls[operation]++
	c.answering = operation
	if operation == "DescribeServiceDeployments" {
		c.Clock.Advance(c.Tick)
	}
	c.settle()
	id := fmt.Sprintf("fake-request-%d", c.next())
	call := c.call(key, operation)
	verdict := c.intercept(call)

	var result any
	var err error
	switch {
	case verdict.Lose:
		panic(http.ErrAbortHandler)
	case verdict.Code != "":
		err = verdict.refusal()
	case !known:
		err = refuse("UnknownOperationException", "the fake has no %s", operation)
	default:
		c.looks, c.blind = map[*deployment]Look{}, verdict.Unseen
		result, err = carryOut()
		c.blind = false
	}

	answer, looks := encode(operation, id, result, err), c.looks
	c.looks = nil
	c.settle()
	call = c.call(key, operation)
	call.Done = true

	verdict = c.intercept(call)
	switch {
	case verdict.Lose:
		panic(http.ErrAbortHandler)
	case verdict.Code != "":
		answer, looks = encode(operation, id, nil, verdict.refusal()), nil
	}

	now := c.Clock.Now()
	c.answered[operation] = append(c.answered[operation], now)
	for d, l := range looks {
		l.At = now
		d.looks = append(d.looks, l)
	}

	w.Header().Set("Date", now.Format(http.TimeFormat))
	w.Header().Set("X-Amzn-RequestId", id)
	w.Header().Set("Content-Type", answer.contentType)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body) // a caller who has gone needs no answer
}

func (v Verdict) refusal() error {
	return &refusal{v.Code, v.Message, max(v.HTTPStatus, http.StatusBadRequest)}
}

// reply is an answer as it is sent.
type reply struct {
	status      int
	contentType string
	body        []byte
}

func (c *Cloud) call(key, operation string) Call {
	call := Call{AccessKey: key, Operation: operation, Number: c.calls[operation]}
	if n := len(c.deployments); n > 0 {
		newest := c.deployments[n-1]
		call.Stage, call.Status = string(newest.LifecycleStage), string(newest.Status)
	}
	return call
}

// intercept asks Intercept, which may look at the account meanwhile.
func (c *Cloud) intercept(call Call) Verdict {
	if c.Intercept == nil {
		return Verdict{}
	}
	c.mu.Unlock()
	defer c.mu.Lock()
	return c.Intercept(call)
}

func asRefusal(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	return &refusal{"ServerException", err.Error(), http.StatusInternalServerError}
}

func replyJSON(_, _ string, result any, err error) reply {
	answer := reply{status: http.StatusOK, contentType: "application/x-amz-json-1.1"}
	shown := sdkjson.Of(result)
	if err != nil {
		r := asRefusal(err)
		answer.status, shown = r.status, map[string]any{"__type": r.code, "message": r.message}
	}
	if answer.body, err = json.Marshal(shown); err != nil {
		panic(err) // what sdkjson returns can be encoded
	}
	return answer
}

// decode reads a request into the SDK's own type of it.
func decode[T any](body []byte) (*T, error) {
	in := new(T)
	if err := json.Unmarshal(body, in); err != nil {
		return nil, invalid("%s", err)
	}
	return in, nil
}

// operation returns an operation of ECS that takes the SDK's type of its request.
func operation[In, Out any](carryOut func(*Cloud, *In) (*Out, error)) func(*Cloud, []byte) (any, error) {
	return func(c *Cloud, body []byte) (any, error) {
		in, err := decode[In](body)
		if err != nil {
			return nil, err
		}
		return carryOut(c, in)
	}
}
