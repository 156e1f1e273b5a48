.DEFAULT_GOAL := help
.PHONY: help setup run build build-runners optimized test test-race equivalence counts bench bench-go bench-live bench-peers profile fuzz lint lint-schema lint-migrations release generate verify migration conformance browser-test clean

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null)$(shell git diff-index --quiet HEAD 2>/dev/null || echo ' with changes')
LINTER  := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0

# Sources of the program; a change to any rebuilds it.
SOURCES := $(shell find cmd ent graph internal rest web/*.go web/docs web/lite -type f ! -name '*_test.go') schema.graphql go.mod go.sum

# GraphiQL, which the program embeds where there is npm to build it. Without it /playground is a small page.
GRAPHIQL := web/dist/playground/index.html.gz

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## get what a fresh machine needs, or say what it lacks
	@.ci/setup

run: bin/slipway ## serve a demo at http://127.0.0.1:8090 (ARGS="--listen :9000" and so on)
	@bin/slipway demo $(ARGS)

build: bin/slipway ## build bin/slipway, static and stripped

# One setting for all that is compiled here, so that the program, its tests and the linter share what is compiled already.
export CGO_ENABLED := 0
export GOFLAGS := $(strip -trimpath $(GOFLAGS))
# The go command notes no commit in a worktree of git, so it is said.
BUILD := go build -ldflags "-s -w -X 'main.version=$(VERSION)' -X 'main.commit=$(COMMIT)'"

bin/slipway: $(SOURCES)
	$(BUILD) -o $@ ./cmd/slipway

# What the compiler optimises by what is released and measured: it compiles anew for it whatever the tests have compiled.
# The file is not named default.pgo, because the tests would be compiled by it, too.
PROFILE := bench/cpu.pprof

# The programs for runners are modules of their own, so that what they need does not become the server's.
RUNNERS := runners/ecs

build-runners: bin/slipway-ecs ## build bin/slipway-ecs, the program of runners for Amazon ECS

bin/slipway-ecs: $(shell find runners/ecs -name '*.go' ! -name '*_test.go') runners/ecs/go.mod runners/ecs/go.sum
	cd runners/ecs && $(BUILD) -o $(CURDIR)/$@ .

optimized: bin/optimized/slipway ## build bin/optimized/slipway, compiled by a profile, as a release is

bin/optimized/slipway: $(SOURCES) $(wildcard $(PROFILE))
	$(BUILD) -pgo $(PROFILE) -o $@ ./cmd/slipway

bin/slipway bin/optimized/slipway: $(if $(shell command -v npm),$(GRAPHIQL))

$(GRAPHIQL): web/build.sh web/package.json web/package-lock.json web/lite/icon.svg web/lite/settings.js $(shell find web/playground -name node_modules -prune -o -type f -print)
	@web/build.sh

.PHONY: graphiql completions packages image licences
graphiql: $(GRAPHIQL)

COMPLETIONS := bin/completions/slipway.bash bin/completions/_slipway bin/completions/slipway.fish

completions: $(COMPLETIONS)

bin/completions/%: bin/slipway
	@mkdir -p $(@D)
	bin/slipway completion $(subst _slipway,zsh,$(subst slipway.,,$*)) >$@

# What makes packages needs a newer module graph than the program may have, so it is not in go.mod. It is compiled without
# optimization, since it runs for a second.
GORELEASER := GOFLAGS= go run -gcflags='all=-N -l' -ldflags='-s -w' github.com/goreleaser/goreleaser/v2@v2.16.0
# For one target it is built as for a test: without the profile, by which everything is compiled anew.
ONE_TARGET := sed -e 's/goos: \[.*/goos: [linux]/' -e "s/goarch: \[.*/goarch: [$$(go env GOARCH)]/" -e 's/, -pgo=[^]]*//'

packages: ## build the packages of a release into dist/, for trial (TRIAL=1: for this machine alone, and not optimized)
	@mkdir -p bin && $(if $(TRIAL),$(ONE_TARGET),cat) .goreleaser.yaml >bin/goreleaser.yaml
	$(GORELEASER) release --snapshot --clean --skip=validate --config bin/goreleaser.yaml

# docker and buildah read the same file.
BUILDER := $(or $(shell command -v docker),$(shell command -v buildah))

