// Command slipway-ecs carries the deployments of one service of Amazon ECS out, as the program of slipway runner. It
// reads a deployment on standard input, registers a task definition, creates or updates the service, follows the
// service deployment that comes of it, and prints what Slipway keeps of it. docs/ecs.md says what it needs.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
)

// The exit codes, beside 0.
const (
	exitFailed  = 1
	exitUsage   = 2  // the flags or what the release says; nothing was changed
	exitStopped = 75 // SIGTERM came before the end
)

// version and commit are set by the linker.
var version, commit string

// settings are the flags.
type settings struct {
	version    bool
	poll       time.Duration
	attempts   int
	maxBackoff time.Duration
	patience   time.Duration
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, err := readSettings(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case s.version:
		if _, err := fmt.Fprintf(
			stdout, "slipway-ecs %s, commit %s, %s\n", cmp.Or(version, "unversioned"), cmp.Or(commit, "unknown"),
			runtime.Version(),
		); err != nil {
			return exitFailed
		}
		return 0
	}

	in, err := readInput(stdin)
	if err != nil {
		say(stderr, err)
		return exitUsage
	}

	// A signal ends no request: what is under way is carried to its end, and then the program stops.
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	return exitCode(carryOut(context.Background(), s, in, stop.Done(), stdout), stderr)
}

func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	say(stderr, err)
	if errors.Is(err, errStopped) {
		return exitStopped
	}
	if _, ok := errors.AsType[wrongInput](err); ok {
		return exitUsage
	}
	return exitFailed
}

// wrongInput is an error of what the release says, before anything was changed.
type wrongInput struct{ error }

// say prints why the program fails. If that cannot be written, the exit code still says that it has.
func say(stderr io.Writer, err error) { _, _ = fmt.Fprintln(stderr, err) }

func readSettings(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("slipway-ecs", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&s.version, "version", false, "print the version, the commit and Go's version")
	flags.DurationVar(&s.poll, "poll", 5*time.Second, "how often to look at what is under way")
	flags.IntVar(&s.attempts, "attempts", 10, "how often a request to AWS is tried")
	flags.DurationVar(&s.maxBackoff, "max-backoff", 20*time.Second, "how long to wait between two of these at most")
	flags.DurationVar(&s.patience, "patience", 10*time.Minute, "how long to go on while ECS cannot be asked how the "+
		"service deployment goes on")

	err := flags.Parse(args)
	switch {
	case err != nil:
		return s, err
	case flags.NArg() > 0:
		err = fmt.Errorf("there are no arguments, found %q", flags.Arg(0))
	case s.poll <= 0 || s.attempts <= 0 || s.maxBackoff <= 0 || s.patience < 0:
		err = errors.New("-poll, -attempts and -max-backoff must be more than 0, and -patience not less")
	}

	if err != nil {
		say(stderr, err)
	}
	return s, err
}

// carryOut carries the deployment out. stop is closed when somebody wants it to end before; the error is errStopped
// then.
func carryOut(ctx context.Context, s settings, in *input, stop <-chan struct{}, stdout io.Writer) error {
	cfg, err := loadConfig(ctx, s)
	if err != nil {
		return fmt.Errorf("the settings of AWS cannot be read: %w", explain(err))
	}
	if cfg.Region == "" {
		return errors.New("no region is set: set AWS_REGION, or region in the profile of AWS")
	}
	if err := in.checkRegion(cfg.Region); err != nil {
		return wrongInput{err}
	}
	w := &worker{
		settings: s, input: in, stop: stop, print: newPrinter(stdout), pauses: map[string]waiting{}, region: cfg.Region,
		ecs: ecs.NewFromConfig(cfg), elb: elb.NewFromConfig(cfg),
	}
	if in.destroys() {
		return w.destroy(ctx)
	}
	return w.apply(ctx)
}
