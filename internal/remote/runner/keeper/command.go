package keeper

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// StopMode is who gets SIGTERM when a program is stopped.
type StopMode string

// The modes. A program reads its own in an environment variable, so their values are part of its interface.
const (
	// StopGroup: all processes of the program's group. The command is run by sh -c. The group has the grace to end.
	StopGroup StopMode = "group"
	// StopProgram: the program alone, which has to end what it has started. The command is run without a shell, because
	// the shell would be the one that gets the signal. What the program leaves behind in its group is killed.
	StopProgram StopMode = "program"
)

// ErrNeedsShell is the error of a command that only a shell can run.
var ErrNeedsShell = errors.New("want a program and its arguments, separated by spaces")

// shellSyntax has the characters that mean something to a shell.
const shellSyntax = "|&;<>()[]{}$`\\\"'*?~#!\r\n"

// shellWords are the first words of commands that a shell carries out by itself.
var shellWords = strings.Fields(`
	. : alias bg break case cd command continue do done elif else esac eval exec exit export fc fg fi for getopts hash if
	in jobs read readonly return set shift source then times trap type ulimit umask unalias unset until wait while`)

// Argv returns the words of the process that runs a command. They are those of a shell, except that of StopProgram
// they are the command's own; the error is ErrNeedsShell then if a shell is needed to run it.
func (m StopMode) Argv(command string) ([]string, error) {
	if m != StopProgram {
		return []string{"sh", "-c", command}, nil
	}
	if i := strings.IndexAny(command, shellSyntax); i >= 0 {
		found, _ := utf8.DecodeRuneInString(command[i:])
		return nil, fmt.Errorf("%w, found the character %q", ErrNeedsShell, found)
	}
	words := strings.FieldsFunc(command, func(r rune) bool { return r == ' ' || r == '\t' })
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("%w, found nothing", ErrNeedsShell)
	case strings.Contains(words[0], "="):
		return nil, fmt.Errorf("%w, found the assignment %q", ErrNeedsShell, words[0])
	case slices.Contains(shellWords, words[0]):
		return nil, fmt.Errorf("%w, found %q, a word of the shell", ErrNeedsShell, words[0])
	}
	return words, nil
}
