# The front door. Everything real happens in meson (meson.build) and in tools/.
#
#   make            build/abide, build/abide-sim, build/libabide.a, build/libabide.so
#   make run        build, then serve examples/flows and start one run; Ctrl-C ends it
#   make test       every test: normal, ASan+UBSan, TSan, clang, lint
#   make check      the tests of the normal build only          make check ONLY=arena
#   make soak       the tests of the normal build with ten times as many random cases   make soak ONLY=differential SCALE=5000
#   make bench      every benchmark; make bench-core runs one
#   make sim        the simulator                               make sim SEED=7 RUNS=500
#   make fuzz-diff  random programs against node, until interrupted
#   make fuzz-api   random requests against a server, until interrupted   make fuzz-api SEED=7
#   make chaos      clusters under kills, cuts and failovers, ten minutes each   make chaos SCENARIO=cuts MINUTES=2
#   make format tidy install clean
#
# BUILD=DIR builds elsewhere (the sanitizer builds go to DIR-asan, DIR-tsan, DIR-clang).

BUILD ?= build
JOBS ?= 2
SEED ?= 1
RUNS ?= 200
ONLY ?=
SCALE ?= 1000
SCENARIO ?= all
MINUTES ?= 10
export BUILD JOBS

.PHONY: all run test check soak bench sim fuzz-diff fuzz-api chaos format tidy install clean

all:
	@tools/setup build
	@tools/configure $(BUILD)
	@flock $(BUILD)/.lock ninja -C $(BUILD) -j $(JOBS) products

run: all
	@tools/run

test:
	@tools/setup test
	@tools/test

check:
	@tools/setup test
	@tools/test normal --only '$(ONLY)'

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
	@ABIDE_BUILD_DIR=$(abspath $(BUILD)) python3 test/e2e/api_fuzz.py --forever --seed $(SEED) --threads 4

chaos: all
	@tools/setup test
	@ABIDE_BUILD_DIR=$(abspath $(BUILD)) python3 test/cluster/nemesis.py $(SCENARIO) --minutes $(MINUTES) --seed $(SEED)

format:
	@git ls-files '*.c' '*.h' | xargs -r clang-format -i

tidy:
	@tools/tidy

install: all
	@meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-clang
