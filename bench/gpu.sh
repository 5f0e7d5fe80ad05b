#!/bin/sh
# What the devices of this machine do: builds, lists them, times, holds every answer to the processor's, and ends with a
# table of targets. Needs a C compiler, CMake and a driver; with nvcc or NVRTC for CUDA, with the headers of OpenCL or of
# the CUDA toolkit for OpenCL. Nothing is written outside of build/gpu and FILE.csv, to which rows are added. What
# matters most comes first; when the time is up the rest is left out.
#
#     bench/gpu.sh [--budget SECONDS] [--device ID] [--all] [--small | --large] [FILE.csv]
#
#     --budget   540 s if not given, building included
#     --device   only this one, as cuda:0
#     --all      every device; else the first of CUDA and the first of OpenCL, processors only where there is nothing else
#     --small    inputs for a processor, which is what OpenCL devices by PoCL get; --large: for graphics cards
#     FILE.csv   bench/results/gpu.csv if not given
# Exit code: 0 all rows right, 1 a wrong answer, 2 wrong usage, 3 no build or no device.
set -u

usage() { sed -n '/^#     bench/,/^# Exit/s/^# \{0,5\}//p' "$0"; }

budget=540 device='' all='' size='' out=''
while [ $# -gt 0 ]; do
  case $1 in
    --budget | --device)
      [ $# -gt 1 ] || { usage >&2; exit 2; }
      if [ "$1" = --budget ]; then budget=$2; else device=$2; fi
      shift ;;
    --all) all=yes ;;
    --small | --large) size=$1 ;;
    --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) [ -z "$out" ] || { usage >&2; exit 2; }; out=$1 ;;
  esac
  shift
done
case $budget in '' | *[!0-9]*) usage >&2; exit 2 ;; esac

begin=$(date +%s)
left() { echo $((budget - $(date +%s) + begin)); }
case $out in '' | /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")/.." || exit 3
out=${out:-$PWD/bench/results/gpu.csv}
here=$PWD/build/gpu
log=$here/gpu.log
mkdir -p "$here" || exit 3
: >"$log" || exit 3
# The home folder may not be writable.
export GRAZE_CACHE="${GRAZE_CACHE:-$here/kernels}" POCL_CACHE_DIR="${POCL_CACHE_DIR:-$here/pocl}"
export CUDA_CACHE_PATH="${CUDA_CACHE_PATH:-$here/cuda}" TMPDIR="${TMPDIR:-/tmp}"
mkdir -p "$POCL_CACHE_DIR" "$CUDA_CACHE_PATH"

failed() { # MESSAGE: with the end of the log
  tail -n 40 "$log" >&2
  echo "gpu.sh: $1; all of it is in $log" >&2
  exit 3
}

# ---- the build: the core, the devices, the bench; no readers, so that no library is needed ----

command -v cmake >/dev/null || { echo "gpu.sh: no cmake" >&2; exit 3; }
for toolkit in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda /opt/cuda; do
  if [ -n "$toolkit" ] && [ -x "$toolkit/bin/nvcc" ]; then
    PATH=$PATH:$toolkit/bin
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$toolkit/lib64 # NVRTC
    export PATH LD_LIBRARY_PATH
    break
  fi
done
echo "building in build/gpu ..."
cmake -S . -B build/gpu -DCMAKE_BUILD_TYPE=Release -DGRAZE_IO=OFF -DGRAZE_TOOL=OFF -DGRAZE_TESTS=OFF -DGRAZE_FUZZ=OFF \
  -DGRAZE_EXAMPLES=OFF >>"$log" 2>&1 || failed "CMake failed"
grep '^-- graze: .*\(OpenCL\|PTX\|devices\)' "$log"
cmake --build build/gpu --parallel "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" --target graze-bench >>"$log" 2>&1 ||
  failed "the build failed"
bench=$here/bin/graze-bench
echo "built in $((budget - $(left))) s"

# ---- the devices ----

timeout 120 "$bench" --devices >"$here/devices" 2>>"$log" || failed "no device"
cat "$here/devices"
choose() { # lines "id name driver exact": those that are asked for
  awk -F '\t' -v device="$device" -v all="$all" '
    { api = $1; sub(":.*", "", api); id[NR] = $1; of[NR] = api; slow[NR] = $3 ~ /Portable Computing Language/
      cards += !slow[NR] }
    END {
      for (i = 1; i <= NR; i++) {
        if (device != "") { if (id[i] == device) print id[i], slow[i] }
        else if (all != "") print id[i], slow[i]
        else if (!(of[i] in seen) && !(cards && slow[i])) { seen[of[i]] = 1; print id[i], slow[i] }
      }
    }' "$here/devices" | sort # CUDA before OpenCL
}
chosen=$(choose)
[ -n "$chosen" ] || { echo "gpu.sh: no device $device" >&2; exit 3; }

# ---- the rows, by importance; a part may take two thirds of what is left ----

parts='gpu_triangles/@(repeated|waves)/*
gpu_sort32/*
gpu_boxes/uniform/*
gpu_tree*/uniform/*
gpu_bed?(_mesh)?(_springs)?(_single)/*
gpu_spheres/*
gpu_triangles/!(repeated/*|waves/*)
gpu_!(triangles/*|sort32/*|boxes/uniform/*|tree*/uniform/*|bed*/*|spheres/*)
gpu_bed_many*/*'

work=$(mktemp -d "$here/work.XXXXXX") || exit 3
rows=$work/rows.csv
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
wrong=0

run_part() { # DEVICE SLOW FILTER
  share=$(($(left) * 2 / 3))
  if [ "$share" -lt 5 ]; then
    echo "$1  $3: left out, for the time is up"
    return
  fi
  large=${size:-$([ "$2" = 1 ] && echo --small || echo --large)}
  flag=$([ "$large" = --large ] && echo --large)
  before=$(left)
  # A workload that is under way when the time is up comes to its end, unless it hangs.
  timeout -k 10 $((share + 60)) "$bench" --device "$1" --filter "$3" --repeats 5 --budget "$share" ${flag:+"$flag"} \
    --work "$work/inputs" --append --out "$rows" >>"$log" 2>&1
  code=$?
  echo "$1  $3: $((before - $(left))) s$([ $code -ne 0 ] && echo ", exit code $code")"
  [ $code -eq 0 ] || wrong=1
}

while [ -n "$chosen" ]; do
  first=${chosen%%
*}
  rest=${chosen#"$first"}
  chosen=${rest#?}
  set -f
  IFS='
'
  for part in $parts; do
    IFS=' '
    run_part "${first% *}" "${first#* }" "$part"
  done
  unset IFS
  set +f
done
if ! [ -s "$rows" ]; then
  [ $wrong -eq 0 ] && { echo "gpu.sh: no time was left for a row: --budget" >&2; exit 3; }
  failed "no rows"
fi
if [ -s "$out" ]; then tail -n +2 "$rows" >>"$out"; else cat "$rows" >"$out"; fi || failed "$out cannot be written"

echo
awk -f bench/gpu_table.awk "$rows" || wrong=1
echo "$(($(wc -l <"$rows") - 1)) rows added to $out in $((budget - $(left))) s"
echo "with an H200: bench/roofline.py bench/results docs/gpu-roofline.md"
[ $wrong -eq 0 ] || echo "not all is well: see $log"
exit $wrong
