#!/bin/sh
# What the devices of this machine do: builds, lists them, holds their answers to the processor's, times, and ends with a
# table. Rows are added to a file; under ten minutes.
#
#     bench/gpu.sh [FILE.csv]          default: bench/results/gpu.csv
set -eu
cd "$(dirname "$0")/.."
out=${1:-bench/results/gpu.csv}
cmake -S . -B build/gpu -DCMAKE_BUILD_TYPE=Release -DGRAZE_TESTS=OFF -DGRAZE_FUZZ=OFF -DGRAZE_EXAMPLES=OFF >build-gpu.log 2>&1 ||
  { cat build-gpu.log >&2; exit 1; }
cmake --build build/gpu --parallel --target graze_tool graze-bench >build-gpu.log 2>&1 || { cat build-gpu.log >&2; exit 1; }
rm -f build-gpu.log
build/gpu/bin/graze devices
build/gpu/bin/graze-bench --large --filter 'gpu_*' --append --out "$out"
