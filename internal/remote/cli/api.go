package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/remote/client"
)

// api is what the flags of the command say.
type api struct {
	file      string
	variables []assignment
	paginate  bool
}

// assignment gives a variable its value.
type assignment struct {
	name  string
	value json.RawMessage
}

// assignments reads NAME=VALUE. The value is JSON if it is that, and a text otherwise.
var assignments = setting.Parser[[]assignment]{Kind: "NAME=VALUE", Parse: func(s string) ([]assignment, error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return nil, setting.Unlike("NAME=VALUE", s)
	}
	if json.Valid([]byte(value)) {
		return []assignment{{name, json.RawMessage(value)}}, nil
	}
	text, err := json.Marshal(value)
	return []assignment{{name, text}}, err
}}

// methods are those of the API besides GraphQL.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPatch}

func (c *Config) apiCommand() *cobra.Command {
	var a api
	cmd := c.command(&cobra.Command{
		Use:   "api QUERY | -f FILE | GET|POST|PATCH PATH [-f FILE]",
		Short: "Send a GraphQL or REST request", Args: cobra.MaximumNArgs(2),
		Long: `Send a GraphQL operation, or a request to a REST path, and print the response unchanged, or
converted with -o yaml or -o tsv. Queries and GET requests are retried while the server is
unreachable, and other requests only if the server cannot have executed them.

The value of --var is JSON if it parses as JSON, and otherwise a string: --var first=5, --var
id=dep_…, --var 'name="5"'. --paginate sends the operation again for each page and prints each
response on its own line. The operation needs a variable $after: String and must select pageInfo {
hasNextPage endCursor }.`,
		Example: `  slipway api '{ viewer { role } }'
  slipway api -f list.graphql --var first=100 --paginate
  slipway api GET /deployments/dep_01kb…
  echo '{"data": {"name": "Regions"}}' | slipway api PATCH /default-value-definitions/dvd_01kb… -f -`,
	}, func(ctx context.Context, s *session, args []string) error {
		if len(s.out.fields) > 0 {
			return setting.Usagef("--fields: want none, since the query names the fields, found %q",
				strings.Join(s.out.fields, ","))
		}
		if len(args) == 2 {
			return a.rest(ctx, s, args[0], args[1])
		}
		return a.graphql(ctx, s, args)
	})
	setting.AddFlagP(cmd.Flags(), &a.file, "file", "f", "", setting.Text,
		"file with the query or the body (- is standard input)")
	setting.AddRepeatableFlag(cmd.Flags(), &a.variables, "var", "", assignments,
		"variable of the query; can be repeated")
	setting.AddFlag(cmd.Flags(), &a.paginate, "paginate", "false", setting.Bool, "request all pages")
	return cmd
}

// read reads the file, or standard input.
func (a *api) read(ctx context.Context, s *session) (string, error) {
	text, err := s.readFile(ctx, a.file, maxFile)
	return string(text), err
}

func (a *api) rest(ctx context.Context, s *session, method, path string) error {
	switch {
	case !slices.Contains(methods, method):
		return setting.Usagef("want a query, or one of %s before a path, found %q", strings.Join(methods, ", "), method)
	case !strings.HasPrefix(path, "/"):
		return setting.Usagef("want a path that begins with a slash, such as /module-definitions, found %q", path)
	case len(a.variables) > 0 || a.paginate:
		return setting.Usagef("--var and --paginate: want neither with %s, found one; they are a query's", method)
	case method == http.MethodGet && a.file != "":
		return setting.Usagef("--file: want none with GET, found %q", a.file)
	}

	var body []byte
	if a.file != "" {
		text, err := a.read(ctx, s)
		if err != nil {
			return err
		}
		body = []byte(text)
	}

	answer, err := a.send(ctx, s, method == http.MethodGet, func(ctx context.Context) (*client.Answer, error) {
		return s.conn.Do(ctx, method, path, body, http.Header{"Accept": {"application/json"}})
	})
	if err != nil {
		return err
	}
	return s.showAnswer(answer.Body)
}