image: bin/slipway ## build the image slipway:latest by docker or buildah
	@rm -rf bin/image && mkdir -p bin/image/data
	@cp bin/slipway bin/image/ && cp -L /etc/ssl/certs/ca-certificates.crt bin/image/
	$(BUILDER) build $(BUILD_ARGS) -f deploy/docker/Dockerfile -t slipway:latest bin/image

licences: web/node_modules/.package-lock.json ## write docs/licences.md, the licences of all that is shipped
	go run ./deploy/licences docs/licences.md

web/node_modules/.package-lock.json: web/package-lock.json
	npm ci --prefix web --no-audit --no-fund --loglevel error

# The program as it is without npm.
bin/slipway-lite: $(SOURCES)
	@mkdir -p bin && printf '{"Replace": {"%s": ""}}\n' '$(CURDIR)/$(GRAPHIQL)' >bin/lite.json
	go build -overlay bin/lite.json -o $@ ./cmd/slipway

bin/withpg: go.mod $(shell find internal/test/pgtest -name '*.go')
	go build -o $@ ./internal/test/pgtest/cmd/withpg

# Tests that wait for a clock or a program leave the processors to others. Compiler and tests use some of the memory that
# there is to collect less garbage; the linker leaves out what only a debugger reads, and make lint vets.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
WAITING := -p $(shell expr $(PROCESSORS) + 1) -parallel $(shell expr $(PROCESSORS) \* 2)

test: bin/withpg ## run the tests, on SQLite and wherever there is one on PostgreSQL (ARGS="-run Name")
	GOGC=300 bin/withpg -- go test -vet=off -ldflags='-s -w' $(WAITING) $(ARGS) ./...
	@for runner in $(RUNNERS); do (cd $$runner && go test -vet=off -ldflags='-s -w' $(ARGS) ./...) || exit 1; done

test-race: bin/withpg ## run the tests under the race detector, which needs a C compiler
	CGO_ENABLED=1 bin/withpg -- go test -race $(ARGS) ./...

equivalence: bin/withpg ## compare the answers of plans with those of gqlgen to DOCUMENTS=10000 (SEED=0, ARGS=-race)
	bin/withpg -- go test -count=1 -v -timeout 60m $(ARGS) -run BothExecutors ./internal/test/executortest -documents $(or $(DOCUMENTS),10000) -seed $(or $(SEED),0)

counts: bin/withpg ## accept what the requests take now: statements, allocations and bytes
	bin/withpg -- go test -count=1 ./internal/test/counttest -accept

bin/bench: go.mod $(shell find bench ent internal -name '*.go' ! -name '*_test.go') $(wildcard bench/*/*.sql bench/*/*.graphql)
	go build -o $@ ./bench

bin/floor: bin/bench
	go build -o $@ ./bench/floor

bench: bin/bench bin/floor bin/optimized/slipway ## measure the program over HTTP beside PostgreSQL itself, and print the tables (ARGS="--rounds 5")
	@bin/bench --floor bin/floor $(ARGS)

profile: bin/bench bin/optimized/slipway ## record the profile that bin/optimized/slipway is optimised by, in two minutes
	bench/profile.sh $(PROFILE)

bench-peers: bin/bench bin/floor bin/optimized/slipway bench/peers/node_modules/.package-lock.json ## measure it beside Mercurius and PostGraphile, too, which npm brings
	@bin/bench --floor bin/floor --peers all $(ARGS)

bench/peers/node_modules/.package-lock.json: bench/peers/package-lock.json
	npm ci --prefix bench/peers --ignore-scripts --no-audit --no-fund

bench-go: bin/withpg ## run Go's benchmarks and print the medians (ROUNDS=5, BENCHTIME=200ms)
	@bin/withpg -- .ci/bench $(or $(ROUNDS),5) $(or $(BENCHTIME),200ms)

# Each proof is also a target of its own: proof-alerts, proof-backup, proof-clocks, proof-cloudevents, proof-control, proof-faults,
# proof-feed, proof-hostile, proof-idempotency, proof-kill, proof-lost, proof-outage, proof-overlap, proof-race, proof-upgrade and
# proof-waking.
PROOF := SLIPWAY_PROOF=full bin/withpg -- go test -v -count=1 -parallel 1 -timeout 90m $(ARGS) ./internal/test/prooftest

