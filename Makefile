# `make help` lists what there is. GNU make.

# The toolchains that are tested: of the release that go.mod asks for at least, and of the newest. The go command
# downloads them as needed.
GO_FLOOR := go1.26.11
GO_NEWEST := go1.27.4
# What programs are made of is compiled for each of these, and everything is vetted; the host's own is tested. From darwin
# on there is no library to load, and programs that import ibv compile all the same. The examples load C libraries
# themselves with purego, which builds for s390x without cgo from Go 1.27 on only, and for FreeBSD when it is compiled
# like the standard library.
TARGETS := linux/amd64 linux/arm64 linux/ppc64le linux/riscv64 linux/s390x linux/loong64 freebsd/amd64 freebsd/arm64 \
	darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 openbsd/amd64 js/wasm
# Build tags that put tests aside because they need a device, boot the guest themselves, or emulate other processors.
TAGS := device,siw,softroce,cross

GOVERBS_CACHE ?= $(CURDIR)/.cache
export GOVERBS_CACHE
vm := $(CURDIR)/test/softroce/vm
uml := $(CURDIR)/test/softroce/uml
demo := $(GOVERBS_CACHE)/demo
bench := $(GOVERBS_CACHE)/bench
# The guest stands in where the machine has no RDMA device. GUEST=uml is User Mode Linux in place of QEMU: at the
# machine's own speed, once three minutes have gone into its kernel.
GUEST ?= vm
$(if $(filter vm uml,$(GUEST)),,$(error GUEST=$(GUEST): vm or uml))
# What bench measure is told besides: -batches 2 for a first look.
BENCHFLAGS ?=
no_device := $(if $(wildcard /sys/class/infiniband/*),,yes)

# The same build whatever the environment says: no automatic toolchain, no flags, no stamping (it wants git, and an
# owner git trusts).
export GOTOOLCHAIN := $(GO_FLOOR)
export GOFLAGS := -buildvcs=false
export GOWORK := off

step = @printf '\n== %s\n'

.NOTPARALLEL:
.PHONY: help deps generate demo bench mutants systems soak test prepare lint check test-host test-cross test-vm test-uml test-systems clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what building, testing and the guest need (as root; names the packages otherwise)
	@test/deps

generate: ## write the Go declarations from the installed headers
	go generate ./...

demo: ## generate, build, and post receives to an RDMA device (or a guest's), from Go and from C
	@test/deps build $(if $(no_device),$(if $(filter uml,$(GUEST)),uml,guest))
	$(if $(no_device),@test/softroce/$(if $(filter uml,$(GUEST)),uml-)setup >/dev/null)
	go generate ./...
	go build ./...
	@mkdir -p $(demo)
	$(CC) -O2 -Wall -shared -fPIC -o $(demo)/postloop.so examples/demo/c/postloop.c
	CGO_ENABLED=0 go build -o $(demo)/demo ./examples/demo
	$(if $(no_device),$($(GUEST))) $(demo)/demo -c $(demo)/postloop.so

bench: ## measure posts, polls and messages beside C, on Soft-RoCE at native speed and on a stub; write bench/results.md
	@test/deps build uml
	@test/softroce/uml-setup >/dev/null
	@mkdir -p $(bench)
	$(step) "lint and test"
	@go -C test/tools build -o $(bench)/staticcheck honnef.co/go/tools/cmd/staticcheck
	@cd bench && go vet ./... && $(bench)/staticcheck ./... && go test ./...
	@cd bench && go build -o $(bench)/bench . && go test -c -o $(bench)/bench.test .
	@$(uml) $(bench)/bench.test -device rxe0
	$(step) "measure on rxe0, in the guest"
	@VM_TIMEOUT=3600 $(uml) $(bench)/bench measure -device rxe0 $(BENCHFLAGS) >$(bench)/rxe0.txt
	$(step) "measure on the stub"
	@$(bench)/bench measure $(BENCHFLAGS) >$(bench)/stub.txt
	@$(bench)/bench report -o bench $(bench)/rxe0.txt $(bench)/stub.txt

# What is downloaded and built once for later is so in the time that processors have nothing else to do. Each of the guests
# has one processor, so that both run at once. What is said aside is kept apart.
prepared := $(GOVERBS_CACHE)/prepare.log
beside := $(GOVERBS_CACHE)/beside.log
test: deps ## everything: lint, check, and the tests below
	@test/deps build uml
	@mkdir -p $(GOVERBS_CACHE)
	@nice -n 19 $(MAKE) prepare >$(prepared) 2>&1 & prepare=$$!; \
		$(MAKE) lint check test-host || { kill $$prepare 2>/dev/null; exit 1; }; \
		wait $$prepare || { cat $(prepared); exit 1; }
	$(step) "guests"
	@{ $(MAKE) test-uml && $(MAKE) test-systems && $(MAKE) test-cross; } >$(beside) 2>&1 & beside=$$!; \
		status=0; $(MAKE) test-vm || status=$$?; \
		wait $$beside || status=$$?; cat $(beside); exit $$status

prepare: ## the guests' kernels, a C compiler for loong64, and packages of other suites, once
	@test/softroce/setup
	@test/loong64
	@test/softroce/uml-setup
	@go run ./test/systems -parts fetch -brief -keep=false

lint: ## gofmt, go vet for every target, staticcheck
	$(step) gofmt
	@files=$$("$$(go env GOROOT)/bin/gofmt" -l $(wildcard *.go) $(filter-out ./,$(wildcard */))); \
		if [ -n "$$files" ]; then echo "not formatted:" $$files >&2; exit 1; fi
	$(step) "go vet"
	@CGO_ENABLED=0 go vet -tags $(TAGS) ./...
	$(step) staticcheck
	@go -C test/tools build -o $(GOVERBS_CACHE)/ honnef.co/go/tools/cmd/staticcheck ./vet
	@$(GOVERBS_CACHE)/staticcheck -tags $(TAGS) ./...
	$(step) "every target"
	@printf '%s\n' $(TARGETS) | xargs -n 1 -P 2 test/target $(GOVERBS_CACHE)/vet $(TAGS)

