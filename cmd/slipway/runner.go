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
		Short: "Carry deployments out with a program",
		Long: `Claim deployments from a server and run a program for each, in a folder of its module instance.

The program reads the deployment and its release as JSON on standard input. Each line that it prints is
reported, with the secrets of its inputs masked; exit code 0 is success. If the deployment is canceled, the program gets
SIGTERM: with --stop group all of its processes do, with --stop program it alone, which Terraform needs.

The token is a runner's. On a command line it would show in the list of processes: put it into
SLIPWAY_TOKEN, or into a file for --token-file.

SIGTERM and SIGINT end the runner in order: it claims no more, and programs that run may finish. SIGUSR2
ends it at once and leaves them running for the next runner with the same --work-dir, which takes them up:
so it is upgraded. So does the end of a runner that is killed; a program is stopped before its lease ends.`,
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
	setting.Add(fs, &s.Server, "server", "", setting.BaseURL, "where the API is served")
	setting.Add(fs, &s.Token, "token", "", setting.Token, "token of a runner; better in its variable or in a file")
	setting.Add(fs, &s.tokenFile, "token-file", "", setting.OrEmpty(setting.Text),
		"file with the token, which goes before --token")

	setting.Add(fs, &s.Kinds, "deployment-types", strings.Join(module.DeploymentTypes, ","), kinds,
		"types of the deployments that the program carries out")
	setting.Add(fs, &s.Destroy, "destroy", "false", setting.Bool,
		"the program reads SLIPWAY_ACTION and can destroy; otherwise it never gets a deployment that destroys")

	setting.Add(fs, &s.Command, "exec", "", setting.Text, "program to run for each deployment; by sh -c with --stop group")
	setting.Add(fs, &s.Stop, "stop", string(keeper.StopGroup), setting.Choice(keeper.StopGroup, keeper.StopProgram),
		"who gets SIGTERM when a program is stopped: its process group, or the program alone, "+
			"which is then run without a shell")

	setting.Add(fs, &s.Parallel, "parallel", strconv.Itoa(runner.DefaultParallel), setting.Between(1, 1000),
		"how many deployments may run at once")
	setting.Add(fs, &s.Poll, "poll", setting.DurationText(runner.DefaultPoll), setting.AtLeast(10*time.Millisecond),
		"how often to ask for work where the server does not let the runner wait for it, "+
			"and to look for programs that another runner has left")
	setting.Add(fs, &s.WorkDir, "work-dir", "./slipway-runner", setting.Text,
		"folder with a folder for each module instance, where the program runs")
	setting.Add(fs, &s.ShutdownTimeout, "shutdown-timeout", "5m", setting.AtLeast(0),
		"how long programs may go on after SIGTERM; those that do are stopped and fail")
	setting.Add(fs, &s.StopGrace, "stop-grace", "60s", setting.AtLeast(0),
		"how long a program that is stopped has between SIGTERM and SIGKILL; at most a third of the lease")
	setting.Add(fs, &s.Once, "once", "false", setting.Bool, "end where nothing is waiting")

	setting.Add(fs, &s.logFormat, "log-format", string(formatAuto), setting.Choice(formatAuto, formatText, formatJSON),
		"log lines on standard error; auto is text on a terminal and json otherwise")
	setting.Add(fs, &s.logLevel, "log-level", "info", setting.Level,
		"least level that is logged; debug has what programs say on standard error")
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
