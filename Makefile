# Each target calls commands; what they print is theirs.

GO        ?= go
BIN       := $(CURDIR)/bin
TOOLS     := $(BIN)/tools
OUT       := $(CURDIR)/out
FUZZTIME  ?= 300x
# A test that hangs is ended after this time; no test comes near it.
PATIENCE  := 80m
export CGO_ENABLED ?= 0
# Without paths of this folder in them, compiled packages are in the cache for every other checkout, too.
export GOFLAGS ?= -trimpath
# Google's storage client, which SOPS links for key services, leaves gRPC out with this tag: 12 MB less. The programs for
# developers have the tag tools.
SMALL     := disable_grpc_modules
TAGS      := tools,$(SMALL)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## the command, as bin/fleetwright
	$(GO) build -tags $(SMALL) -trimpath -ldflags='-s -w' -o $(BIN)/fleetwright ./cmd/fleetwright

.PHONY: install
install: ## the command, where go install puts it
	$(GO) install -tags $(SMALL) -trimpath -ldflags='-s -w' ./cmd/fleetwright

.PHONY: demo
demo: build ## the main job on the examples, in a page
	$(GO) run -tags $(TAGS) ./examples/demo -fleetwright $(BIN)/fleetwright -flux-manifests "$(FLUX_MANIFESTS)" -out $(OUT)/demo

# Flux's own manifests, as the Flux Operator carries them; the module is none of
# the product's.
FLUX_OPERATOR  = $(shell $(GO) mod download -json github.com/controlplaneio-fluxcd/flux-operator@v0.58.0 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
FLUX_MANIFESTS = $(FLUX_OPERATOR)/config/data/flux/v2.9.4

.PHONY: flux-manifests
flux-manifests: # the folder, for tests that are run by hand
	@echo "$(FLUX_MANIFESTS)"

# The modules of the gate, besides that of the linter, which nothing but a new version of it changes.
GATE_MODULES := . tools/house tools/schemas tools/specschema

.PHONY: modules
modules: ## download the modules of the gate
	@set -e; for dir in $(GATE_MODULES) tools/lint; do $(GO) -C $$dir mod download; done
	@test -d "$(FLUX_MANIFESTS)"
	@$(GO) -C tools/schemas run . -download

.PHONY: tidy
tidy: ## fail if a go.mod of the gate is not tidy
	@set -e; for dir in $(GATE_MODULES); do $(GO) -C $$dir mod tidy -diff; done

.PHONY: gate
gate: ## .ci/run on a fresh clone of HEAD, as CI runs it
	tools/gate.sh

.PHONY: test
test: test-generated test-units ## all tests of the gate

.PHONY: test-generated
test-generated: ## fail if a generated schema or page is not current
	$(GO) -C tools/schemas test -timeout $(PATIENCE) ./...
	$(GO) -C tools/specschema test -timeout $(PATIENCE) ./...

# The linter vets.
.PHONY: test-units
test-units: ## the tests of the product
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" $(GO) test -vet=off -tags $(TAGS) -timeout $(PATIENCE) ./...

.PHONY: race
race: ## the tests with the race detector, without those that do much, one thing after the other
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" CGO_ENABLED=1 $(GO) test -vet=off -tags $(TAGS) -race -short -timeout $(PATIENCE) $$($(GO) list -tags $(TAGS) ./... | grep -v '/validators/mutation$$\|/examples$$')

.PHONY: lint
lint: ## golangci-lint
	@mkdir -p $(TOOLS)
	$(GO) -C tools/lint build -o $(TOOLS)/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@for module in $(GATE_MODULES); do (cd $$module && $(TOOLS)/golangci-lint run ./...) || exit 1; done
	@unformatted=$$(git ls-files -z '*.go' | xargs -0 gofmt -l); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }
	@untagged=$$(git ls-files ':(glob)**/hostile*_test.go' ':(glob)**/peers*_test.go' | xargs grep -LE '^//go:build (.*[^!])?(hostile|peers)'); \
	  test -z "$$untagged" || { echo "without the build tag of their names: $$untagged"; exit 1; }