func (a *api) graphql(ctx context.Context, s *session, args []string) error {
	query, err := a.query(ctx, s, args)
	if err != nil {
		return err
	}

	variables := map[string]json.RawMessage{}
	for _, v := range a.variables {
		variables[v.name] = v.value
	}

	for {
		body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			return err
		}

		answer, err := a.send(ctx, s, !strings.Contains(query, "mutation"), func(
			ctx context.Context,
		) (*client.Answer, error) {
			return s.conn.Do(ctx, http.MethodPost, "/graphql", body, http.Header{
				"Accept": {"application/graphql-response+json"}, "Slipway-Cost": {"true"},
			})
		})
		if err != nil {
			return err
		}

		if err := s.showAnswer(answer.Body); err != nil {
			return err
		}
		if err := answer.Err(); err != nil || !a.paginate {
			return err
		}

		end, err := nextPage(answer.Body)
		if err != nil || end == nil {
			return err
		}
		if string(variables["after"]) == string(end) {
			return errors.New("--paginate: want a query that uses $after, found one that answers with the same page again")
		}
		variables["after"] = end
	}
}

// query returns the query that the arguments or the file have.
func (a *api) query(ctx context.Context, s *session, args []string) (string, error) {
	switch {
	case (len(args) == 1) == (a.file != ""):
		return "", setting.Usagef("want a query or --file, found %s",
			map[bool]string{true: "both", false: "neither"}[len(args) == 1])
	case a.file != "":
		return a.read(ctx, s)
	case slices.Contains(methods, args[0]):
		return "", setting.Usagef("want a path after %s, such as /module-definitions, found none", args[0])
	}
	return args[0], nil
}

// send sends a request, again if that is safe, and returns the answer unless that is nothing but an error.
func (a *api) send(
	ctx context.Context, s *session, reads bool, do func(context.Context) (*client.Answer, error),
) (answer *client.Answer, err error) {
	again := notDone
	if reads {
		again = away
	}
	err = s.conn.repeat(ctx, again, func(ctx context.Context) error {
		var err error
		if answer, err = do(ctx); err != nil {
			return err
		}
		if failed := answer.Err(); failed != nil && !answer.Successful() {
			return failed
		}
		return nil
	})
	return answer, err
}

// nextPage returns the cursor that the next page comes after, of the first pageInfo of an answer that has one.
func nextPage(body []byte) (json.RawMessage, error) {
	n, err := strictjson.ParseWithin(body, maxRecord)
	if err != nil {
		return nil, err
	}
	info := find(n, "pageInfo")
	if info == nil || info.Get("hasNextPage") == nil || info.Get("endCursor") == nil {
		return nil, setting.Usagef("--paginate: want a query with pageInfo { hasNextPage endCursor }, " +
			"found none in its answer")
	}
	if !info.Get("hasNextPage").Bool {
		return nil, nil
	}
	return info.Get("endCursor").JSON(), nil
}

func find(n *strictjson.Node, name string) *strictjson.Node {
	if n.Kind == strictjson.Object && n.Get(name) != nil {
		return n.Get(name)
	}
	for _, item := range n.Items {
		if found := find(item, name); found != nil {
			return found
		}
	}
	return nil
}

// showAnswer writes an answer as it is, or turned into the format that is wanted.
func (s *session) showAnswer(body []byte) error {
	if s.out.format == formatTable || s.out.format == formatJSON || len(body) == 0 {
		text := escapeJSON(strings.TrimRight(string(body), "\n"))
		if !json.Valid(body) {
			text = safe(text)
		}
		_, err := fmt.Fprintln(s.destination, text)
		return err
	}
	n, err := strictjson.ParseWithin(body, maxRecord)
	if err != nil {
		return err
	}
	if s.out.format == formatYAML {
		return showNode(s, n, "")
	}
	return showLines(s, shapeOf(n).leaves, n)
}

// showLines writes some values of an object, each with its path in a line.
func showLines(s *session, paths []string, n *strictjson.Node) error {
	lines := make([]line, len(paths))
	for i, path := range paths {
		lines[i] = line{path, cell(at(n, path))}
	}
	return showAll(s, lineView, lines)
}

// line is a value and its path.
type line struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

var lineView = view[line]{
	columns: []column{{"PATH", "path"}, {"VALUE", "value"}},
	name:    func(l *line) string { return l.Path },
}
