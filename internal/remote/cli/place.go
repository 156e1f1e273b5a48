package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"slipway/internal/base/setting"
)

// target is what the flags say of the server to ask.
type target struct {
	context, server, tokenFile, organization string
	insecureHTTP                             bool
}

func (t *target) flags(fs *pflag.FlagSet) {
	setting.AddFlag(fs, &t.context, "context", "", setting.Text,
		"saved context to use (default: SLIPWAY_CONTEXT, or the current context)")
	setting.AddFlag(fs, &t.server, "server", "", setting.BaseURL,
		"URL of a server to use without a context; needs --token-file (or set SLIPWAY_SERVER and SLIPWAY_TOKEN)")
	setting.AddFlag(fs, &t.tokenFile, "token-file", "", setting.Text, "file with the token for --server")
	t.placeFlags(fs)
}

// placeFlags are those that login has, too.
func (t *target) placeFlags(fs *pflag.FlagSet) {
	setting.AddFlag(fs, &t.organization, "organization", "", setting.Text,
		"id or slug of the organization, or global; only for a superadmin's token")
	setting.AddFlag(fs, &t.insecureHTTP, "insecure-http", "false", setting.Bool,
		"send the token to another machine without encryption")
}

// place is a server and what a command proves itself by there. Both are always from one source.
type place struct {
	// context is the name of the context that it is of, empty for others.
	context string
	savedContext
}

// resolve finds the place that the flags, the variables or the contexts name, in this order.
func (t *target) resolve(env setting.Environment) (p place, err error) {
	server, token := variable(env, "SLIPWAY_SERVER"), variable(env, "SLIPWAY_TOKEN")
	name := variable(env, "SLIPWAY_CONTEXT")

	switch {
	case t.context != "" && t.server != "":
		return p, setting.Usagef("--context %s and --server %s: want one of them, found both", t.context, t.server)
	case t.server != "" && t.tokenFile == "":
		return p, setting.Usagef("--server %s: want --token-file as well, found none; "+
			"a token of SLIPWAY_TOKEN or of a context is not sent there", t.server)
	case t.server == "" && t.tokenFile != "":
		return p, setting.Usagef("--token-file %s: want --server as well, found none; "+
			"its token is not sent to the server of SLIPWAY_SERVER or of a context", t.tokenFile)
	case t.server != "":
		p.Server = t.server
		p.Token, err = readToken(t.tokenFile)
	case t.context != "":
		p, err = savedPlace(env, t.context)
	case name != "" && (server != "" || token != ""):
		return p, setting.Usagef("SLIPWAY_CONTEXT and %s: want one of them, found both; "+
			"the server and the token of a context go together", firstSet(server, token))
	case server != "" && token != "":
		if p.Server, err = setting.BaseURL.Parse(server); err != nil {
			return p, setting.Usagef("SLIPWAY_SERVER: %v", err)
		}
		if p.Token, err = setting.Token.Parse(strings.TrimSpace(token)); err != nil { // as of a file, which has a line end
			return p, setting.Usagef("SLIPWAY_TOKEN: %v", err)
		}
	case server != "" || token != "":
		return p, setting.Usagef("want SLIPWAY_SERVER and SLIPWAY_TOKEN both set, or neither, found %s alone; "+
			"it does not go with a context", firstSet(server, token))
	default:
		p, err = savedPlace(env, name)
	}

	if err != nil {
		return p, err
	}

	if t.organization != "" {
		p.Organization = t.organization
	}
	return p, t.checkScheme(p.Server)
}

func variable(env setting.Environment, name string) string {
	text, _ := env(name)
	return text
}

func firstSet(server, token string) string {
	if server != "" && token != "" {
		return "SLIPWAY_SERVER with SLIPWAY_TOKEN"
	}
	if server != "" {
		return "SLIPWAY_SERVER"
	}
	return "SLIPWAY_TOKEN"
}

// savedPlace returns the place of a context, the current one if it has no name.
func savedPlace(env setting.Environment, name string) (p place, err error) {
	path, err := contextsPath(env)
	if err != nil {
		return p, err
	}

	saved, err := readContexts(path)
	if err != nil {
		return p, err
	}
	if name == "" {
		name = saved.Current
	}
	if name == "" {
		return p, &codeError{
			exitDenied,
			errors.New("want a context, --server with --token-file, or SLIPWAY_SERVER with SLIPWAY_TOKEN, found none; " +
				"make a context with: slipway login --server URL"),
		}
	}

	found, ok := saved.Contexts[name]
	if !ok {
		return p, unknownContext(name, saved)
	}

	if found.Server, err = setting.BaseURL.Parse(found.Server); err != nil {
		return p, fmt.Errorf("%s: server of the context %s: %w", path, name, err)
	}
	if found.Token != "" && found.TokenCommand != "" {
		return p, fmt.Errorf("%s: context %s: want token or tokenCommand, found both", path, name)
	}

	return place{name, found}, nil
}

// checkScheme refuses to send a token in the clear, but to this machine.
func (t *target) checkScheme(server string) error {
	if t.insecureHTTP || isSafe(server) {
		return nil
	}
	return setting.Usagef("%s: want https, so that nobody on the way can read the token, found http; "+
		"--insecure-http sends it all the same", server)
}

// isSafe reports whether nobody on the way to a server can read what is sent there.
func isSafe(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// maxToken is the longest file, input or output that a token is read from, in bytes.
const maxToken = 64 << 10

var errTooLong = fmt.Errorf("want at most %d bytes, found more", maxToken)

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	return tokenFrom(f, path)
}

// tokenFrom reads a token, which whatever it is from may have a line end after.
func tokenFrom(r io.Reader, what string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxToken+1))
	if err == nil && len(text) > maxToken {
		err = errTooLong
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	token, err := setting.Token.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return token, nil
}
