# Each target calls commands; what they print is theirs.

GO        ?= go
BIN       := $(CURDIR)/bin
TOOLS     := $(BIN)/tools
OUT       := $(CURDIR)/out
FUZZTIME  ?= 2000x
# How long the tests of a package may take on a machine that has much else to do.
PATIENCE  := 40m
export CGO_ENABLED ?= 0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## the command, as bin/fleetwright
	$(GO) build -trimpath -ldflags='-s -w' -o $(BIN)/fleetwright ./cmd/fleetwright

.PHONY: install
install: ## the command, where go install puts it
	$(GO) install -trimpath -ldflags='-s -w' ./cmd/fleetwright

.PHONY: demo
demo: build ## the main job on the examples, in a page
	$(GO) run -tags tools ./examples/demo -fleetwright $(BIN)/fleetwright -flux-manifests "$(FLUX_MANIFESTS)" -out $(OUT)/demo

# Flux's own manifests, as the Flux Operator carries them; the module is none of
# the product's.
FLUX_OPERATOR  = $(shell $(GO) mod download -json github.com/controlplaneio-fluxcd/flux-operator@v0.58.0 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
FLUX_MANIFESTS = $(FLUX_OPERATOR)/config/data/flux/v2.9.4

.PHONY: modules
modules: ## download the modules of everything
	@set -e; for mod in go.mod e2e/go.mod tools/*/go.mod; do $(GO) -C $$(dirname $$mod) mod download; done
	@test -d "$(FLUX_MANIFESTS)"

.PHONY: test
test: ## all tests; those that compare with a tool that isn't on PATH say so and are skipped
	$(GO) -C tools/schemas test -timeout $(PATIENCE) ./...
	$(GO) -C tools/specschema test -timeout $(PATIENCE) ./...
	$(GO) -C tools/oracle test -timeout $(PATIENCE) ./...
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" $(GO) test -tags tools -timeout $(PATIENCE) ./...

.PHONY: race
race: ## all tests with the race detector
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" CGO_ENABLED=1 $(GO) test -tags tools -race -timeout $(PATIENCE) ./...

.PHONY: lint
lint: ## golangci-lint
	@mkdir -p $(TOOLS)
	$(GO) -C tools/lint build -o $(TOOLS)/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	$(TOOLS)/golangci-lint run ./...

# What a change is compared with.
BASE := main

.PHONY: check
check: $(TOOLS)/golangci-lint ## format, vet, lint and the quick tests of what changed since BASE, in two minutes
	$(GO) run -tags tools ./tools/check -base $(BASE) -lint $(TOOLS)/golangci-lint

$(TOOLS)/golangci-lint:
	@mkdir -p $(TOOLS)
	$(GO) -C tools/lint build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: house
house: ## the structure of the code in figures: none may grow above tools/house/limits.txt
	$(GO) -C tools/house run . -root $(CURDIR) -check

.PHONY: imports
imports: ## docs/imports.md, a drawing of the imports
	$(GO) -C tools/house run . -root $(CURDIR) -imports

.PHONY: peers
peers: ## the real kustomize, helm, helmfile, sops and age, in bin/tools, for the tests to compare with
	@mkdir -p $(TOOLS)
	$(GO) -C tools/kustomize build -o $(TOOLS)/kustomize sigs.k8s.io/kustomize/kustomize/v5
	$(GO) -C tools/helm build -o $(TOOLS)/helm helm.sh/helm/v3/cmd/helm
	$(GO) -C tools/helmfile build -o $(TOOLS)/helmfile github.com/helmfile/helmfile
	$(GO) -C tools/sops build -o $(TOOLS)/sops github.com/getsops/sops/v3/cmd/sops
	$(GO) -C tools/sops build -o $(TOOLS)/age filippo.io/age/cmd/age

.PHONY: e2e
e2e: build ## the examples on real API servers with real Flux controllers, all in one process on loopback
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" ETCD_CLIENT_DEBUG=fatal GOGC=400 CGO_ENABLED=1 $(GO) -C e2e test -count=1 -timeout $(PATIENCE) -parallel 3 -ldflags='-s -w' -v ./...

.PHONY: bench
bench: build ## the benchmarks, as ratios against an empty program, the real tools, and ten times less work; REPOS=DIR also measures the checkouts there, ONLY=PART one part
	@mkdir -p $(TOOLS)
	@$(GO) -C tools/kustomize build -o $(TOOLS)/kustomize sigs.k8s.io/kustomize/kustomize/v5
	@$(GO) -C tools/oracle build -o $(TOOLS)/kubeconform github.com/yannh/kubeconform/cmd/kubeconform
	@$(GO) -C tools/oracle test -count=1 -run TestKubeconform . -catalog $(TOOLS)/catalog >/dev/null
	@$(GO) -C tools/helm build -o $(TOOLS)/helm helm.sh/helm/v3/cmd/helm
	@$(GO) -C tools/helmfile build -o $(TOOLS)/helmfile github.com/helmfile/helmfile
	@$(GO) -C tools/sops build -o $(TOOLS)/sops github.com/getsops/sops/v3/cmd/sops
	$(GO) run -tags tools ./tools/bench -repos "$(REPOS)" -only "$(ONLY)" -fleetwright $(BIN)/fleetwright -sops $(TOOLS)/sops -helmfile $(TOOLS)/helmfile -kustomize $(TOOLS)/kustomize -kubeconform $(TOOLS)/kubeconform -catalog $(TOOLS)/catalog

.PHONY: field
field: ## compare with kustomize and Flux's libraries on the checkouts in REPOS=DIR
	@mkdir -p $(TOOLS)
	@$(GO) -C tools/kustomize build -o $(TOOLS)/kustomize sigs.k8s.io/kustomize/kustomize/v5
	@$(GO) run -tags tools ./tools/field -repos "$(REPOS)" -kustomize $(TOOLS)/kustomize

.PHONY: golden
golden: ## rewrite the golden files, schemas and docs from the code
	$(GO) -C tools/schemas run .
	$(GO) -C tools/specschema run .
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" $(GO) test -timeout $(PATIENCE) ./internal/specs ./generators ./generators/k0rdent ./generators/kommander ./generators/tenant ./internal/bootstrap ./internal/helmfile ./validators -update
	FLUX_MANIFESTS="$(FLUX_MANIFESTS)" $(GO) test -timeout $(PATIENCE) -run 'TestDocs|TestExampleOf|TestScripts' ./cmd/fleetwright -update
	$(MAKE) imports

.PHONY: docs
docs: ## the generated pages of docs/
	$(GO) -C tools/specschema run .
	$(GO) test -run 'TestDocs|TestPagesAreCurrent' ./cmd/fleetwright ./validators -update
	$(MAKE) imports

# A number of runs rather than a time: at the end of a time, Go before 1.27 may fail where
# nothing is wrong (https://go.dev/issue/75804), and what ran by then is up to the machine.
# Nor is all of it spent on making one input small.
.PHONY: fuzz
fuzz: ## each fuzz target FUZZTIME: a number of runs
	@files=$$($(GO) list -f '{{range .TestGoFiles}}{{$$.Dir}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$.Dir}}/{{.}} {{end}}' ./...) && \
	for file in $$(grep -l '^func Fuzz' $$files); do \
	  for f in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$file); do \
	    echo "$$file $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x -parallel 1 $$(dirname $$file) || exit 1; \
	  done; done

# How many processes are killed, from which seed, and after which time it ends with fewer (10m; 0 for none).
KILLS    := 10000
SEED     := 1
SOAKTIME := 0

.PHONY: soak
soak: build ## KILLS kills while fleetwright renders, commits, pushes, encrypts, exchanges keys and syncs
	$(GO) run -tags tools ./tools/soak -fleetwright $(BIN)/fleetwright -kills $(KILLS) -seed $(SEED) -time $(SOAKTIME)

# How many hostile repositories are made, of some twenty inputs each: 5,000 are 100,000 inputs, and take hours.
HOSTILE := 5000

.PHONY: hostile
hostile: ## HOSTILE hostile repositories from SEED on, made by a grammar of the cases of TestHostile
	$(GO) test ./cmd/fleetwright -run 'TestHostileMutations$$' -mutations $(HOSTILE) -mutation-seed $(SEED) -timeout 0

RELEASE := $(CURDIR)/out/release

.PHONY: release
release: ## archives, image and package files of VERSION=vX.Y.Z in RELEASE, from this commit; KEY=cosign.key signs
	$(GO) -C tools/release run . build -source $(CURDIR) -version "$(VERSION)" -out "$(RELEASE)" -key "$(abspath $(KEY))"

.PHONY: clean
clean: ## what the other targets built
	rm -rf $(BIN) $(OUT)
