package auth_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"slipway/internal/base/actor"
	"slipway/internal/edge/auth"
)

func TestTokenOfEveryRoleHasItsFormAndParses(t *testing.T) {
	t.Parallel()
	for _, role := range actor.Roles {
		for name, random := range map[string][]byte{
			"least": make([]byte, 32),
			"most":  bytes.Repeat([]byte{0xff}, 32),
			"some":  bytes.Repeat([]byte{0x5a}, 32),
		} {
			secret, err := auth.Generate(role, bytes.NewReader(random))
			if err != nil {
				t.Fatal(err)
			}
			form := regexp.MustCompile(`^slp_` + string(role) + `_[0-9A-Za-z]{49}$`)
			if !form.MatchString(secret.Reveal()) {
				t.Errorf("%s, %s: %q is not of the form %s", role, name, secret.Reveal(), form)
			}
			parsed, ok := auth.Parse(secret.Reveal())
			if !ok || parsed.Reveal() != secret.Reveal() {
				t.Errorf("%s, %s: %q does not parse back", role, name, secret.Reveal())
			}
		}
	}
}

func TestDifferentRandomnessGivesDifferentTokens(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for bit := range 256 {
		random := make([]byte, 32)
		random[bit/8] = 1 << (bit % 8)
		secret, err := auth.Generate(actor.Viewer, bytes.NewReader(random))
		if err != nil {
			t.Fatal(err)
		}
		seen[secret.Reveal()] = true
	}
	if len(seen) != 256 {
		t.Errorf("256 different seeds gave %d tokens", len(seen))
	}
}

func TestTokenIsNotGeneratedFor(t *testing.T) {
	t.Parallel()
	for _, role := range []actor.Role{actor.System, "", "owner"} {
		if _, err := auth.Generate(role, rand.Reader); err == nil || !strings.Contains(err.Error(), "viewer") {
			t.Errorf("role %q: error %v does not name the roles there are", role, err)
		}
	}
	if _, err := auth.Generate(actor.Admin, iotest.ErrReader(fmt.Errorf("dry"))); err == nil || !strings.Contains(err.Error(), "dry") {
		t.Errorf("a source that fails: error %v", err)
	}
	if _, err := auth.Generate(actor.Admin, bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("31 random bytes made a token")
	}
}

func TestTokenWithAnyCharacterChangedDoesNotParse(t *testing.T) {
	t.Parallel()
	text := setup(t).draw(t).Reveal()
	for i := range text {
		for _, other := range "0Az_- \x00\xff" {
			changed := text[:i] + string(other) + text[i+1:]
			if _, ok := auth.Parse(changed); ok && changed != text {
				t.Errorf("%q parses, made of %q", changed, text)
			}
		}
	}
	for _, changed := range []string{"", "slp", "slp__", text + "0", text[1:], text[:len(text)-1], " " + text, text + "_",
		strings.Replace(text, "developer", "admin", 1), strings.ToUpper(text)} {
		if _, ok := auth.Parse(changed); ok {
			t.Errorf("%q parses", changed)
		}
	}
}

func TestStoredPartsOfToken(t *testing.T) {
	t.Parallel()
	secret := setup(t).draw(t)
	sum := sha256.Sum256([]byte(secret.Reveal()))
	if want := hex.EncodeToString(sum[:]); secret.Hash() != want {
		t.Errorf("hash %s, want %s", secret.Hash(), want)
	}
	if auth.Hash(secret.Reveal()) != sum {
		t.Error("Hash is not the SHA-256 of the text")
	}
	if want := secret.Reveal()[:len("slp_developer_")+4]; secret.Prefix() != want {
		t.Errorf("prefix %q, want %q", secret.Prefix(), want)
	}
	if !strings.HasSuffix(secret.Reveal(), secret.LastFour()) || len(secret.LastFour()) != 4 {
		t.Errorf("last four %q", secret.LastFour())
	}
	var none auth.Secret
	if none.Reveal()+none.Prefix()+none.LastFour() != "" {
		t.Error("a zero Secret has a text")
	}
}

func TestPrintingSecretNeverTellsIt(t *testing.T) {
	t.Parallel()
	secret := setup(t).draw(t)
	type request struct{ secret auth.Secret }
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, value := range []any{secret, &secret, request{secret}, &request{secret}, []auth.Secret{secret}} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", secret, "request", request{secret})
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", secret, "request", request{secret})
	if err := json.NewEncoder(&out).Encode(secret); err != nil { //nolint:staticcheck // that nothing of it is encoded is what is tried
		t.Fatal(err)
	}
	body := secret.Reveal()[len("slp_developer_"):]
	for _, leak := range []string{body, hex.EncodeToString([]byte(body)), strings.ToUpper(hex.EncodeToString([]byte(body)))} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%s is in:\n%s", leak, &out)
		}
	}
	if !strings.Contains(out.String(), "slp_[redacted]") {
		t.Errorf("nothing says that a token stood here:\n%s", &out)
	}
}
