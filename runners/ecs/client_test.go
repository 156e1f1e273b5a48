package main_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// clientOf returns a client of the account, as somebody has who goes past Slipway.
func clientOf(t *testing.T, w *world) *ecs.Client {
	t.Helper()
	return ecs.New(ecs.Options{
		BaseEndpoint: &w.cloud.URL, Region: "eu-west-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIAOTHER", SecretAccessKey: "other"}, nil
		}),
	})
}

// inSubnet returns the network of tasks in a subnet.
func inSubnet(subnet string) *types.NetworkConfiguration {
	return &types.NetworkConfiguration{AwsvpcConfiguration: &types.AwsVpcConfiguration{Subnets: []string{subnet}}}
}
