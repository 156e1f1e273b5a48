package inputprop

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var (
	hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
)

// templateOrRepositoryFlaw returns what is wrong with the URL of a repository. One with templates is looked at once
// they are rendered.
func templateOrRepositoryFlaw(text string) string {
	if strings.Contains(text, "${{") {
		return ""
	}
	return RepositoryFlaw(text)
}

// RepositoryMessage is the format of the message about a flaw: it takes the URL and the flaw.
const RepositoryMessage = "must be a repository URL such as https://host/owner/repo, ssh://git@host/owner/repo or " +
	"git@host:owner/repo, found %s: %s"

// RepositoryFlaw returns what is wrong with the URL of a repository, "" if nothing is.
func RepositoryFlaw(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '\\' }) {
		return "it has a space, a backslash or a character that cannot be seen"
	}

	if strings.Contains(text, "://") {
		return urlFlaw(text)
	}

	place, path, ok := strings.Cut(text, ":")
	if !ok {
		return "it has no host"
	}
	if user, host, ok := strings.Cut(place, "@"); ok {
		if !userName.MatchString(user) {
			return "its user is not one"
		}
		place = host
	}

	if strings.ContainsAny(path, "?#") {
		return "it has a query or a fragment"
	}
	return placeFlaw(place, strings.TrimPrefix(path, "/"))
}

func urlFlaw(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "it cannot be read as a URL"
	}

	if u.Scheme != "https" && u.Scheme != "ssh" {
		return "its scheme is neither https nor ssh"
	}

	if u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return "it has a query or a fragment"
	}

	if u.User != nil {
		if _, secret := u.User.Password(); secret || u.Scheme == "https" {
			return "it has credentials"
		}
		if !userName.MatchString(u.User.Username()) {
			return "its user is not one"
		}
	}
	if _, port, ok := strings.Cut(u.Host, ":"); ok {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return "its port is not between 1 and 65535"
		}
	}

	return placeFlaw(u.Hostname(), strings.TrimPrefix(u.Path, "/"))
}

func placeFlaw(host, path string) string {
	if !hostName.MatchString(host) || strings.Contains(host, "..") {
		return "its host is not one"
	}
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	if slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || part == "." || strings.Contains(part, "..") || strings.HasPrefix(part, "-")
	}) {
		return "a part of its path is empty, is a dot, holds .. or starts with -"
	}
	if len(parts) < 2 {
		return "its path has fewer than two parts"
	}
	return ""
}
