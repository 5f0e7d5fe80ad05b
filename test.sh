#!/bin/sh
# Every check of the project, on Debian 12 from a bare clone: installs what is missing, builds, tests, and says at
# the end what ran, what did not and why. Ends with 0 only when nothing failed.
set -eu
cd "$(dirname "$0")"

usage() {
  cat <<'TEXT'
usage: ./test.sh [options]
  --long              also the tests labelled long; fuzz each target for a minute, and with the sanitizers too;
                      GRAZE_TEST_LONG=1 in the environment runs the tests' long forms
  --no-sanitize       leave out the sanitizer build
  --sanitize          with the sanitizer build (the default)
  --only STEP[,STEP]  run these steps only
  --jobs N            parallel jobs (default: all processors)
  --help              this text
steps: release sanitize fuzz tidy shell documents (format, rooms, install and document tests are in release)
logs:  build/test/STEP.log
TEXT
}

steps="release sanitize fuzz tidy shell documents"
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
  find include src io report tool scenes examples \( -name '*.[ch]' -o -name '*.inc' \) | LC_ALL=C sort
}

# build_and_test PRESET LABELS-TO-LEAVE-OUT
build_and_test() {
  setup_configure "$1" "build/$1" -DGRAZE_WERROR=ON
  cmake --build "build/$1" --parallel "$jobs"
  labels=""
  [ "$long" -eq 1 ] || labels="-LE $2"
  rc=0
  # shellcheck disable=SC2086 # two words or none
  ctest --preset "$1" --parallel "$jobs" --timeout 900 --no-tests=error $labels >"$logs/ctest-$1.out" 2>&1 || rc=$?
  cat "$logs/ctest-$1.out"
  note "$(grep 'tests passed' "$logs/ctest-$1.out" || echo 'no tests ran')"
  sed -n 's/.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*\(Skipped\|Not Run\).*/skipped: \1/p' "$logs/ctest-$1.out" \
    >>"$logs/$step.note"
  grep -h '^SKIPPED' "build/$1/Testing/Temporary/LastTest.log" | sort -u >>"$logs/$step.note" || true
  return "$rc"
}

step_release() {
  build_and_test release long
  if [ -r /proc/cpuinfo ] && ! grep -q avx512bw /proc/cpuinfo; then
    note "not run: AVX-512 code, which this processor lacks"
  fi
}

# Without the fuzz targets: they have a step of their own, with sanitizers.
step_sanitize() {
  build_and_test sanitize 'long|fuzz'
}

step_fuzz() {
  build_clang
  seconds=10
  [ "$long" -eq 0 ] || seconds=60
  rc=0
  for target in build/clang/bin/fuzz_*; do
    [ -x "$target" ] || continue
    name=$(basename "$target")
    mkdir -p "build/clang/corpus/$name"
    if "$target" -max_total_time=$seconds -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$logs/$name-" "build/clang/corpus/$name" "fuzz/corpus/${name#fuzz_}"; then
      note "$name: $seconds s"
    else
      note "$name: FAILED, the input is $logs/$name-*"
      rc=1
    fi
  done
  return $rc
}

# The clang build serves the fuzz targets, which bring coverage and sanitizers, and clang-tidy. It does without OpenMP, so
# that building without it is tried as well.
build_clang() {
  CC=clang setup_configure release build/clang -DCMAKE_BUILD_TYPE=Fuzz -DGRAZE_WERROR=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON
  cmake --build build/clang --parallel "$jobs"
}

# A file is looked at again when it, a header, or the list of checks has changed.
step_tidy() {
  [ -e build/clang/compile_commands.json ] || build_clang
  mkdir -p build/tidy
  headers=$(c_files | grep '\.h$\|\.inc$' | xargs cat .clang-tidy CMakeLists.txt src/CMakeLists.txt | cksum)
  for file in $(c_files | grep '\.c$'); do
    grep -qF "/$file\"" build/clang/compile_commands.json || continue
    stamp=build/tidy/$(echo "$file" | tr '/' '-').ok
    key="$headers $(cksum <"$file")"
    [ "$(cat "$stamp" 2>/dev/null)" = "$key" ] || printf '%s\0%s\0%s\0' "$file" "$stamp" "$key"
  done >build/tidy/todo
  note "$(tr '\0' '\n' <build/tidy/todo | grep -c '\.c$') files had changed"
  # shellcheck disable=SC2016 # the inner shell's words
  xargs -0 -r -n 3 -P "$jobs" sh -c 'if clang-tidy -p build/clang --quiet "$1" >"$2.log" 2>&1; then echo "$3" >"$2"
    else cat "$2.log"; exit 1; fi' tidy <build/tidy/todo
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
  echo "FAILED:$failed"
  exit 1
fi
echo "All passed."
