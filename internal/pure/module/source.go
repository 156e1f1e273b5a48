package module

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
)

// maxSourcePath is how many characters the folder of a source may have.
const maxSourcePath = 1024

// sourceSchemes are those of the URLs that git fetches a source by. Others run commands (ext::), or read the runner's
// files.
var sourceSchemes = []string{"https", "ssh", "git"}

// scpForm is user@host:path, or host:path of a host with a domain: what else has a colon is the scheme of something.
var scpForm = regexp.MustCompile(
	`^([A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9.-]*|[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+):[^:\s-][^\s]*$`)

// checkSource returns what is wrong with where the program of a version is kept.
func (in NewVersion) checkSource() []fault.Violation {
	violations := append(
		textrules.Identifier("/sourceUrl", in.SourceURL), textrules.Identifier("/sourceRef", in.SourceRef)...)

	if in.SourceURL != nil && len(violations) == 0 {
		if flaw := sourceFlaw(*in.SourceURL); flaw != "" {
			violations = append(violations, fault.Violation{
				Pointer: "/sourceUrl", Rule: "format",
				Message: "must be a URL such as https://host/owner/repo, ssh://git@host/owner/repo, " +
					"git://host/repo, or git@host:owner/repo: " + flaw,
			})
		}
	}

	if in.SourceRef != nil && strings.HasPrefix(*in.SourceRef, "-") {
		violations = append(violations, fault.Violation{
			Pointer: "/sourceRef", Rule: "format",
			Message: fmt.Sprintf("must be a branch, a tag or a commit, found %.80q, "+
				"which git would take for an option", *in.SourceRef),
		})
	}

	if in.SourcePath != nil {
		violations = append(violations, checkSourcePath(*in.SourcePath)...)
	}

	return violations
}

// sourceFlaw returns what is wrong with the URL of a repository, "" for nothing. It does not repeat the URL, which may
// have a password.
func sourceFlaw(text string) string {
	if !strings.Contains(text, "://") {
		if !scpForm.MatchString(text) || strings.Contains(text, "::") {
			return "it is neither a URL nor host:path"
		}
		return ""
	}

	u, err := url.Parse(text)
	if err != nil {
		return "it cannot be read as a URL"
	}

	_, hasPassword := u.User.Password()
	switch {
	case !slices.Contains(sourceSchemes, u.Scheme):
		return fmt.Sprintf("its scheme is %.20q, and not one of %s", u.Scheme, strings.Join(sourceSchemes, ", "))
	case u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-"):
		return "it has no host"
	case strings.Trim(u.Path, "/") == "":
		return "it has no path"
	case hasPassword || u.Scheme == "https" && u.User != nil:
		return "it has credentials; runners have their own"
	}

	return ""
}

// checkSourcePath returns what is wrong with the folder of a source: it is one of the repository's, by its only name.
func checkSourcePath(folder string) []fault.Violation {
	wrong := func(rule, message string, args ...any) []fault.Violation {
		return []fault.Violation{{Pointer: "/sourcePath", Rule: rule, Message: fmt.Sprintf(message, args...)}}
	}
	violations := append(textrules.Length("/sourcePath", folder, maxSourcePath), textrules.Line("/sourcePath", folder)...)
	if len(violations) > 0 {
		return violations
	}
	switch {
	case folder == "" || folder == ".":
		return wrong("format", "must name a folder, found %q; leave it out for the root of the repository", folder)
	case path.IsAbs(folder) || path.Clean(folder) != folder || strings.HasPrefix(folder, ".."):
		return wrong("format", "must be a path below the root of the repository without .., "+
			"such as modules/queue, found %.80q", folder)
	case strings.HasPrefix(folder, "-") || strings.Contains(folder, `\`):
		return wrong("format", "must not begin with a hyphen or have a backslash, found %.80q", folder)
	}
	return nil
}
