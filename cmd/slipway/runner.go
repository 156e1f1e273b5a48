package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slipway/internal/base/setting"
	"slipway/internal/pure/module"
	"slipway/internal/remote/runner"
	"slipway/internal/remote/runner/keeper"
)

// runnerSettings are those of runner.
type runnerSettings struct {
	runner.Config
	tokenFile string
	logFormat format
	logLevel  slog.Level
}

func runnerCommand() *cobra.Command {
	var s runnerSettings
	c := &cobra.Command{
		Use:   "runner --server URL --exec CMD",
		Short: "Run deployments with your own program",
		Long: `Claim deployments from a server and run a program for each, in a folder of its instance.

The program reads the deployment and its release as JSON from standard input. Each line that it
prints is reported with secret inputs masked, and exit code 0 means success. If a deployment is
canceled, its program gets SIGTERM: with --stop group its whole process group, with --stop program
the program alone, which Terraform needs.

On SIGTERM or SIGINT the runner claims nothing more, and running programs can finish. On SIGUSR2 it
stops immediately and leaves its programs to the next runner with the same --work-dir, which is how
you upgrade it.`,
		Example: `  SLIPWAY_TOKEN=slp_runner_… slipway runner --server https://slipway.example --exec /opt/slipway/deploy.sh
  slipway runner --server http://127.0.0.1:8080 --token-file runner.token --deployment-types terraform --exec` +
			` "$PWD/terraform.sh" --stop program --once`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.prepare(c.Flags()); err != nil {
				return err
			}
			s.Log = newLogger(c.ErrOrStderr(), s.logFormat, s.logLevel)
			s.Environ = os.Environ()
			return runner.Run(handOver(c.Context()), s.Config)
		},
	}
	s.flags(c.Flags())
	return c
}

// handOver returns a context that also ends if a signal asks to leave the programs to the next runner.
func handOver(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	go func() {
		defer signal.Stop(asked)
		select {
		case <-asked:
			end(runner.ErrHandOver)
		case <-ctx.Done():
		}
	}()
	return ctx
}

// keep does the work of a keeper or its guard, and reports false if this process was not started as one.
func keep() (code int, ok bool) {
	path, ok := keeper.Called(os.Args)
	if !ok {
		return 0, false
	}
	if err := keeper.Main(path, os.Stdin, keeper.Now); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "slipway:", explain(err))
		return exitFailed, true
	}
	return 0, true
}

func (s *runnerSettings) flags(fs *pflag.FlagSet) {
	setting.Add(fs, &s.Server, "server", "", setting.BaseURL, "URL of the API")
	setting.Add(fs, &s.Token, "token", "", setting.Token,
		"token of a runner; SLIPWAY_TOKEN or --token-file hides it from the list of processes")
	setting.Add(fs, &s.tokenFile, "token-file", "", setting.OrEmpty(setting.Text),
		"file with the token; overrides --token")

	setting.Add(fs, &s.Kinds, "deployment-types", strings.Join(module.DeploymentTypes, ","), kinds,
		"deployment types that the program can run")
	setting.Add(fs, &s.Destroy, "destroy", "false", setting.Bool,
		"the program reads SLIPWAY_ACTION and can destroy; without this flag it gets no destroy")

	setting.Add(fs, &s.Command, "exec", "", setting.Text,
		"program to run for each deployment; with --stop group it runs in sh -c")
	setting.Add(fs, &s.Stop, "stop", string(keeper.StopGroup), setting.Choice(keeper.StopGroup, keeper.StopProgram),
		"receiver of SIGTERM when a program is stopped: its process group, or the program alone, "+
			"which then runs without a shell")

	setting.Add(fs, &s.Parallel, "parallel", strconv.Itoa(runner.DefaultParallel), setting.Between(1, 1000),
		"maximum number of concurrent deployments")
	setting.Add(fs, &s.Poll, "poll", setting.DurationText(runner.DefaultPoll), setting.AtLeast(10*time.Millisecond),
		"interval to ask for work if the server has no long poll, "+
			"and to look for programs that another runner left")
	setting.Add(fs, &s.WorkDir, "work-dir", "./slipway-runner", setting.Text,
		"folder with a working folder for each instance")
	setting.Add(fs, &s.ShutdownTimeout, "shutdown-timeout", "5m", setting.AtLeast(0),
		"time for programs to finish after SIGTERM; then they are stopped and their deployments fail")
	setting.Add(fs, &s.StopGrace, "stop-grace", "60s", setting.AtLeast(0),
		"time between SIGTERM and SIGKILL for a stopped program; at most a third of the lease")
	setting.Add(fs, &s.Once, "once", "false", setting.Bool, "stop when no deployment is pending")

	setting.Add(fs, &s.logFormat, "log-format", string(formatAuto), setting.Choice(formatAuto, formatText, formatJSON),
		"log format on standard error; auto is text on a terminal and json otherwise")
	setting.Add(fs, &s.logLevel, "log-level", "info", setting.Level,
		"minimum log level; debug includes the standard error of programs")
}

// prepare makes sure of what has no fallback.
func (s *runnerSettings) prepare(fs *pflag.FlagSet) error {
	if err := setting.Needed(fs, "server", "exec"); err != nil {
		return err
	}
	if _, err := s.Stop.Argv(s.Command); err != nil {
		return setting.Usagef("--exec: %v; --stop %s runs it without a shell: put what needs one into a script, "+
			"and name that", err, s.Stop)
	}
	if s.tokenFile == "" {
		return setting.Needed(fs, "token")
	}
	content, err := os.ReadFile(s.tokenFile)
	if err != nil {
		return fmt.Errorf("cannot read the file that --token-file names: %w", err)
	}
	if s.Token, err = setting.Token.Parse(strings.TrimSpace(string(content))); err != nil {
		return fmt.Errorf("the file %s, which --token-file names: %w", s.tokenFile, err)
	}
	return nil
}
