package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
)

// requestTimeout is how long one attempt of a request may take.
const requestTimeout = 30 * time.Second

// loadConfig returns the settings of AWS. Its credentials are read anew if AWS says that they have expired, because
// whoever renews them writes them to the place from which they came.
func loadConfig(ctx context.Context, s settings) (aws.Config, error) {
	cfg, err := readConfig(ctx, s)
	if err != nil {
		return cfg, err
	}
	credentials := aws.NewCredentialsCache(aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		current, err := readConfig(ctx, s)
		if err != nil {
			return aws.Credentials{}, err
		}
		return current.Credentials.Retrieve(ctx)
	}))
	standard := cfg.Retryer
	cfg.Credentials = credentials
	cfg.Retryer = func() aws.Retryer { return renewing{standard(), credentials} }
	return cfg, nil
}

// readConfig reads the settings of AWS as they are now.
func readConfig(ctx context.Context, s settings) (aws.Config, error) {
	return config.LoadDefaultConfig(ctx,
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(requestTimeout)),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = s.attempts, s.maxBackoff })
		}))
}

// renewing is a retryer that also repeats a request whose credentials have expired, with those of now.
type renewing struct {
	aws.Retryer
	credentials *aws.CredentialsCache
}

// IsErrorRetryable implements aws.Retryer.
func (r renewing) IsErrorRetryable(err error) bool {
	return isExpired(err) || r.Retryer.IsErrorRetryable(err)
}

// GetRetryToken implements aws.Retryer. It is asked before each repetition.
func (r renewing) GetRetryToken(ctx context.Context, err error) (func(error) error, error) {
	if isExpired(err) {
		r.credentials.Invalidate()
	}
	return r.Retryer.GetRetryToken(ctx, err)
}

// isExpired reports whether AWS has refused a request because its credentials have expired.
func isExpired(err error) bool {
	return isCode(err, "ExpiredTokenException") || isCode(err, "ExpiredToken")
}
