// Package cli is the command line for people and CI: commands that know a server by its API alone. A command is a
// file's; it is made by Config.command, which gives it a session: the connection to the server, the printer of its
// result, and the question before a change.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
)

// Config is what the commands take from the program. What is left out has its usual value.
type Config struct {
	// Env has the variables.
	Env setting.Environment
	// Patience is how long a request is repeated while the server is away, 30 s.
	Patience time.Duration
	// Timeout is how long a request may take, 1 min.
	Timeout time.Duration
	// Silence is how long a stream may be without a sign of life before it is begun again, 36 s: three of those that
	// servers give as a rule.
	Silence time.Duration
	// Reminder is how often a line says that something goes on, if the status cannot be rewritten, 30 s.
	Reminder time.Duration
	// Waiting is after how long it is told what a deployment waits for, 3 s.
	Waiting time.Duration
	// CommandTimeout is how long a token command may take, 30 s.
	CommandTimeout time.Duration
	// Now tells the time.
	Now func() time.Time
}

// Commands returns the commands.
func Commands(c Config) []*cobra.Command {
	for of, usual := range map[*time.Duration]time.Duration{
		&c.Patience: 30 * time.Second, &c.Timeout: time.Minute, &c.CommandTimeout: 30 * time.Second,
		&c.Silence: 36 * time.Second, &c.Reminder: 30 * time.Second, &c.Waiting: 3 * time.Second,
	} {
		if *of == 0 {
			*of = usual
		}
	}

	if c.Now == nil {
		c.Now = time.Now
	}

	return []*cobra.Command{
		c.loginCommand(), c.logoutCommand(), c.whoamiCommand(), c.contextCommand(),
		c.projectsCommand(), c.environmentsCommand(), c.instancesCommand(), c.modulesCommand(), c.deploymentsCommand(),
		c.rulesCommand(), c.runnersCommand(), c.tokensCommand(), c.auditCommand(), c.outputsCommand(), c.compareCommand(),
		c.approvalsCommand(), c.approveCommand(), c.rejectCommand(), c.startCommand(),
		c.cancelCommand(), c.quarantineCommand(), c.unquarantineCommand(), c.destroyCommand(), c.deployCommand(),
		c.previewCommand(), c.promoteCommand(), c.rollbackCommand(), c.redeployCommand(), c.watchCommand(),
		c.logsCommand(), c.apiCommand(), c.valuesCommand(), c.schemaCommand(), c.validateCommand(),
	}
}

// Group returns a command that only has others below it.
func Group(name, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: name, Short: short, Args: noCommand, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(commands...)
	return c
}

// noCommand refuses what is no command of a group, and says what is.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.SuggestionsMinimumDistance == 0 {
		c.SuggestionsMinimumDistance = 2
	}
	names := c.SuggestionsFor(args[0])
	if len(names) == 0 && c.HasParent() {
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() {
				names = append(names, below.Name())
			}
		}
	}
	if len(names) == 0 {
		return setting.Usagef("unknown command %q for %q; %[2]s --help lists all", args[0], c.CommandPath())
	}
	return setting.Usagef("unknown command %q for %q; want %s", args[0], c.CommandPath(), oneOf(names))
}

// oneOf lists what may stand somewhere.
func oneOf(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// arguments returns a check of the arguments that says what the command takes if it refuses them.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if _, explained := errors.AsType[setting.UsageError](err); err == nil || explained {
			return err
		}

		found := "no arguments"
		if len(args) > 0 {
			quoted := make([]string, len(args))
			for i, arg := range args {
				quoted[i] = fmt.Sprintf("%.60q", arg)
			}
			found = strings.Join(quoted, ", ")
		}

		wanted := strings.TrimSpace(strings.TrimPrefix(c.Use, c.Name()))
		if wanted == "" {
			wanted = "no arguments"
		}
		name := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")

		return setting.Usagef("%s: want %s, found %s", name, wanted, found)
	}
}

// ours annotates the commands of this package.
const ours = "cli"

// Is reports whether a command is one of Commands, or below one, that does something.
func Is(c *cobra.Command) bool { return c.Annotations[ours] != "" }

// session is one run of a command.
type session struct {
	config      *Config
	target      *target
	conn        *connection
	out         *printer
	in          io.Reader
	errOut      io.Writer
	asks        bool // whether standard error is a terminal, so that questions are seen
	yes         bool
	destination io.Writer // standard output, for what is no record
	typed       []byte    // what was read of standard input, nil before
}

// action is what a command does with its arguments.
type action func(ctx context.Context, s *session, args []string) error

// options are what a command has besides the flags of its own.
type options struct {
	// target; if it is nil the command asks no server.
	target *target
	// onDemand says that the command asks the server only once it calls session.connect.
	onDemand bool
	// formats it has beside those of all.
	formats []format
	// changes says that it asks before it does something.
	changes bool
}

// command makes a command that asks a server. Its own flags are added to what it returns.
func (c *Config) command(base *cobra.Command, do action, more ...format) *cobra.Command {
	return c.build(base, options{target: &target{}, formats: more}, do)
}

// changing makes a command that changes something at a server; see session.confirm.
func (c *Config) changing(base *cobra.Command, do action) *cobra.Command {
	return c.build(base, options{target: &target{}, changes: true}, do)
}

// onDemand makes a command that asks a server if its flags or its file make that necessary: see session.connect.
func (c *Config) onDemand(base *cobra.Command, do action) *cobra.Command {
	return c.build(base, options{target: &target{}, onDemand: true}, do)
}

// local makes a command that asks no server.
func (c *Config) local(base *cobra.Command, do action) *cobra.Command {
	return c.build(base, options{}, do)
}

func (c *Config) build(base *cobra.Command, o options, do action) *cobra.Command {
	var out output
	var yes bool

	fs := base.Flags()
	if o.target != nil {
		o.target.flags(fs)
	}
	formats := formatsOf(o.formats)
	out.flags(fs, formats)
	if o.changes {
		setting.AddFlagP(fs, &yes, "yes", "y", "false", setting.Bool, "do not ask for confirmation")
	}

	completeFlag(base, "output", fixed(formats))
	completeFlag(base, "context", c.completeContexts)
	base.Annotations = map[string]string{ours: "yes"}
	base.DisableFlagsInUseLine = true
	base.Args = arguments(base.Args)
	base.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return setting.FlagError(err) })

	base.RunE = func(cmd *cobra.Command, args []string) error {
		s := &session{
			config: c, target: o.target, in: cmd.InOrStdin(), errOut: cmd.ErrOrStderr(), yes: yes,
			destination: cmd.OutOrStdout(),
		}
		s.out = newPrinter(out, cmd.OutOrStdout(), c.Env, c.Now)
		_, s.asks = terminal(s.errOut)
		if err := s.run(cmd.Context(), o, args, do); err != nil {
			return begun{err}
		}
		return nil
	}
	return base
}

func (s *session) run(ctx context.Context, o options, args []string, do action) error {
	if o.target != nil && !o.onDemand {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	return do(ctx, s, args)
}

// connect connects the session to the server that its flags, the variables or the contexts name.
func (s *session) connect(ctx context.Context) error {
	p, err := s.target.resolve(s.config.Env)
	if err != nil {
		return err
	}
	s.conn, err = s.config.connect(ctx, p, s.errOut)
	return err
}

// note tells a person something beside the result.
func (s *session) note(format string, args ...any) { note(s.errOut, format, args...) }

func note(to io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintln(to, safe(fmt.Sprintf(format, args...)))
}
