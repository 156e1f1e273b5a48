package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
)

// defaultAdmin is the address of health and metrics.
const defaultAdmin = "127.0.0.1:9090"

func healthCommand() *cobra.Command {
	var address string
	var timeout time.Duration

	c := &cobra.Command{
		Use:   "health",
		Short: "Check whether the server on this machine is ready",
		Long: `Check whether the server on this machine is ready to serve requests, for the health checks of
containers. Prints what the server says. The exit code is 1 if the server is not ready or cannot be
reached.`,
		Example: "  slipway health\n  slipway health --admin-listen 127.0.0.1:9191 --timeout 1s",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			text, err := readiness(ctx, address)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), text)
			return err
		},
	}

	setting.Add(c.Flags(), &address, "admin-listen", defaultAdmin, setting.Address,
		"address of health and metrics, as serve has it")
	setting.Add(c.Flags(), &timeout, "timeout", "3s", setting.AtLeast(time.Millisecond), "time to wait for the answer")
	return c
}

// readiness asks the server that has an admin address whether it is ready, and returns its answer. The error says why
// it is not.
func readiness(ctx context.Context, address string) (string, error) {
	url := "http://" + reachable(address) + "/readyz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("the server is not ready: %w", err)
	}
	defer func() { _ = response.Body.Close() }()

	const most = 4 << 10
	text, err := io.ReadAll(io.LimitReader(response.Body, most))
	answer := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("the server is not ready: %w", err)
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("the server is not ready: %s", answer)
	}
	return answer, nil
}

// reachable returns the address that a server which listens on one is reached by from the same machine: the loopback
// address, if it listens on all.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "", err == nil && ip == netip.IPv4Unspecified():
		return net.JoinHostPort("127.0.0.1", port)
	case err == nil && ip == netip.IPv6Unspecified():
		return net.JoinHostPort("::1", port)
	}
	return address
}
