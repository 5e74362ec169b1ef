# The front door. Everything real happens in meson (meson.build) and in tools/.
#
#   make          build/abide, build/abide-sim, build/libabide.a, build/libabide.so
#   make run      build, then run the example on the embedded store
#   make test     every test: normal, ASan+UBSan, TSan, clang, lint     (make check: normal only)
#   make bench    every benchmark; make bench-core runs one
#   make sim      the simulator                   make sim SEED=7 RUNS=500
#   make fuzz-diff  random programs against node, until interrupted

JOBS ?= 2
SEED ?= 1
RUNS ?= 200

.PHONY: all run test check bench sim fuzz-diff format tidy install clean

all:
	@tools/setup build
	@tools/configure build
	@ninja -C build -j $(JOBS)

run:
	@tools/setup run
	@tools/configure build
	@ninja -C build -j $(JOBS)
	@tools/run

test:
	@tools/setup test
	@tools/test --jobs $(JOBS)

check:
	@tools/setup test
	@tools/test --jobs $(JOBS) normal

bench:
	@tools/setup bench
	@tools/bench --jobs $(JOBS)

bench-%:
	@tools/setup bench
	@tools/bench --jobs $(JOBS) $*

sim: all
	build/abide-sim --seed $(SEED) --runs $(RUNS)

fuzz-diff: all
	@tools/setup test
	@test/fuzz/fuzz-diff

format:
	@git ls-files '*.c' '*.h' | xargs -r clang-format -i

tidy:
	@tools/tidy

install: all
	meson install -C build --no-rebuild

clean:
	rm -rf build build-asan build-tsan build-clang