check: ## the generated declarations are what the installed headers say
	$(step) "gen check"
	@go run ./gen check -o ibv
	@go run ./gen check -header rdma/rdma_cma.h -package rdmacm -library librdmacm.so.1 -o test/rdmacm

# Lint has vetted everything; the first run does so again, and those with the race detector and of the newest Go.
short = -short -vet=off
# Checks of pointers in all but the standard library: -race has them there too.
checkptr = -gcflags=github.com/...=-d=checkptr

# What runs beside C: the build modes and both toolchains matter there. The generator is plain Go, and its tests compare it
# with C compilers for minutes, so they run once; its parallel part runs under the race detector too. What is done a
# hundred thousand times is done so in the first run and under the race detector: all others are short.
binding = ./clib/... ./internal/... ./ibv/... ./rdma/... ./headers/...

test-host: ## tests that need no device, in every build mode and with each Go
	$(step) "go test, $(GO_FLOOR), CGO_ENABLED=0"
	@CGO_ENABLED=0 go test ./...
	$(step) "go test, $(GO_FLOOR), CGO_ENABLED=1"
	@CGO_ENABLED=1 go test $(short) $(binding)
	$(step) "go test -race"
	@CGO_ENABLED=1 go test -race $(binding)
	@CGO_ENABLED=1 go test -race $(short) ./ibvtest/... ./conformance/... ./test/inprocess
	@CGO_ENABLED=1 go test -race -run Parallel ./gen/...
	$(step) "go test of package rdma in checked mode"
	@GOVERBS_CHECK=1 CGO_ENABLED=0 go test $(short) -count=1 ./rdma ./test/inprocess
	$(step) "go test, pointer checks (checkptr)"
	@go test $(short) $(checkptr) $(binding) ./ibvtest/... ./conformance/... ./test/inprocess
	$(step) "go test, cgo pointer checks (cgocheck2)"
	@CGO_ENABLED=1 GOEXPERIMENT=cgocheck2 go test $(short) $(binding)
	$(step) "go test, $(GO_NEWEST), CGO_ENABLED=0"
	@GOTOOLCHAIN=$(GO_NEWEST) CGO_ENABLED=0 go test -short $(binding)
	@GOTOOLCHAIN=$(GO_NEWEST) CGO_ENABLED=0 go build ./...
	$(step) "go test, $(GO_NEWEST), CGO_ENABLED=1"
	@GOTOOLCHAIN=$(GO_NEWEST) CGO_ENABLED=1 go test $(short) $(binding)
	$(step) "go test, bench"
	@cd bench && go vet ./... && go test ./...
	$(step) "faults on purpose, a sample"
	@go run ./conformance/internal/mutants -sample 6

# Which of its parts to run, and what it is given: see docs/systems.md.
PARTS ?=
LIBRARIES ?=
HEADERS ?=
systems: ## see with which releases, systems and kernels it works; write docs/systems.md (PARTS, LIBRARIES, HEADERS: see there)
	@test/deps build uml
	@test/deps cross guest || echo "systems: parts that need these say so" >&2
	@GO_NEWEST=$(GO_NEWEST) go run ./test/systems -parts '$(PARTS)' -libraries '$(LIBRARIES)' -headers '$(HEADERS)'

# How long: 90s, 20m, 12h.
SOAK ?= 1h
soak: ## for an hour or SOAK=TIME, repeat with new seeds what finds more the longer it runs
	@test/deps
	@test/deps build uml
	@test/soak $(SOAK)

mutants: ## break ibvtest and the binding on purpose, in each way, and see that tests notice; write docs/mutants.md
	@go run ./conformance/internal/mutants -page docs/mutants.md

test-cross: ## tests of the C call on other processors, emulated
	$(step) "other processors"
	@test/cross
	@GOTOOLCHAIN=$(GO_NEWEST) test/cross s390x

