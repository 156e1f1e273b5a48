// Floor serves what A, B, C, CL and D ask for without GraphQL: the tokens are verified as the program does, over the
// same store, and the statements and the form of the answers are written by hand. What it takes, no GraphQL server can
// save.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/edge/auth"
	"slipway/internal/edge/httpx"
	"slipway/internal/service/account"
)

func main() {
	// As the program has it.
	const growth = 200
	debug.SetGCPercent(growth)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

// run serves until the context ends: the database is SLIPWAY_DATABASE, and the log says where.
func run(ctx context.Context, log *slog.Logger) (err error) {
	s, err := store.Open(ctx, store.Config{URL: os.Getenv("SLIPWAY_DATABASE"), Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	accounts := &account.Service{Store: s, Journal: journal.New(s, time.Now, id.New), Now: time.Now, Log: log}
	api := http.NewServeMux()
	api.Handle(
		"POST /graphql", httpx.Client(nil)(auth.New(accounts, time.Now, 0).Middleware(actor.GraphQL, fail)(handler(s))),
	)

	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: api, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	log.Info("serving", "url", "http://"+l.Addr().String())
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

// fail answers a request that has failed.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	slog.ErrorContext(r.Context(), "failed", "error", err)
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

// handler answers the requests, by the name of their operation.
func handler(s *store.Store) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const most = 64 << 10
		body, err := httpx.ReadBody(w, r, most)
		if err != nil {
			fail(w, r, err)
			return
		}
		var request struct {
			Query     string
			Variables struct{ ID, EnvironmentID string }
		}
		if err := json.Unmarshal(body, &request); err != nil {
			fail(w, r, err)
			return
		}

		read, owner := reader{s}, actor.From(r.Context()).OrganizationID
		var answer []byte
		switch name := operation(request.Query); name {
		case "A":
			answer, err = read.deployment(r.Context(), owner, request.Variables.ID)
		case "B":
			answer, err = read.data(r.Context(), owner, request.Variables.ID)
		case "C":
			answer, err = read.deployments(r.Context(), owner, request.Variables.EnvironmentID)
		case "D":
			answer, err = read.definitions(r.Context(), owner)
		case "__typename":
			answer = []byte(`{"data":{"__typename":"Query"}}`)
		default:
			err = fmt.Errorf("there is no operation %q", name)
		}

		if err != nil {
			fail(w, r, err)
			return
		}

		w.Header().Set("Content-Type", "application/graphql-response+json; charset=utf-8")
		_, _ = w.Write(answer) // which fails where the client has gone
	})
}

// operation returns the name of a document's first operation.
func operation(document string) string {
	_, after, _ := strings.Cut(document, " ")
	end := strings.IndexAny(after, "( {")
	if end < 0 {
		return ""
	}
	return after[:end]
}