# What a change is compared with.
BASE := main

.PHONY: check
check: $(TOOLS)/golangci-lint ## format, lint and the quick tests of what changed since BASE, in two minutes
	$(GO) run -tags $(TAGS) ./tools/check -base $(BASE) -lint $(TOOLS)/golangci-lint

$(TOOLS)/golangci-lint:
	@mkdir -p $(TOOLS)
	$(GO) -C tools/lint build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: house
house: ## the structure of the code in figures, some of which have a maximum
	$(GO) -C tools/house run . -root $(CURDIR) -check

.PHONY: imports
imports: ## docs/imports.md, a drawing of the imports
	$(GO) -C tools/house run . -root $(CURDIR) -imports

.PHONY: kustomize helm
kustomize:
	@mkdir -p $(TOOLS)
	$(GO) -C tools/kustomize build -o $(TOOLS)/kustomize sigs.k8s.io/kustomize/kustomize/v5

helm:
	@mkdir -p $(TOOLS)
	$(GO) -C tools/helm build -o $(TOOLS)/helm helm.sh/helm/v3/cmd/helm

.PHONY: peers
peers: kustomize helm ## the real kustomize, helm 3 and 4, helmfile, yq, sops, age and flux-operator, in bin/tools, for the tests to compare with
	$(GO) -C tools/helm4 build -o $(TOOLS)/helm4 helm.sh/helm/v4/cmd/helm
	$(GO) -C tools/yq build -o $(TOOLS)/yq github.com/mikefarah/yq/v4
	$(GO) -C tools/helmfile build -o $(TOOLS)/helmfile github.com/helmfile/helmfile
	$(GO) -C tools/sops build -o $(TOOLS)/sops github.com/getsops/sops/v3/cmd/sops
	$(GO) -C tools/sops build -o $(TOOLS)/age filippo.io/age/cmd/age
	$(GO) -C tools/fluxoperator build -o $(TOOLS)/flux-operator github.com/controlplaneio-fluxcd/flux-operator/cmd/cli

.PHONY: records
records: peers ## rewrite what the tests compare with instead of the real tools; PACKAGES="./internal/charts …" only theirs
	PATH="$(TOOLS):$$PATH" GO="$(GO)" PATIENCE="$(PATIENCE)" FLUX_MANIFESTS="$(FLUX_MANIFESTS)" tools/verify/peers.sh record

.PHONY: verify-peers
verify-peers: peers ## run the real tools: their records are what they print, and they read what fleetwright writes
	PATH="$(TOOLS):$$PATH" GO="$(GO)" PATIENCE="$(PATIENCE)" FLUX_MANIFESTS="$(FLUX_MANIFESTS)" tools/verify/peers.sh live
	$(GO) -C tools/oracle test -timeout $(PATIENCE) ./...

.PHONY: e2e
e2e: build ## the examples on real API servers with real Flux controllers, all in one process on loopback
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" ETCD_CLIENT_DEBUG=fatal GOGC=400 $(GO) -C e2e test -tags $(SMALL) -vet=off -count=1 -timeout $(PATIENCE) -parallel 3 -ldflags='-s -w' -v ./...

