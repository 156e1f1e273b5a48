// Slipway serves the control-plane API of an infrastructure delivery platform, has the tools to set it up, and the
// commands by which people and CI use it. Every setting of the server is a flag and an environment variable;
// slipway COMMAND --help lists both.
//
// The server's own commands exit with 2 for a bad flag or setting, with 1 for what fails at run time, with 3 if
// check has found something, and with 5 if init finds that something is there. The others have the codes of
// internal/remote/cli.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/remote/cli"
)

const (
	exitFailed  = 1
	exitUsage   = 2
	exitFound   = 3
	exitRefused = 5
)

func main() {
	limitMemory(os.LookupEnv)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; from then on a signal ends the program at once.
	context.AfterFunc(ctx, stop)
	if code, ok := keep(); ok {
		os.Exit(code)
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.LookupEnv))
}

// run carries out a command line until it is done or ctx ends, and returns the code to exit with.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, env setting.Environment) int {
	root := commands(env)
	// What fails before a command has begun is the command line.
	begun := false
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		begun = true
		return setting.FromEnvironment(c.Flags(), env)
	}

	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return setting.FlagError(err) })
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	describe(root)

	var unwritten error
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		to := &output{Writer: stdout}
		c.SetOut(to)
		help(c, args)
		unwritten = to.err
	})

	ran, err := root.ExecuteContextC(ctx)
	if err == nil && unwritten != nil {
		_, _ = fmt.Fprintln(stderr, "slipway:", unwritten)
		return exitFailed
	}

	if code, ok := cli.Exit(ran, err); ok {
		return code
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return exitFound
	}

	_, _ = fmt.Fprintln(stderr, "slipway:", explain(err))
	if _, usage := errors.AsType[setting.UsageError](err); usage || !begun {
		return exitUsage
	}
	if _, refused := errors.AsType[refusal](err); refused {
		return exitRefused
	}
	return exitFailed
}

// output keeps the first error of a writer, for what does not look at it.
type output struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (c *output) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// The groups of commands in the help.
const (
	forUsers     = "users"
	forOperators = "operators"
)

// commands returns the program's commands, below the one that has no name of its own.
func commands(env setting.Environment) *cobra.Command {
	root := cli.Group("slipway", "Deploy infrastructure with typed inputs and exact rollback")
	root.AddGroup(
		&cobra.Group{ID: forUsers, Title: "Use a server:"},
		&cobra.Group{ID: forOperators, Title: "Run a server or a runner:"},
	)

	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
		}
		root.AddCommand(commands...)
	}

	root.SetCompletionCommandGroupID(forUsers)
	add(forUsers, cli.Commands(cli.Config{Env: env})...)

	add(forOperators,
		initCommand(env),
		serveCommand(),
		demoCommand(),
		runnerCommand(),
		backupCommand(),
		restoreCommand(),
		cli.Group("migrate", "Apply or list database migrations", migrateUpCommand(), migrateStatusCommand()),
		checkCommand(),
		healthCommand(),
		cli.Group("org", "Create and list organizations", orgCreateCommand(env), orgListCommand(env)),
		cli.Group("token", "Create, list and revoke tokens",
			tokenCreateCommand(env), tokenListCommand(env), tokenRevokeCommand(env)),
	)

	root.AddCommand(versionCommand())
	root.Version = thisBuild().String()
	root.SetVersionTemplate("{{.Version}}\n")
	return root
}

// describe gives the commands that cobra adds a text like the others have.
func describe(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Short = "Generate a completion script for your shell"
		case "help":
			c.Short = "Show help for a command"
		}
	}
}

// explain returns an error on one line: of a refusal its message, and its cause if that is the server's own.
func explain(err error) string {
	text := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok {
		text = f.Message
		if cause := f.Unwrap(); cause != nil && f.Status() >= 500 {
			text += " " + cause.Error()
		}
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
}
