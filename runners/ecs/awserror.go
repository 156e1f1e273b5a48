package main

import (
	"errors"
	"regexp"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// maxMessage is how many bytes of a message of AWS are shown.
const maxMessage = 300

// credential is what is part of a signed request, as some messages of AWS repeat it.
var credential = regexp.MustCompile(
	`(?i)\b(?:AKIA|ASIA)[A-Z0-9]{12,}|(?:credential|signature|security-?token|secret)\w*["']?\s*[=:]\s*[^\s,]+`,
)

// awsError is an error of AWS in a short sentence. It can be asked what it was.
type awsError struct {
	sentence string
	cause    error
}

func (e *awsError) Error() string { return e.sentence }
func (e *awsError) Unwrap() error { return e.cause }

// explain returns an error of the SDK as a sentence with the request id, without credentials. It returns nil for nil.
func explain(err error) error {
	if err == nil {
		return nil
	}
	operations := operationsOf(err)
	call := operations[len(operations)-1]
	request := ""
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok && response.RequestID != "" {
		request = " (request " + response.RequestID + ")"
	}
	said := operations[0] + " could not be sent: " + shorten(innermost(err).Error())
	if wasSent(err) {
		said = call + " got no answer: " + shorten(innermost(err).Error())
	}
	if refused, ok := errors.AsType[smithy.APIError](err); ok {
		said = call + " was refused: " + refused.ErrorCode() + ": " + shorten(refused.ErrorMessage())
	}
	return &awsError{said + request, err}
}

// operationsOf returns the names of the operation that failed, and of those that the SDK has sent for it, as for
// credentials.
func operationsOf(err error) (names []string) {
	for {
		operation, ok := errors.AsType[*smithy.OperationError](err)
		if !ok {
			break
		}
		names, err = append(names, operation.OperationName), operation.Err
	}
	if names == nil {
		return []string{"AWS"}
	}
	return names
}

func shorten(message string) string {
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	message = credential.ReplaceAllString(message, "[redacted]")
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return message
}

func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// isCode reports whether AWS has refused a request with a code.
func isCode(err error, code string) bool {
	refused, ok := errors.AsType[smithy.APIError](err)
	return ok && refused.ErrorCode() == code
}

// wasSent reports whether a request that failed was on its way. For one without credentials there is nothing to sign.
func wasSent(err error) bool {
	_, sent := errors.AsType[*smithyhttp.RequestSendError](err)
	_, answered := errors.AsType[*smithyhttp.ResponseError](err)
	return sent || answered
}

// isUncertain reports whether a request may have been carried out although it has failed: it got no answer, or AWS
// itself failed.
func isUncertain(err error) bool {
	refused, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return wasSent(err)
	}
	response, ok := errors.AsType[*awshttp.ResponseError](err)
	return ok && response.HTTPStatusCode() >= 500 || refused.ErrorFault() == smithy.FaultServer
}
