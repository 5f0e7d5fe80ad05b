#!/bin/sh
# What culling by pictures costs on this machine: builds, times passes and whole questions on OpenGL and on the processor,
# holds every answer to the processor's, and ends with a table of targets, which differ for graphics cards and for
# drivers that draw in software. Needs a C compiler, CMake, the headers of EGL and OpenGL, and a driver of OpenGL 4.5.
# Nothing is written outside of build/pictures and FILE.csv, to which rows are added.
#
#     bench/pictures.sh [--budget SECONDS] [--meshes DIR] [FILE.csv]
#
#     --budget   540 s if not given, building included; a workload that is under way comes to its end
#     --meshes   folder with bun_zipper.ply and dragon_vrip_res2.ply, or either with .xz; that of graze-bench if not given
#     FILE.csv   bench/results/pictures.csv if not given
# Exit code: 0 all rows right, 1 a wrong answer, 2 wrong usage, 3 no build.
set -u

usage() { sed -n '/^#     bench/,/^# Exit/s/^# \{0,5\}//p' "$0"; }

budget=540 meshes='' out=''
while [ $# -gt 0 ]; do
  case $1 in
    --budget | --meshes)
      [ $# -gt 1 ] || { usage >&2; exit 2; }
      if [ "$1" = --budget ]; then budget=$2; else meshes=$2; fi
      shift ;;
    --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) [ -z "$out" ] || { usage >&2; exit 2; }; out=$1 ;;
  esac
  shift
done
case $budget in '' | *[!0-9]*) usage >&2; exit 2 ;; esac

begin=$(date +%s)
left() { echo $((budget - $(date +%s) + begin)); }
case $meshes in '' | /*) ;; *) meshes=$PWD/$meshes ;; esac
case $out in '' | /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")/.." || exit 3
out=${out:-$PWD/bench/results/pictures.csv}
here=$PWD/build/pictures
log=$here/pictures.log
mkdir -p "$here" || exit 3
: >"$log" || exit 3

failed() { # MESSAGE: with the end of the log
  tail -n 40 "$log" >&2
  echo "pictures.sh: $1; all of it is in $log" >&2
  exit 3
}

command -v cmake >/dev/null || { echo "pictures.sh: no cmake" >&2; exit 3; }
echo "building in build/pictures ..."
cmake -S . -B "$here" -DCMAKE_BUILD_TYPE=Release -DGRAZE_TOOL=OFF -DGRAZE_TESTS=OFF -DGRAZE_FUZZ=OFF \
  -DGRAZE_EXAMPLES=OFF >>"$log" 2>&1 || failed "CMake failed"
cmake --build "$here" --parallel "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" --target graze-bench >>"$log" 2>&1 ||
  failed "the build failed"
echo "built in $((budget - $(left))) s"

# ---- the rows: questions with all threads; passes with one, beside which the driver's own threads are counted ----

work=$(mktemp -d "$here/work.XXXXXX") || exit 3
rows=$work/rows.csv
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
wrong=0
run_part() { # THREADS FILTER
  share=$(left)
  [ "$share" -ge 5 ] || { echo "$2: left out, for the time is up"; return; }
  "$here/bin/graze-bench" --threads "$1" --filter "$2" --budget "$share" ${meshes:+--meshes "$meshes"} --append \
    --out "$rows" >>"$log" 2>&1
  code=$?
  echo "$2: $((share - $(left))) s$([ $code -ne 0 ] && echo ", exit code $code")"
  [ $code -eq 0 ] || wrong=1
}
run_part 0 'visibility_exact/*'
run_part 1 'visibility_pass/*'
if ! [ -s "$rows" ]; then
  [ $wrong -eq 0 ] && { echo "pictures.sh: no time was left for a row: --budget" >&2; exit 3; }
  failed "no rows"
fi
if [ -s "$out" ]; then tail -n +2 "$rows" >>"$out"; else cat "$rows" >"$out"; fi || failed "$out cannot be written"

echo
awk -f bench/pictures_table.awk "$rows" || wrong=1
echo "$(($(wc -l <"$rows") - 1)) rows added to $out in $((budget - $(left))) s"
[ $wrong -eq 0 ] || echo "not all is well: see $log"
exit $wrong