.PHONY: bench
bench: build kustomize ## the benchmarks, as ratios against an empty program, the real tools, and ten times less work; REPOS=DIR also measures the checkouts there, CHARTS=DIR the charts of the clones there, ONLY=PART one part
	@$(GO) -C tools/oracle build -o $(TOOLS)/kubeconform github.com/yannh/kubeconform/cmd/kubeconform
	@$(GO) -C tools/oracle test -count=1 -run TestKubeconform . -catalog $(TOOLS)/catalog >/dev/null
	@$(GO) -C tools/helm build -o $(TOOLS)/helm helm.sh/helm/v3/cmd/helm
	@$(GO) -C tools/helmfile build -o $(TOOLS)/helmfile github.com/helmfile/helmfile
	@$(GO) -C tools/sops build -o $(TOOLS)/sops github.com/getsops/sops/v3/cmd/sops
	$(GO) run -tags $(TAGS) ./tools/bench -repos "$(REPOS)" -charts "$(CHARTS)" -only "$(ONLY)" -fleetwright $(BIN)/fleetwright -sops $(TOOLS)/sops -helmfile $(TOOLS)/helmfile -kustomize $(TOOLS)/kustomize -kubeconform $(TOOLS)/kubeconform -catalog $(TOOLS)/catalog

.PHONY: field
field: ## compare with kustomize and Flux's libraries on the checkouts in REPOS=DIR
	@mkdir -p $(TOOLS)
	@$(GO) -C tools/kustomize build -o $(TOOLS)/kustomize sigs.k8s.io/kustomize/kustomize/v5
	@$(GO) run -tags $(TAGS) ./tools/field -repos "$(REPOS)" -kustomize $(TOOLS)/kustomize

.PHONY: generated
generated: ## rewrite the schemas, the specification's page and the drawing of the imports, which no test compares
	$(GO) -C tools/schemas run .
	$(GO) -C tools/specschema run .
	$(MAKE) imports

.PHONY: golden
golden: generated ## rewrite the golden files, schemas and docs from the code
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" $(GO) test -tags $(TAGS) -timeout $(PATIENCE) ./internal/limits ./internal/specs ./generators ./generators/k0rdent ./generators/kommander ./generators/tenant ./internal/bootstrap ./internal/helmfile ./validators -update
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" $(GO) test -tags $(TAGS) -timeout $(PATIENCE) -run 'TestDocs|TestExampleOf|TestScripts' ./cmd/fleetwright -update

.PHONY: docs
docs: ## the generated pages of docs/
	$(GO) -C tools/specschema run .
	$(GO) test -tags $(TAGS) -run 'TestDocs|TestPagesAreCurrent|TestExamplesArePacked|TestTable' ./cmd/fleetwright ./validators ./internal/limits -update
	$(MAKE) imports

# A number of runs rather than a time: at the end of a time, Go before 1.27 may fail where
# nothing is wrong (https://go.dev/issue/75804), and what ran by then is up to the machine.
# Nor is all of it spent on making one input small.
.PHONY: fuzz
fuzz: ## each fuzz target FUZZTIME: a number of runs, two targets side by side
	@files=$$($(GO) list -tags $(TAGS) -f '{{range .TestGoFiles}}{{$$.Dir}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$.Dir}}/{{.}} {{end}}' ./...) && \
	files=$$(grep -l '^func Fuzz' $$files) && for file in $$files; do \
	  sed -n "s|^func \(Fuzz[A-Za-z0-9]*\)(.*|$$(dirname $$file) \1|p" $$file; \
	done | GO="$(GO)" xargs -P 2 -n 2 tools/fuzz.sh -tags $(TAGS) -fuzztime $(FUZZTIME) -fuzzminimizetime 10x -parallel 1

# How many processes are killed, from which seed, and after which time it ends with fewer (10m; 0 for none).
KILLS    := 10000
SEED     := 1
SOAKTIME := 0

# How many faults are injected into each checkout.
EACH     := 20

.PHONY: faults
faults: build ## inject EACH faults into each checkout in REPOS=DIR, and count how validate reports them
	@$(GO) -C tools/kustomize build -o $(TOOLS)/kustomize sigs.k8s.io/kustomize/kustomize/v5
	@$(GO) -C tools/oracle build -o $(TOOLS)/kubeconform github.com/yannh/kubeconform/cmd/kubeconform
	@$(GO) -C tools/oracle test -count=1 -run TestKubeconform . -catalog $(TOOLS)/catalog >/dev/null
	@$(GO) run -tags $(TAGS) ./tools/faults -repos "$(REPOS)" -each "$(EACH)" -seed "$(SEED)" -fleetwright $(BIN)/fleetwright -kustomize $(TOOLS)/kustomize -kubeconform $(TOOLS)/kubeconform -schemas $(TOOLS)/catalog

