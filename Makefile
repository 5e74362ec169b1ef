# The front door. Everything real happens in meson (meson.build) and in tools/.
#
#   make            build/abide, build/abide-sim, build/libabide.a, build/libabide.so
#   make run        build, then serve examples/flows and start one run; Ctrl-C ends it
#   make test       every test, in the build that is shipped     make test ONLY=arena
#   make test-all   the same with all random cases, again under ASan+UBSan and TSan; clang; lint
#   make test-loaded  make test three times, beside four busy loops   make test-loaded TIMES=1
#   make soak       the tests of the normal build with ten times as many random cases   make soak ONLY=differential SCALE=5000
#   make bench      every benchmark; make bench-core runs one
#   make sim        the simulator                               make sim SEED=7 RUNS=500
#   make fuzz-diff  random programs against node, until interrupted
#   make fuzz-api   random requests against a server, until interrupted   make fuzz-api SEED=7
#   make chaos      clusters under kills, cuts and failovers, ten minutes each   make chaos SCENARIO=cuts MINUTES=2
#   make conformance WORKER='python3 worker.py'   what a worker of workflows does, against docs/protocol.md
#   make load       herds of runs against a server, with the worst answer beside them   make load STORES=redis KINDS=workers HERD=100000
#   make install    make install PREFIX=/usr DESTDIR=/tmp/package; make uninstall takes the last one back
#   make format tidy clean
#
# BUILD=DIR builds elsewhere (the sanitizer builds go to DIR-asan, DIR-tsan, DIR-clang).
# OPTIONS='-Dpostgres=disabled -Dredis=disabled' builds without these back ends; meson_options.txt has all.

BUILD ?= build
JOBS ?= 2
SEED ?= 1
RUNS ?= 200
ONLY ?=
SCALE ?= 1000
SCENARIO ?= all
MINUTES ?= 10
HERD ?= 12000
TIMES ?= 3
PREFIX ?= /usr/local
DESTDIR ?=
WORKER ?= python3 test/conformance/worker_minimal.py
OPTIONS ?=
export BUILD JOBS PREFIX DESTDIR OPTIONS

.PHONY: all run test test-all test-loaded soak bench sim fuzz-diff fuzz-api chaos conformance load format tidy install uninstall clean

all:
	@tools/setup build
	@tools/configure $(BUILD)
	@flock $(BUILD)/.lock ninja -C $(BUILD) -j $(JOBS) products

run: all
	@tools/run

test:
	@tools/setup test
	@tools/test normal --scale 20 --only '$(ONLY)'

test-loaded:
	@tools/setup test
	@tools/test normal --scale 20 --only '$(ONLY)' --busy 4 --times $(TIMES)

test-all:
	@tools/setup test
	@tools/test

soak:
	@tools/setup test
	@tools/test normal --only '$(ONLY)' --scale $(SCALE)

bench:
	@tools/setup bench
	@tools/bench

bench-%:
	@tools/setup bench
	@tools/bench $*

sim: all
	$(BUILD)/abide-sim --seed $(SEED) --runs $(RUNS)

fuzz-diff: all
	@tools/setup test
	@test/fuzz/fuzz-diff

fuzz-api: all
	@ABIDE_BUILD_DIR=$(abspath $(BUILD)) python3 test/e2e/support/api_fuzz.py --forever --seed $(SEED) --threads 4

chaos: all
	@tools/setup test
	@ABIDE_BUILD_DIR=$(abspath $(BUILD)) python3 test/cluster/nemesis.py $(SCENARIO) --minutes $(MINUTES) --seed $(SEED)

conformance: all
	@tools/setup test
	@ABIDE_BUILD_DIR=$(abspath $(BUILD)) ABIDE_SOURCE_DIR=$(CURDIR) WORKER='$(WORKER)' \
		python3 test/conformance/check.py $(if $(ONLY),Worker.test_$(ONLY))

load: all
	@tools/setup test
	@ABIDE_BUILD_DIR=$(abspath $(BUILD)) python3 test/load/herd.py --worst 1 --runs $(HERD) \
		$(if $(STORES),--store $(STORES)) $(if $(KINDS),--kind $(KINDS))

format:
	@tools/format

tidy:
	@tools/tidy

install: all
	@meson install -C $(BUILD) --no-rebuild --quiet

uninstall:
	@ninja -C $(BUILD) uninstall

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-clang $(BUILD)-small
