# samewire: `make demo` builds it and runs a real comparison, `make test` runs all tests.
# Everything is built from this folder; nothing is installed on the machine.

GO      ?= go
SOURCES := $(shell find cmd internal \( -name '*.go' ! -name '*_test.go' \) -o -name '*.yaml' 2>/dev/null) go.mod go.sum
# One name for the sources of both programs: samewire refuses a worker of another build.
BUILD   := $(shell cat $(SOURCES) | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c1-12)
PKG     := github.com/samewire/samewire
LDFLAGS := -s -w -X $(PKG)/internal/site/worker.Build=$(BUILD)
LINT_VERSION := v2.15.0

.PHONY: build demo test test-fast bench lint fuzz clean
build: bin/samewire bin/samewire-virtual

bin/samewire: $(SOURCES) Makefile
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/samewire

bin/samewire-virtual: $(SOURCES) Makefile
	CGO_ENABLED=0 $(GO) build -tags faketime -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/samewire

demo: build
	bin/samewire run