.PHONY: soak
soak: build ## KILLS kills while fleetwright renders, commits, pushes, encrypts, exchanges keys and syncs
	$(GO) run -tags $(TAGS) ./tools/soak -fleetwright $(BIN)/fleetwright -kills $(KILLS) -seed $(SEED) -time $(SOAKTIME)

# The parts of verify, all if there are none.
PARTS ?=

.PHONY: verify
verify: ## the checks that the gate leaves out: PARTS="race fuzz soak hostile e2e release peers cross bench field"
	tools/verify.sh $(PARTS)

.PHONY: verify-race verify-fuzz verify-soak verify-hostile verify-e2e verify-release verify-cross verify-bench verify-field
verify-race: race

# Each time from the same seed.
verify-fuzz: export GODEBUG := fuzzseed=1
verify-fuzz: fuzz

verify-soak:
	$(MAKE) soak SOAKTIME=90s

# The hostile cases, and the same report of the examples however slow the machine is.
verify-hostile: demo
	@set -e; for clones in $(OUT)/demo/*/clones; do $(GO) run -tags $(TAGS) ./tools/field -repos $$clones -same $(BIN)/fleetwright -runs 2; done
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" tools/tagged.sh hostile -v -count=1 -tags $(TAGS),hostile -timeout $(PATIENCE)

verify-e2e:
	$(GO) -C e2e vet -tags $(SMALL) ./...
	$(MAKE) e2e

verify-release: kustomize helm
	$(GO) -C tools/release vet ./...
	PATH="$(TOOLS):$$PATH" tools/release/ci.sh

# The controllers are tools of e2e, and go mod tidy wants what their tests import, some of which no longer exists.
verify-cross:
	@set -e; for platform in darwin/arm64 linux/arm64 windows/amd64; do \
	  echo "$$platform"; \
	  GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -tags $(SMALL) -o /dev/null ./cmd/fleetwright; \
	done
	@set -e; for mod in tools/*/go.mod; do echo "$$mod"; $(GO) -C $$(dirname $$mod) mod tidy -diff; done
	@echo e2e/go.mod; $(GO) -C e2e list -mod=readonly -deps -test -tags $(SMALL) ./... tool >/dev/null

verify-bench: bench

verify-field:
	@test -d "$(REPOS)" || { echo 'REPOS=DIR names no folder with checkouts of repositories'; exit 1; }
	$(MAKE) field

RELEASE := $(CURDIR)/out/release

.PHONY: release
release: ## tests this commit, and writes archives, image and package files of VERSION=vX.Y.Z to RELEASE; KEY=cosign.key signs
	$(GO) -C tools/release run . ready -source "$(CURDIR)" -version "$$VERSION" -out "$(RELEASE)"
	$(MAKE) peers
	PATH="$(TOOLS):$$PATH" $(MAKE) test
	$(GO) -C tools/release vet .
	PATH="$(TOOLS):$$PATH" $(GO) -C tools/release test .
	$(GO) -C tools/release run . build -source "$(CURDIR)" -version "$$VERSION" -out "$(RELEASE)" -key "$(abspath $(KEY))"
	$(GO) -C tools/release run . verify -from "$(RELEASE)"
	PATH="$(TOOLS):$$PATH" $(GO) -C tools/release run . weigh -from "$(RELEASE)"

.PHONY: release-check
release-check: peers ## what one Linux machine can try of a release: all platforms, and each way to install (an hour)
	PATH="$(TOOLS):$$PATH" FLUX_MANIFESTS="$(FLUX_MANIFESTS)" tools/release/check.sh

.PHONY: clean
clean: ## what the other targets built
	rm -rf $(BIN) $(OUT)
