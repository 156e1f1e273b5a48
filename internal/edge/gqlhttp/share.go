package gqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

// sharedFor is how long caches may answer with what everybody may see.
const sharedFor = time.Minute

// isShared reports whether everybody gets the same answer to a request: the whole answer to a trusted query in a URL,
// for a caller without a token. Everybody may see what such a caller is answered without an error, whatever the fields.
func isShared(
	ctx context.Context, method string, r *wire.Request, op *graphql.OperationContext, resp *graphql.Response,
) bool {
	return isRead(method) && r.IsTrusted && op.Operation.Operation == ast.Query && httpx.Caller(ctx).Anonymous &&
		resp.Data != nil && len(resp.Errors) == 0
}

// share writes a response that caches may keep, or status 304 if the caller has it already. It leaves the cost out,
// which has what the caller has left and would make every response another one.
func share(w http.ResponseWriter, r *http.Request, media string, resp *graphql.Response) {
	delete(resp.Extensions, costName)
	digest := sha256.New()
	digest.Write([]byte(media + "\n"))
	head, data, tail := wire.Parts(resp)
	for _, part := range [][]byte{head, data, tail} {
		digest.Write(part)
	}
	tag := `"` + base64.RawURLEncoding.EncodeToString(digest.Sum(nil)[:16]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(sharedFor.Seconds())))
	if httpx.NoneMatch(r.Header, tag) {
		h.Add("Vary", "Accept")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	wire.Write(w, media, http.StatusOK, resp)
}
