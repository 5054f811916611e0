# warptune: every target works from a clean clone with Go and its module proxy.
GO ?= go
BIN := bin

.PHONY: all page page-packages build test race short lint fmt proto bench fuzz race-ci fuzz-changed checking nvcc triton soak mutants data fidelity hopper hopper-counters tables identity search simulation-first kernel-tuner catalogue slurm images manifests check clean

all: build

build: ## the three commands, into bin/
	$(GO) build -trimpath -o $(BIN)/ ./cmd/...

# Go's own limit of ten minutes a package is for machines with nothing else to do.
TIMEOUT ?= 40m
test: ## every test, with all data sets if the history has them
	-@$(GO) run ./deploy/calibrate/datasets/fetch || echo "tests that need these data sets are skipped"
	$(GO) test -timeout $(TIMEOUT) ./...

race: ## every test under the race detector
	$(GO) test -race -timeout $(TIMEOUT) ./...

# The packages in which goroutines meet.
RACE ?= ./tuner ./tuner/lease ./tuner/store ./tuner/coordinator ./tuner/rpc/... ./tuner/worker ./tuner/standby ./cmd/internal/cluster ./cmd/coordinator ./deploy/scale/...
race-ci: ## the short tests of what is concurrent under the race detector: two minutes on two idle cores
	$(GO) test -race -short -timeout $(TIMEOUT) $(RACE)

lint: ## formatting, vet, staticcheck, module tidiness
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff

fmt:
	gofmt -w $$(git ls-files '*.go')

proto: ## lint and regenerate api/, with no tool but Go
	$(GO) generate ./api/...

bench: ## the figures in docs/, by Go's own harness
	$(GO) test -run '^$$' -bench . -benchmem -timeout 2h ./...

catalogue: ## recompile the built-in kernels' PTX (needs nvcc or clang++)
	$(GO) generate ./tuner/kernel/catalogue/...

FUZZTIME ?= 30s
fuzz: ## each fuzz target for FUZZTIME
	@for f in $$(grep -rl --include='*_test.go' '^func Fuzz' .); do d=$$(dirname $$f); \
	  for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$f); do \
	    echo "$$d $$t"; $(GO) test $$d -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) || exit 1; done; done

fuzz-changed: ## the fuzz targets that depend on what changed since this branch left main (FUZZ_BASE: since another commit), for FUZZ_SECONDS in all
	.ci/fuzz

checking: ## four hundred right configurations are not called wrong; WARPTUNE_SEED=N draws the same again
	WARPTUNE_FULL=1 $(GO) test -count=1 -v -timeout 1h -run 'NotCalled' ./cmd/internal/evaluate

NVCC_HOME ?= .cache/nvcc
nvcc: ## what nvcc compiles and ptxas assembles, and how near clang comes to it, by NVIDIA's wheels from the Python package index (no GPU, no root); skipped where there is no Python
	@if ! command -v python3 >/dev/null; then echo "no python3: nvcc is not tried"; exit 0; fi; \
	  test -d $(NVCC_HOME)/bin || python3 -m venv $(NVCC_HOME) || exit 1; \
	  $(NVCC_HOME)/bin/pip install -q --disable-pip-version-check 'nvidia-cuda-nvcc==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-cccl==13.0.*' || exit 1; \
	  PATH="$$(dirname "$$(find "$$(cd $(NVCC_HOME) && pwd)" -name nvcc -type f | head -n 1)"):$$PATH" \
	  $(GO) test -count=1 -timeout $(TIMEOUT) -run '^Test(NVCC|SourcesAsNVCC|.*PTXAS)' ./cmd/internal/evaluate ./cmd/internal/functional ./tuner/kernel/compile ./cmd/warptune

TRITON ?= 3.6.0
TRITON_HOME ?= .cache/triton-$(TRITON)
triton: ## what Triton compiles, by its wheel from the Python package index (no GPU, no torch); skipped where there is no Python
	@if ! command -v python3 >/dev/null; then echo "no python3: Triton is not tried"; exit 0; fi; \
	  test -d $(TRITON_HOME)/bin || python3 -m venv $(TRITON_HOME) || exit 1; \
	  $(TRITON_HOME)/bin/pip install -q --disable-pip-version-check 'triton==$(TRITON)' || exit 1; \
	  PATH="$$(cd $(TRITON_HOME)/bin && pwd):$$PATH" $(GO) test -count=1 -timeout $(TIMEOUT) -run 'Triton' ./cmd/internal/e2e

soak: ## the long forms of the tests with faults (docs/FAULTS.md); WARPTUNE_SEED=N replays what failed with seed N
	@log=$$(mktemp) && trap 'rm -f "$$log"' EXIT && WARPTUNE_SOAK=1 $(GO) test -count=1 -p 1 -timeout 2h -v \
	  ./tuner ./tuner/lease ./tuner/store ./tuner/coordinator ./tuner/rpc ./tuner/worker ./tuner/standby ./tuner/faults ./cmd/internal/e2e 2>&1 | tee "$$log"; \
	awk -f tuner/faults/soak.awk "$$log"

MUTANTS ?=
mutants: ## every seeded bug (MUTANTS: those whose names match) is found by its test
	WARPTUNE_SOAK=1 $(GO) test -count=1 -timeout 4h -v -run '^TestSeededBugs$$/($(MUTANTS))' ./tuner/faults

