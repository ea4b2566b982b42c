# samewire: `make demo` builds it and runs a real comparison, `make test` runs all tests.
# Everything is built from this folder; nothing is installed on the machine.

GO      ?= go
SOURCES := $(shell find cmd internal arms \( -name '*.go' ! -name '*_test.go' \) -o -name '*.yaml' -o -name '*.patch' -o -path '*/report/assets/*' ! -name '*.mjs' ! -name 'package*' 2>/dev/null) go.mod go.sum
# One name for the sources of all programs: samewire refuses a worker of another build.
BUILD   := $(shell cat $(SOURCES) | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c1-12)
PKG     := github.com/samewire/samewire
LDFLAGS := -s -w -X $(PKG)/internal/site/worker.Build=$(BUILD)
LINT_VERSION := v2.15.0

.PHONY: build arms assets demo test bench netem lint fuzz smoke simulate clean
build: bin/samewire bin/samewire-virtual bin/samewire-virtual-arms

bin/samewire: $(SOURCES) Makefile
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/samewire

bin/samewire-virtual: $(SOURCES) Makefile
	CGO_ENABLED=0 $(GO) build -tags faketime -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/samewire

# The worker for virtual time with another initial window of TCP, or without QUIC's pacing, from
# patched copies of gVisor and quic-go (docs/sites.md): what proves where a difference comes from.
arms: bin/samewire-virtual-arms

bin/samewire-virtual-arms: $(SOURCES) Makefile
	$(GO) run ./arms bin/arms
	CGO_ENABLED=0 $(GO) build -modfile bin/arms/samewire.mod -tags faketime,arms -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/samewire

# What draws the charts of HTML reports, from npm's packages as the lock file pins them: the same
# bytes each time. What it makes is committed, so that only a change of them needs Node.
ASSETS := internal/report/assets
assets:
	rm -rf bin/assets
	mkdir -p bin/assets
	cp $(ASSETS)/package.json $(ASSETS)/package-lock.json $(ASSETS)/build.mjs $(ASSETS)/vega.entry.js bin/assets
	cd bin/assets && npm ci --no-audit --no-fund && node build.mjs
	cp bin/assets/vega.min.js bin/assets/LICENSES.txt $(ASSETS)

demo: build
	bin/samewire run

# All tests. The ground floor has no goroutines for the race detector to watch, and much to
# compute; the world has them; and where timing matters (the real programs, built without
# cgo, carry out the runs there) the race detector would measure itself: but for RACED, which
# runs in the test program. They run one after the other, so that they do not disturb each
# other.
GROUND := $(addprefix ./internal/,lab plan link wire/... story model stats report)
RACED := ^Test(ProcessSite|Progress.*|Estimate|Scripts|ServeAndGet)$$
# The race detector needs cgo, and so a C compiler.
RACE := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && echo -race)
UNTIMED = $(shell $(GO) list ./... | grep -v -E '/internal/(cli|site/kernel|lab|plan|link|wire(/.*)?|story|model|stats|report)$$')

test:
	@[ -n "$(RACE)" ] || echo "no C compiler: the tests run without the race detector"
	$(GO) vet ./...
	$(GO) test $(GROUND)
	$(GO) test $(RACE) $(UNTIMED)
	$(GO) test $(RACE) -run '$(RACED)' ./internal/cli
	$(GO) test -count=1 -timeout 30m -skip '$(RACED)' ./internal/cli
	$(GO) test -count=1 -timeout 30m ./internal/site/kernel

# How often the statistics claim what is not so, and how often their intervals have what is:
# the tables of docs/statistics.md, in some ten minutes. `make test` has a short version.
simulate:
	SAMEWIRE_SIMULATE=1 $(GO) test -count=1 -timeout 60m -v -run '^TestSimulated$$' ./internal/stats

# The absolute figures, on this machine; nothing else should run meanwhile.
bench: build
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./internal/cli
	$(GO) test -run '^$$' -bench . -benchtime 1x ./internal/site/kernel
	$(GO) test -run '^$$' -bench . ./internal/link ./internal/wire

# samewire's link beside the kernel's netem, in a guest that has it (Debian on amd64, as root at first
# use); some ten minutes, and nothing else should run meanwhile. docs/fidelity.md keeps the tables.
netem: build
	rm -rf bin/netem
	CGO_ENABLED=0 $(GO) test -c -o bin/kernel.test ./internal/site/kernel
	netem/compare.sh bin/netem bin/samewire bin/kernel.test

lint:
	@command -v golangci-lint >/dev/null || GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	PATH="$$PATH:$(CURDIR)/bin" golangci-lint run ./...

# Each fuzzer in turn, for FUZZTIME: a time, or a number of executions (1000000x).
FUZZTIME ?= 10s
FUZZED   ?= internal
fuzz:
	@for f in $$(grep -rlE --include='*_test.go' 'func Fuzz' $(FUZZED) | sort); do \
		for t in $$(grep -oE 'func Fuzz[A-Za-z0-9]+' $$f | sed 's/func //'); do \
			echo "$$t ./$$(dirname $$f)"; \
			$(GO) test -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./$$(dirname $$f) || exit 1; \
		done; \
	done

# A million executions of each parser of packets and captures, on damaged seeds: the same
# ones each time. CI does this; make fuzz looks further.
smoke:
	$(GO) test -count=1 -timeout 40m ./internal/wire/... -run '^Fuzz' -args -smoke=1000000

clean:
	rm -rf bin
