// Command clidocs writes docs/cli.md from the commands.
package main

import (
	_ "embed"
	"fmt"
	"os"
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
	var b strings.Builder
	b.WriteString(head)
	for _, e := range cli.ExitCodes() {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, e.Meaning)
	}
	b.WriteString("\n## Commands\n\n`--help` lists all flags of a command.\n")
	root := cli.Group("slipway", "")
	root.AddCommand(cli.Commands(cli.Config{Env: os.LookupEnv})...)
	write(&b, root)
	if err := os.WriteFile(os.Args[1], []byte(b.String()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "clidocs:", err)
		os.Exit(1)
	}
}

// write writes the commands below one.
func write(b *strings.Builder, of *cobra.Command) {
	for _, c := range of.Commands() {
		if c.HasSubCommands() {
			write(b, c)
			continue
		}
		text := c.Short + "."
		if c.Long != "" {
			text = strings.TrimSuffix(c.Long, "\n")
		}
		fmt.Fprintf(b, "\n### %s\n\n%s\n\n```sh\n%s\n```\n", c.CommandPath(), text,
			strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))
		flags(b, c)
	}
}

func flags(b *strings.Builder, c *cobra.Command) {
	first := true
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		// What login has of these is its own.
		if everywhere[f.Name] && c.Name() != "login" || f.Name == "help" || f.Name == "output" || f.Name == "fields" ||
			f.Name == "color" || f.Hidden {
			return
		}

		if first {
			b.WriteString("\n| flag | |\n|---|---|\n")
			first = false
		}

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

		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), f.Usage)
	})
}
