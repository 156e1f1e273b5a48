// Command clidocs writes docs/cli.md from the commands.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slipway/internal/remote/cli"
)

//go:embed head.md
var head string

// everywhere are the flags that are not listed with each command.
var everywhere = map[string]bool{
	"context": true, "server": true, "token-file": true, "organization": true, "insecure-http": true,
	"output": true, "fields": true, "color": true, "yes": true, "help": true,
}

func main() {
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "clidocs:", err)
		os.Exit(1)
	}
}

// generate writes the page into a file.
func generate(file string) error {
	root := cli.Group("slipway", "")
	root.AddCommand(cli.Commands(cli.Config{Env: os.LookupEnv})...)
	redeploy, _, err := root.Find([]string{"redeploy"})
	if err != nil {
		return err
	}
	shared := listed(redeploy) // it has no flags of its own

	var b strings.Builder
	b.WriteString(head)
	for _, e := range cli.ExitCodes() {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, e.Meaning)
	}
	b.WriteString("\n## Flags of commands that deploy\n" + table(shared))
	b.WriteString("\n## Commands\n\n`--help` lists all flags of a command.\n")
	write(&b, root, shared)
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// write writes the commands below one.
func write(b *strings.Builder, of *cobra.Command, shared []*pflag.Flag) {
	for _, c := range of.Commands() {
		if c.HasSubCommands() {
			write(b, c, shared)
			continue
		}
		text := c.Short + "."
		if c.Long != "" {
			text = strings.TrimSuffix(c.Long, "\n")
		}
		fmt.Fprintf(b, "\n### %s\n\n%s\n\n```sh\n%s\n```\n", c.CommandPath(), text,
			strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))

		flags := listed(c)
		if own, ok := without(flags, shared); ok {
			b.WriteString("\nIt also has the [flags of commands that deploy](#flags-of-commands-that-deploy).\n")
			flags = own
		}
		b.WriteString(table(flags))
	}
}

// listed returns the flags that are listed with a command.
func listed(c *cobra.Command) (all []*pflag.Flag) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		// What login has of these is its own.
		if everywhere[f.Name] && c.Name() != "login" || f.Name == "help" || f.Name == "output" || f.Name == "fields" ||
			f.Name == "color" || f.Hidden {
			return
		}
		all = append(all, f)
	})
	return all
}

// without returns the flags that are not shared, and whether all shared ones are among the flags.
func without(flags, shared []*pflag.Flag) (own []*pflag.Flag, ok bool) {
	for _, f := range flags {
		isThis := func(s *pflag.Flag) bool { return s.Name == f.Name && s.Usage == f.Usage }
		if !slices.ContainsFunc(shared, isThis) {
			own = append(own, f)
		}
	}
	return own, len(flags)-len(own) == len(shared)
}

// table returns the table of flags, empty without any.
func table(flags []*pflag.Flag) string {
	if len(flags) == 0 {
		return ""
	}

	rows := "\n| flag | |\n|---|---|\n"
	for _, f := range flags {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		switch {
		case f.NoOptDefVal == "":
			name += " " + f.Value.Type()
		case f.Value.Type() != "bool":
			name += "[=" + f.Value.Type() + "]"
		}
		rows += fmt.Sprintf("| %#q | %s |\n", strings.ReplaceAll(name, "|", `\|`), f.Usage)
	}
	return rows
}
