#!/bin/sh
# Every check of the project, on Debian 12 from a bare clone: installs what is missing, builds, tests, and says at
# the end what ran, what did not and why. Ends with 0 only when nothing failed.
set -eu
cd "$(dirname "$0")"

usage() {
  cat <<'TEXT'
usage: ./test.sh [options]
  --long              also the tests labelled long; fuzz each target for a minute, and with the sanitizers too;
                      clang-tidy follows all paths; as many random cases with AVX switched off as without
                      GRAZE_TEST_LONG=1 in the environment runs the tests' long forms
                      GRAZE_TEST_SEED=N repeats the random cases of a run that printed it
  --no-sanitize       leave out the sanitizer build
  --sanitize          with the sanitizer build (the default)
  --only STEP[,STEP]  run these steps only
  --jobs N            parallel jobs (default: all processors)
  --help              this text
steps: release sanitize threads fuzz tidy shell documents (format, rooms, install and document tests are in release)
logs:  build/test/STEP.log
TEXT
}

steps="release sanitize threads fuzz tidy shell documents"
only=$steps
long=0
jobs=$(nproc 2>/dev/null || echo 2)
while [ $# -gt 0 ]; do
  case $1 in
    --long) long=1 ;;
    --no-sanitize) without_sanitize=1 ;;
    --sanitize) without_sanitize=0 ;;
    --only) [ $# -ge 2 ] || { usage >&2; exit 2; }; only=$(echo "$2" | tr ',' ' '); shift ;;
    --jobs) [ $# -ge 2 ] || { usage >&2; exit 2; }; jobs=$2; shift ;;
    --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
for step in $only; do
  case " $steps " in *" $step "*) ;; *) echo "test.sh: no step \"$step\"" >&2; usage >&2; exit 2 ;; esac
done

[ "$long" -eq 0 ] || export GRAZE_TEST_WHOLE=1
. scripts/setup.sh
setup_packages test
logs=build/test
mkdir -p "$logs"
rm -f "$logs"/*

# Adds a line to the summary of the step that runs.
note() {
  echo "$*" >>"$logs/$step.note"
}

# The C files that are installed or run by users, one a line.
c_files() {
  find include src io report check tool scenes examples \( -name '*.[ch]' -o -name '*.inc' \) | LC_ALL=C sort
}

# What the tests printed that failed in the folder of ctest "$1", the end of each.
failures() {
  sed 's/^[0-9]*://' "$1/LastTestsFailed.log" | while read -r test; do
    echo "--- $test"
    awk -v name="$test" '/^[0-9]+\/[0-9]+ Testing: / { mine = $3 == name } /^<end of output>/ { out = 0 }
      mine && out; /^Output:/ { out = 1 }' "$1/LastTest.log" | grep -v -e '^\[ ' -e '^ok ' -e '^-*$' | tail -n 15
  done
}

# build_and_test PRESET CMAKE-OPTION ...: one test more at a time than there are processors, for some wait for a browser.
build_and_test() {
  preset=$1
  shift
  setup_configure "$preset" "build/$preset" -DGRAZE_WERROR=ON "$@"
  cmake --build "build/$preset" --parallel "$jobs"
  labels=""
  [ "$long" -eq 1 ] || labels="-LE long"
  rc=0
  # shellcheck disable=SC2086 # two words or none
  ctest --preset "$preset" --parallel $((jobs + 1)) --timeout 900 --no-tests=error $labels >"$logs/ctest-$preset.out" 2>&1 || rc=$?
  cat "$logs/ctest-$preset.out"
  if [ "$rc" -ne 0 ]; then failures "build/$preset/Testing/Temporary" >"$logs/$step.failures"; fi
  note "$(grep 'tests passed' "$logs/ctest-$preset.out" || echo 'no tests ran')"
  sed -n 's/.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*\(Skipped\|Not Run\).*/skipped: \1/p' "$logs/ctest-$preset.out" \
    >>"$logs/$step.note"
  grep -h '^SKIPPED' "build/$preset/Testing/Temporary/LastTest.log" | sort -u >>"$logs/$step.note" || true
  return "$rc"
}

step_release() {
  build_and_test release
  if [ -r /proc/cpuinfo ] && ! grep -q avx512bw /proc/cpuinfo; then
    note "not run: AVX-512 code, which this processor lacks"
  fi
}

# Without the fuzz targets, which have a step of their own with sanitizers, the benchmarks, and what is seen in another
# form of a kernel, but in the long run. Without PTX, which the release build makes, and with the kernels that PoCL
# compiled for its tests.
step_sanitize() {
  mkdir -p build/sanitize
  for cache in pocl kernels; do
    mkdir -p "build/release/$cache"
    [ -e "build/sanitize/$cache" ] || ln -s "../release/$cache" "build/sanitize/$cache"
  done
  rest=OFF
  [ "$long" -eq 0 ] || rest=ON
  build_and_test sanitize -DGRAZE_NVCC=OFF "-DGRAZE_FUZZ=$rest" "-DGRAZE_BENCH=$rest" "-DGRAZE_SANITIZE_AVX2=$rest"
}

