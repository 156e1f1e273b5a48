package pgconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lib/pq"
)

// Setting is a setting of a session.
type Setting struct{ Name, Value string }

// SettingsError is returned for a session in which settings are not in force that were sent when it was connected to: a
// pooler has dropped them, or has given the connection another session.
type SettingsError struct {
	// Role is the role of the session.
	Role string
	// Want are the settings that are not in force, with the values that were sent, and Found has the values in force.
	Want  []Setting
	Found []string
}

// Error says what to run for the settings, as SQL, and what to do then.
func (e *SettingsError) Error() string {
	found, statements := make([]string, len(e.Want)), make([]string, len(e.Want))
	for i, s := range e.Want {
		found[i] = fmt.Sprintf("%s is %q instead of %q", s.Name, e.Found[i], s.Value)
		statements[i] = fmt.Sprintf("ALTER ROLE %s SET %s = %s;",
			pq.QuoteIdentifier(e.Role), s.Name, pq.QuoteLiteral(s.Value))
	}
	return "a pooler drops the settings that are sent when the database is connected to: " + strings.Join(found, ", ") +
		"; run as a superuser: " + strings.Join(statements, " ") +
		" Then let the pooler reconnect to the database, as by RECONNECT in the console of PgBouncer, " +
		"because its connections keep the old settings (docs/operations.md, A pooler)"
}

// fixedAtStart are settings that cannot be set again in a session, so that their values cannot be compared. Nothing
// here depends on them.
var fixedAtStart = []string{
	"ignore_system_indexes", "post_auth_delay",
	"log_connections", "log_disconnections",
	"jit_debugging_support", "jit_profiling_support",
}

// Sent returns the settings that a configuration sends when it connects, in its options and by themselves. If the
// options have one twice, the last counts, as for the server. The name of the application is left out: poolers add to
// it.
func Sent(c pq.Config) []Setting {
	values := map[string]string{}
	words := splitOptions(c.Options)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "-c" && i+1 < len(words) {
			i++
			word = "-c" + words[i]
		}
		text, ok := strings.CutPrefix(word, "--")
		if !ok {
			text, ok = strings.CutPrefix(word, "-c")
		}
		if name, value, isPair := strings.Cut(text, "="); ok && isPair {
			values[strings.ReplaceAll(name, "-", "_")] = value
		}
	}
	maps.Copy(values, c.Runtime)
	if c.ClientEncoding != "" {
		values["client_encoding"] = c.ClientEncoding
	}
	if c.Datestyle != "" {
		values["datestyle"] = c.Datestyle
	}

	var sent []Setting
	for name, value := range values {
		if !slices.Contains(fixedAtStart, strings.ToLower(name)) {
			sent = append(sent, Setting{name, value})
		}
	}
	slices.SortFunc(sent, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return sent
}

// splitOptions splits command-line options at spaces without a backslash before them, as PostgreSQL does.
func splitOptions(text string) (words []string) {
	var word strings.Builder
	escaped, begun := false, false

	for _, c := range text {
		switch {
		case !escaped && c == '\\':
			escaped, begun = true, true
			continue
		case !escaped && strings.ContainsRune(" \t\n\r\v\f", c):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
		escaped = false
	}

	if begun {
		words = append(words, word.String())
	}
	return words
}

// session is what a connection is told of its session.
type session struct {
	// process is the one that runs its statements.
	process int64
	role    string
}

// askSession asks for the process and the role of a session, and whether settings are in force there, in one round
// trip. It returns a SettingsError if one is not. It compares a value with what the server makes of the one that was
// sent: for that the statement sets it until its end.
func askSession(ctx context.Context, c driver.QueryerContext, sent []Setting) (s session, err error) {
	query := strings.Builder{}
	query.WriteString("SELECT pg_backend_pid()::bigint, current_user::text")
	for _, s := range sent {
		name := pq.QuoteLiteral(s.Name)
		_, _ = fmt.Fprintf(&query, ", coalesce(current_setting(%s, true), ''), set_config(%[1]s, %s, true)",
			name, pq.QuoteLiteral(s.Value))
	}
	rows, err := c.QueryContext(ctx, query.String(), nil)
	if err != nil {
		return s, fmt.Errorf("ask for the settings of the session: %w", err)
	}
	row := make([]driver.Value, len(rows.Columns()))
	if err := errors.Join(rows.Next(row), toEnd(rows), rows.Close()); err != nil {
		return s, err
	}

	s.process, _ = row[0].(int64)
	s.role = textOf(row[1])
	failed := &SettingsError{Role: s.role}
	for i, setting := range sent {
		found, want := textOf(row[2+2*i]), textOf(row[3+2*i])
		if found != want {
			failed.Want, failed.Found = append(failed.Want, Setting{setting.Name, want}), append(failed.Found, found)
		}
	}
	if len(failed.Want) > 0 {
		return s, failed
	}
	return s, nil
}

// CheckSession returns a SettingsError if settings that were sent are not in force in the session of a connection.
func CheckSession(ctx context.Context, c driver.QueryerContext, sent []Setting) error {
	_, err := askSession(ctx, c, sent)
	return err
}

// toEnd reads rows to their end, behind which an error may come.
func toEnd(rows driver.Rows) error {
	err := rows.Next(make([]driver.Value, len(rows.Columns())))
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func textOf(v driver.Value) string {
	switch text := v.(type) {
	case string:
		return text
	case []byte:
		return string(text)
	}
	return ""
}
