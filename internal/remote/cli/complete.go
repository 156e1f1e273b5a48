package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

const (
	// completionTimeout is how long a shell waits for the server.
	completionTimeout = 700 * time.Millisecond
	// completionAge is how long an answer is good for.
	completionAge = 30 * time.Second
)

// completion is a kind of names that a shell completes.
type completion struct {
	name string
	// candidates returns what may stand after prefix, which ends with a slash or an @, or is empty.
	candidates func(ctx context.Context, s *session, prefix string) ([]string, error)
}

var (
	completeProjects     = completion{"projects", projectNames}
	completeEnvironments = completion{"environments", environmentNames}
	completeInstances    = completion{"instances", instanceNames}
	completeModules      = completion{"modules", moduleNames}
	completeDeployments  = completion{"deployments", deploymentNames}
	completeRules        = completion{"rules", ruleNames}
)

// completions are those of the resources.
var completions = map[string]completion{
	"project": completeProjects, "environment": completeEnvironments, "instance": completeInstances,
}

// complete returns how a shell completes the arguments of a command: by what the server has, if it says so at once, and
// without a word if it does not.
func (c *Config) complete(kind completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
		return c.completeWithin(cmd, kind, text[:strings.LastIndexAny(text, "/@")+1], text)
	}
}

// completeWithin returns what a text may become, of what may stand after its beginning, within.
func (c *Config) completeWithin(
	cmd *cobra.Command, kind completion, within, text string,
) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	found, err := c.candidates(ctx, cmd, kind, within)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found = slices.DeleteFunc(found,
		func(name string) bool { return !strings.HasPrefix(name, text) || safe(name) != name })
	directive := cobra.ShellCompDirectiveNoFileComp
	isBegun := func(name string) bool { return strings.HasSuffix(name, "@") || strings.HasSuffix(name, "=") }
	if slices.ContainsFunc(found, isBegun) {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return found, directive
}

func (c *Config) candidates(ctx context.Context, cmd *cobra.Command, kind completion, prefix string) ([]string, error) {
	flag := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
	t := target{
		context: flag("context"), server: flag("server"), tokenFile: flag("token-file"), organization: flag("organization"),
		insecureHTTP: flag("insecure-http") == "true",
	}

	p, err := t.resolve(c.Env)
	if err != nil {
		return nil, err
	}

	dir := cacheDir(c.Env)
	key := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", []string{
		p.Server, p.Organization, p.Token, p.TokenCommand, kind.name, prefix,
	})))
	if found, ok := c.cached(dir, key); ok {
		return found, nil
	}

	conn, err := c.connect(ctx, p, io.Discard)
	if err != nil {
		return nil, err
	}
	found, err := kind.candidates(ctx, &session{config: c, conn: conn, errOut: io.Discard}, prefix)
	if err == nil && dir != "" {
		c.keep(dir, key, found)
	}
	return found, err
}

// cacheDir returns where completions are kept, empty if that is not known.
func cacheDir(env setting.Environment) string {
	if dir := variable(env, "XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "slipway", "completion")
	}
	if home := variable(env, "HOME"); home != "" {
		return filepath.Join(home, ".cache", "slipway", "completion")
	}
	return ""
}

func (c *Config) cached(dir, key string) (found []string, ok bool) {
	path := filepath.Join(dir, key)
	info, err := os.Stat(path)
	if err != nil || c.Now().Sub(info.ModTime()) > completionAge || info.Size() > maxContexts {
		return nil, false
	}
	text, err := os.ReadFile(path)
	return found, err == nil && json.Unmarshal(text, &found) == nil
}

// keep keeps names, and forgets those that are too old. To fail is no harm.
func (c *Config) keep(dir, key string, found []string) {
	text, err := json.Marshal(found)
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && c.Now().Sub(info.ModTime()) > completionAge {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	_ = replace(filepath.Join(dir, key), text)
}

// namesOf returns the names of the first page of a list.
func namesOf[T any](ctx context.Context, v view[T], read pageOf[T]) (names []string, err error) {
	_, err = each(ctx, read, pageSize, func(page []T) (bool, error) {
		for i := range page {
			names = append(names, v.name(&page[i]))
		}
		return true, nil
	})
	return names, err
}

func projectNames(ctx context.Context, s *session, _ string) ([]string, error) {
	return namesOf(ctx, projectView, func(
		ctx context.Context, first *int, after *string,
	) ([]client.ProjectRecord, client.PageEnd, error) {
		r, err := client.Projects(ctx, s.conn, nil, nil, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.Projects.Nodes, r.Projects.PageInfo, nil
	})
}

func environmentNames(ctx context.Context, s *session, prefix string) ([]string, error) {
	read, err := environmentPages(ctx, s, strings.TrimSuffix(prefix, "/"), nil, nil)
	if err != nil {
		return nil, err
	}
	return namesOf(ctx, environmentView, read)
}

func instanceNames(ctx context.Context, s *session, prefix string) ([]string, error) {
	read, err := instancePages(ctx, s, strings.TrimSuffix(prefix, "/"), nil, nil)
	if err != nil {
		return nil, err
	}
	return namesOf(ctx, instanceView, read)
}

// deploymentNames returns the names that deployments have by their instances.
func deploymentNames(ctx context.Context, s *session, prefix string) ([]string, error) {
	if strings.HasSuffix(prefix, "@") {
		return []string{prefix + "live", prefix + "last", prefix + "previous"}, nil
	}
	names, err := instanceNames(ctx, s, prefix)
	for i := range names {
		names[i] += "@"
	}
	return names, err
}

// moduleNames returns the types of modules, and behind an @ the versions of one.
func moduleNames(ctx context.Context, s *session, prefix string) ([]string, error) {
	if module, ok := strings.CutSuffix(prefix, "@"); ok {
		m, err := s.module(ctx, module)
		if err != nil {
			return nil, err
		}
		names, err := namesOf(ctx, versionView, s.versionPages(m.Id))
		return append(names, prefix+"latest"), err
	}
	return namesOf(ctx, moduleView, func(
		ctx context.Context, first *int, after *string,
	) ([]client.ModuleRecord, client.PageEnd, error) {
		r, err := client.Modules(ctx, s.conn, nil, nil, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.ModuleDefinitions.Nodes, r.ModuleDefinitions.PageInfo, nil
	})
}

// completeFlag has shells complete what stands after a flag, if the command has that.
func completeFlag(c *cobra.Command, name string, complete cobra.CompletionFunc) {
	if c.Flags().Lookup(name) == nil {
		return
	}
	if err := c.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // it is completed already
	}
}

// fixed completes some words.
func fixed[T ~string](values []T) cobra.CompletionFunc {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

func (c *Config) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	path, err := contextsPath(c.Env)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	saved, err := readContexts(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for name := range saved.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}