# One package at a time: two guests would share the host's processors and miss each other's deadlines. This guest has them
# under the race detector alone, which does not start in the other one: that has them in all other ways, and alone those
# that start programs in roots of their own, which is slow here and nothing for the race detector.
device_test = go test $(short) -p 1 -timeout 20m -tags device -skip 'TestBareRoot|TestStore|TestEnvironmentOfPrivileged' \
	-exec $(vm) ./test/device/... ./test/rdmacm ./examples/...
# The same with siw's tests. Two stay out: one wants siw0 in front of rxe0, which uml has, and one measures memory, of which
# the race detector takes its own.
siw_race_test = go test -race $(short) -p 1 -tags device,siw -skip 'TestSiwIsNotTheFirstChoice|TestRegistrations'
# This guest is as fast as the host, and has siw; the race detector does not start in it. What is done a hundred
# thousand times is done so in the first of its runs only: all others are short.
native_device_test = go test -p 1 -tags device,siw -exec $(uml) ./test/device/... ./test/rdma ./test/rdmacm ./examples/...
short_native_device_test = $(subst go test,go test $(short),$(native_device_test))
# What is not tested in checked mode: what overruns completion queues on purpose.
unchecked = HundredThousand|Wait|Idle|Event|NoChannel|TestSpin
# rdma_cm connects on the first device that has the address.
without_siw = "$(uml) sh -c 'rdma link delete siw0 && exec \"\$$0\" \"\$$@\"'"

# The table is to be seen, which go test keeps to itself when all is well. Both guests may be at it at once.
conformance_test = go test $(2) -c -o $(GOVERBS_CACHE)/conformance.$(1) ./conformance && \
	$($(1)) $(GOVERBS_CACHE)/conformance.$(1) -test.run TestDevice -device rxe0,siw0

# Random sequences of calls against the model of the specification.
model_test = CGO_ENABLED=0 go test -c -o $(GOVERBS_CACHE)/model.$(1) ./conformance/model && $($(1)) $(GOVERBS_CACHE)/model.$(1) \
	-test.run TestDevice -test.v -device rxe0 -sequences

test-vm: ## tests of the guest, and in it those that need a device, with the race detector, too
	$(step) "guest"
	@test/softroce/setup
	@go test -tags softroce ./test/softroce
	$(step) "conformance of rxe0 and siw0, -race"
	@CGO_ENABLED=1 $(call conformance_test,vm,-race)
	$(step) "random sequences of calls on rxe0, beside the model"
	@$(call model_test,vm) 40
	$(step) "device tests in the guest, -race"
	@CGO_ENABLED=1 $(subst go test,go test -race,$(device_test))
	@CGO_ENABLED=1 $(siw_race_test) -exec $(vm) ./test/rdma
	$(step) "siw0 in the guest, -race"
	@CGO_ENABLED=1 $(siw_race_test) -exec $(vm) -run Siw ./test/device
	@CGO_ENABLED=1 $(siw_race_test) -exec "$(vm) env GOVERBS_TEST_ADDRESS=10.9.8.1" ./test/rdmacm

test-uml: ## the same at native speed, but for the race detector (builds User Mode Linux once: three minutes)
	$(step) "guest at native speed"
	@test/deps build uml
	@test/softroce/uml-setup >/dev/null
	@GUEST=uml go test -tags softroce ./test/softroce ./test/vendoring
	$(step) "conformance of rxe0 and siw0"
	@CGO_ENABLED=0 $(call conformance_test,uml)
	$(step) "random sequences of calls on rxe0, beside the model"
	@$(call model_test,uml) 150
	$(step) "the package's example in that guest"
	@CGO_ENABLED=0 go test -tags device -exec $(uml) -run OnDevice ./ibv
	$(step) "connections by librdmacm on rxe0"
	@CGO_ENABLED=0 go test -tags device -exec $(without_siw) ./test/rdmacm
	$(step) "device tests on rxe0 and siw0, $(GO_FLOOR), CGO_ENABLED=0"
	@CGO_ENABLED=0 $(native_device_test)
	$(step) "device tests of package rdma in checked mode"
	@CGO_ENABLED=0 go test $(short) -tags device,siw -skip "$(unchecked)" -exec "$(uml) env GOVERBS_CHECK=1" ./test/rdma
	$(step) "device tests on rxe0 and siw0, $(GO_FLOOR), CGO_ENABLED=1"
	@CGO_ENABLED=1 $(short_native_device_test)
	$(step) "device tests on rxe0 and siw0, pointer checks (checkptr)"
	@$(subst go test,go test $(checkptr),$(short_native_device_test))
	$(step) "device tests on rxe0 and siw0, $(GO_NEWEST), CGO_ENABLED=0"
	@GOTOOLCHAIN=$(GO_NEWEST) CGO_ENABLED=0 $(short_native_device_test)

test-systems: ## the device tests with the oldest and the newest suite of this distribution, in the guest at native speed
	$(step) "suites"
	@go run ./test/systems -parts suites -brief -keep=false

clean: ## remove what was built and the guest
	rm -rf .cache