data: ## most measured data sets, and programs that measured, out of the repository's history
	$(GO) run ./deploy/calibrate/datasets/fetch

SILICON ?= ../shared/silicon
SETS ?=
fidelity: build data ## every measured data set (SETS: some) against the simulator; rewrites docs/fidelity, docs/search/two-levels-*, and the tables of docs/FIDELITY.md and README.md
	$(GO) run ./docs/gen -warptune $(BIN)/warptune -silicon "$(wildcard $(SILICON))" $(SETS)

HOPPER ?= ../shared/hopper
HOPPER_ARCHS ?= h100 h200
HOPPER_LEVELS ?= model cycle
hopper: build ## the measured launch records of Hopper's own instructions (HOPPER: their folder) against the simulator, at both levels
	@for arch in $(HOPPER_ARCHS); do for level in $(HOPPER_LEVELS); do \
	  $(BIN)/warptune fidelity --arch $$arch --level $$level --timings $(HOPPER)/$$arch/launches.jsonl.gz --ptx-dir $(HOPPER)/h100/ptx.zip || exit 1; \
	  echo; \
	done; done

hopper-counters: build ## what ncu counted of launch records on an H100 against reports; rewrites docs/fidelity/hopper-counters.md
	@{ printf '# hopper-counters\n\nGenerated by `make hopper-counters`.\n\nThree launches of each group of modern kernels (Triton, wgmma, TMA, clusters), profiled on an NVIDIA H100 80GB HBM3; PTX by Triton 3.6.0 and nvcc 13.0.\n\n## Counters, level cycle\n\n' && \
	  $(BIN)/warptune fidelity --arch h100 --level cycle --timings $(HOPPER)/h100/counters.jsonl.gz --ptx-dir $(HOPPER)/h100/ptx.zip; } | sed -E '/^\|/{ s/ {2,}/ /g; s/-{4,}/---/g; s/smsp__average_warps_issue_stalled_([a-z_]+)_per_issue_active\.ratio/stalls: \1/; }' > $(BIN)/hopper-counters.md && mv $(BIN)/hopper-counters.md docs/fidelity/

tables: ## fails unless all tables of predictions in docs are of one version and say the same
	$(GO) run ./docs/gen -check

PAGE := tuner/page/web
page-packages: ## the page's npm packages, as its lock file names them, and its types checked; skipped where there is no npm
	@if ! command -v npm >/dev/null; then echo "no npm: that the page's bundle is of its sources is known by their digest only"; exit 0; fi; \
	  npm ci --ignore-scripts --no-audit --no-fund --prefix $(PAGE) && npm run --silent check --prefix $(PAGE)

page: page-packages ## bundles tuner/page/web into tuner/page/dist
	$(GO) generate ./tuner/page/gen

BASE ?= warptune
SAMPLE ?= 0
identity: build data ## the same predictions as another warptune (BASE=path) of every data set (SETS: some; SAMPLE=n configurations of each)?
	$(GO) run ./deploy/calibrate/datasets/identity -base $(BASE) -new $(BIN)/warptune -sample $(SAMPLE) $(SETS)

slurm: build ## the batch scripts on a real Slurm of two nodes on this machine (Debian's packages)
	deploy/slurm/test.sh $(BIN)

images: ## OCI archives of the daemons, with buildah and no registry, into bin/images
	deploy/container/images.sh $(BIN)/images

manifests: ## the Kubernetes manifests, decoded strictly into the API's types
	cd deploy/kubernetes/verify && $(GO) test -count=1 . # its cache does not see files outside the module

SPACES ?= ../shared/replay
MEASURED ?= ../shared/silicon/h200/timings.jsonl.gz
search: build ## every strategy on every recorded space, beliefs, early stops, many workers, transfer; rewrites the tables and plots of docs/search
	docs/search.sh $(BIN)/warptune $(SPACES) $(MEASURED)

simulation-first: build data ## measuring first what is predicted fastest, against searching without predictions; rewrites docs/search/simulation-first.md
	docs/simulation-first.sh $(BIN)/warptune "$(SILICON)" "$(HOPPER)" "$(SPACES)"

KERNEL_TUNER_HOME ?= .cache/kernel-tuner
KERNEL_TUNER_SEEDS ?= 10
kernel-tuner: build ## strategies of Kernel Tuner, from the Python package index, on the recorded spaces (SPACES) beside our own; rewrites docs/search/kernel-tuner.md; skipped where there is no Python
	@if ! command -v python3 >/dev/null; then echo "no python3: Kernel Tuner is not tried"; exit 0; fi; \
	  test -d $(KERNEL_TUNER_HOME)/bin || python3 -m venv $(KERNEL_TUNER_HOME) || exit 1; \
	  $(KERNEL_TUNER_HOME)/bin/pip install -q --disable-pip-version-check 'kernel_tuner==1.4.0' || exit 1; \
	  docs/kernel-tuner.sh $(KERNEL_TUNER_HOME)/bin/python $(BIN)/warptune $(KERNEL_TUNER_SEEDS) $(SPACES)/*.csv.gz

check: lint test ## what CI runs, less the end-to-end part

clean:
	rm -rf $(BIN) .cache
