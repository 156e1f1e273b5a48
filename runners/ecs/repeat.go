package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
)

// maxRepeats is how often a request is repeated of which nobody knows whether it was carried out.
const maxRepeats = 5

// once carries a request out that must not be carried out twice. If it may have been although it failed, look says
// whether it was, before it is sent again.
func once[T any](ctx context.Context, w *worker, look func() (*T, error), send func() (*T, error)) (*T, error) {
	for repeats := 0; ; repeats++ {
		result, err := send()
		if err == nil {
			return result, nil
		}
		if !isUncertain(err) || repeats == maxRepeats || ctx.Err() != nil {
			return nil, explain(err)
		}
		w.wait(ctx, true) // what was carried out may not show at once
		found, lookErr := look()
		if lookErr != nil {
			return nil, fmt.Errorf("%w; whether it was carried out cannot be seen: %w", explain(err), lookErr)
		}
		if found != nil {
			return found, nil
		}
	}
}

// onlyRefusals has the SDK repeat what AWS has throttled, and not what may have been carried out.
func onlyRefusals(o *ecs.Options) {
	o.Retryer = refusalsOnly{o.Retryer}
}

// refusalsOnly repeats nothing that may have been carried out.
type refusalsOnly struct{ aws.Retryer }

// IsErrorRetryable implements aws.Retryer.
func (r refusalsOnly) IsErrorRetryable(err error) bool {
	return !isUncertain(err) && r.Retryer.IsErrorRetryable(err)
}

var _ aws.Retryer = refusalsOnly{(*retry.Standard)(nil)}

// patiently asks until there is an answer. While AWS cannot be asked it has patience: what is deployed goes on.
func patiently[T any](ctx context.Context, w *worker, ask func() (T, error)) (T, error) {
	for since := time.Now(); ; {
		answer, err := ask()
		if err == nil || !retryable(err) || time.Since(since) > w.patience {
			return answer, err
		}
		w.print.message("ECS cannot be asked, and is asked again: " + err.Error())
		w.wait(ctx, true)
	}
}

// retryable reports whether a request may go well if it is sent again.
func retryable(err error) bool { return isExpired(err) || retry.NewStandard().IsErrorRetryable(err) }

// maxUnseen is how often AWS is asked for what it does not know although it must be there: its reads lag behind.
const maxUnseen = 6

// visibly asks again while AWS does not know what it is asked for. That changes nothing, so it may be a change.
func visibly[T any](ctx context.Context, w *worker, ask func() (T, error)) (T, error) {
	for looks := 1; ; looks++ {
		answer, err := ask()
		if !isUnseen(err) || looks == maxUnseen || ctx.Err() != nil {
			return answer, err
		}
		w.wait(ctx, true)
	}
}

// errUnseen is that AWS does not know what it was asked for.
var errUnseen = errors.New("ECS does not know it")

// isUnseen reports whether AWS does not know what it was asked for, or does not know it yet.
func isUnseen(err error) bool {
	return errors.Is(err, errUnseen) || isCode(err, "ServiceNotFoundException") ||
		isCode(err, "ResourceNotFoundException") ||
		isCode(err, "ServiceDeploymentNotFoundException")
}