.PHONY: proof
proof: bin/withpg ## race, repeat, kill and cut off whole servers, and print the figures (proof-race for one)
	$(PROOF)

proof-%: bin/withpg
	$(PROOF) -run '(?i)^Test$*'

# The tests that make test runs at a smaller size, at full size: plans in 2,000 states on each database, 200 rounds of each
# race, 5,000 values judged in three ways, the whole tables of release control, and each failure of each request of the
# ECS program.
.PHONY: proof-control
proof-control: bin/withpg
	SLIPWAY_PROOF=full bin/withpg -- go test -v -count=1 -timeout 30m $(ARGS) ./internal/service/deployment \
		./internal/service/inputvalidation ./internal/test/paritytest
	cd runners/ecs && SLIPWAY_PROOF=full go test -count=1 $(ARGS) .

bench-live: bin/withpg ## open 10,000 streams on one server, and print what each takes and how late it hears of a change
	$(PROOF) -run '^TestLiveStreamsAreCheap$$'

.PHONY: attack
attack: bin/withpg ## send servers hostile requests, alone and ten at once, and print what each of them took
	@cd internal/test/attacktest && SLIPWAY_ATTACK=table $(CURDIR)/bin/withpg -- go test -count=1 -parallel 1 -timeout 60m $(ARGS)

fuzz: ## look for inputs that break what reads them, each target for FUZZTIME=60s
	@.ci/fuzz $(or $(FUZZTIME),60s)

lint: lint-schema lint-migrations ## check the code's style and the directions between packages
	go run $(LINTER) run --allow-parallel-runners ./...
	@for module in $(RUNNERS) .ci/pictures; do (cd $$module && go run $(LINTER) run --allow-parallel-runners ./...) || exit 1; done

lint-schema: .ci/schema/node_modules/.package-lock.json ## check how the schema is written, and that it keeps what is released
	.ci/schema/node_modules/.bin/eslint --config .ci/schema/eslint.config.mjs schema.graphql
	node .ci/schema/main.mjs check .
	node --test .ci/schema/schema.test.mjs

lint-migrations: ## check that each migration was added after those before it, which takes git's whole history
	go run ./internal/data/store/migrate/cmd/migration order

.ci/schema/node_modules/.package-lock.json: .ci/schema/package-lock.json
	npm ci --prefix .ci/schema --no-audit --no-fund

release: .ci/schema/node_modules/.package-lock.json ## cut a release: its changelog and .ci/schema/schema.released.graphql (VERSION=0.1.0)
	@test "$(origin VERSION)" = 'command line' || { echo 'release: say which, as in make release VERSION=0.1.0' >&2; exit 2; }
	node .ci/schema/main.mjs release . $(VERSION)

generate: ## write everything that is generated again, in the order of slipway.go
	go generate .

# The tree is compared with itself, not with the last commit: what is not committed yet may be right.
verify: ## fail where the modules or the generated code are not what they should be
	go mod verify
	@before=$$(mktemp) && after=$$(mktemp) && trap 'rm -f "$$before" "$$after"' EXIT && \
	.ci/digest >"$$before" && $(MAKE) --no-print-directory generate && .ci/digest >"$$after" && \
	{ diff "$$before" "$$after" || { echo 'verify: the files above change when they are generated; run make generate and commit them' >&2; exit 1; }; }

migration: bin/withpg ## write the migration from the schema as it was to what it is (NAME=add_colour)
	@test -n "$(NAME)" || { echo 'migration: name it, as in make migration NAME=add_colour' >&2; exit 2; }
	bin/withpg -- go run ./internal/data/store/migrate/cmd/migration diff $(NAME)

conformance: bin/slipway ## try the API with the official audit, other people's clients and generated ones
	conformance/run.sh $(CURDIR)/bin/slipway

browser-test: bin/slipway bin/slipway-lite ## try GraphiQL and the small page in Chromium (SCREENSHOT_DIR=/tmp/pictures)
	web/browsertest/run.sh $(CURDIR)/bin/slipway $(CURDIR)/bin/slipway-lite

clean: ## remove what was built
	rm -rf bin bench/.cache web/dist/playground