# The loops of the library under the thread sanitizer: the few programs that run them.
step_threads() {
  setup_configure thread build/thread -DGRAZE_WERROR=ON
  cmake --build build/thread --parallel "$jobs" --target thread_tests
  labels=""
  [ "$long" -eq 1 ] || labels="-LE long"
  # shellcheck disable=SC2086 # two words or none
  ctest --preset thread --parallel $((jobs + 1)) --timeout 900 --no-tests=error -L threads $labels
}

step_fuzz() {
  build_clang
  seconds=1
  [ "$long" -eq 0 ] || seconds=60
  note "$seconds s each"
  # shellcheck disable=SC2016 # the inner shell's words
  find build/clang/bin -name 'fuzz_*' -type f -perm -u+x | sort | xargs -r -n 1 -P "$jobs" sh -c '
    name=${3##*/}
    mkdir -p "build/clang/corpus/$name"
    if "$3" -max_total_time="$1" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$2/$name-" \
      "build/clang/corpus/$name" "fuzz/corpus/${name#fuzz_}" >"$2/$name.log" 2>&1; then exit 0; fi
    cat "$2/$name.log"
    echo "$name: FAILED, the input is $2/$name-*" >>"$2/fuzz.note"
    exit 1' fuzz "$seconds" "$logs"
}

# The clang build serves the fuzz targets, which bring coverage and sanitizers, and clang-tidy, which reads its commands and
# has the compiler's warnings among its checks. So only what is fuzzed is built, but in the long run. It does without PTX,
# which the release build makes.
build_clang() {
  all=OFF target=fuzz_targets
  if [ "$long" -eq 1 ]; then all=ON target=all; fi
  CC=clang setup_configure release build/clang -DCMAKE_BUILD_TYPE=Fuzz -DGRAZE_WERROR=ON -DGRAZE_NVCC=OFF \
    -DGRAZE_TESTS=$all -DGRAZE_BENCH=$all
  cmake --build build/clang --parallel "$jobs" --target $target
}

# A file is looked at again when it, a header, or the list of checks has changed. The analyser takes nearly all the time,
# so by default it follows fewer paths of a function: a thirtieth of its own limit, in a tenth of the time.
step_tidy() {
  [ -e build/clang/compile_commands.json ] || build_clang
  mkdir -p build/tidy
  depth=short
  paths="-extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang -extra-arg=max-nodes=7500"
  if [ "$long" -eq 1 ]; then depth=full paths=""; fi
  headers=$(c_files | grep '\.h$\|\.inc$' | xargs cat .clang-tidy CMakeLists.txt src/CMakeLists.txt | cksum)
  for file in $(c_files | grep '\.c$'); do
    grep -qF "/$file\"" build/clang/compile_commands.json || continue
    stamp=build/tidy/$(echo "$file" | tr '/' '-').ok
    key="$headers $(cksum <"$file")"
    case $(cat "$stamp" 2>/dev/null) in
      "$key full" | "$key $depth") ;;
      *) printf '%s\0%s\0%s\0' "$file" "$stamp" "$key $depth" ;;
    esac
  done >build/tidy/todo
  note "$(tr '\0' '\n' <build/tidy/todo | grep -c '\.c$') files had changed"
  # shellcheck disable=SC2016 # the inner shell's words
  xargs -0 -r -n 3 -P "$jobs" sh -c 'paths=$0
    if clang-tidy -p build/clang --quiet $paths "$1" >"$2.log" 2>&1; then echo "$3" >"$2"
    else cat "$2.log"; exit 1; fi' "$paths" <build/tidy/todo
}

step_shell() {
  shellcheck -S warning -x demo.sh test.sh .ci/run scripts/setup.sh
  find . -path ./build -prune -o -name '*.sh' -exec shellcheck -S warning -x {} +
}

step_documents() {
  doxygen
  note "reference: build/docs/html/index.html"
}

failed=""
started=$(date +%s)
for step in $steps; do
  case " $only " in *" $step "*) ;; *) echo "not asked for" >"$logs/$step.note"; continue ;; esac
  if [ "$step" = sanitize ] && [ "${without_sanitize:-0}" -eq 1 ]; then
    echo "left out by --no-sanitize" >"$logs/$step.note"
    continue
  fi
  printf '%-10s ... ' "$step"
  begun=$(date +%s)
  set +e
  (set -e; "step_$step") >"$logs/$step.log" 2>&1
  rc=$?
  set -e
  seconds=$(($(date +%s) - begun))
  if [ $rc -eq 0 ]; then
    echo "ok, $seconds s"
    echo "ok, $seconds s" >"$logs/$step.state"
  else
    echo "FAILED, $seconds s; the end of $logs/$step.log:"
    tail -n 100 "$logs/$step.log"
    echo "FAILED, $seconds s" >"$logs/$step.state"
    failed="$failed $step"
  fi
done

echo
echo "Summary"
for step in $steps; do
  printf '  %-10s %s\n' "$step" "$(cat "$logs/$step.state" 2>/dev/null || echo skipped)"
  if [ -s "$logs/$step.note" ]; then sed 's/^/             /' "$logs/$step.note"; fi
done
[ "$long" -eq 1 ] || echo "  The long forms did not run (--long, GRAZE_TEST_LONG=1)."
echo "  $(($(date +%s) - started)) s in all"
if [ -n "$failed" ]; then
  cat "$logs"/*.failures 2>/dev/null || true
  echo "FAILED:$failed"
  exit 1
fi
echo "All passed."
