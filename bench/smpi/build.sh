#!/bin/sh
# graze-mpi for SimGrid's SMPI, with smpicc (Debian: libsimgrid-dev).
#
# usage: build.sh BUILD PROGRAM
#
# The sources of src/mpi and tool/mpi as they are, with a reduction of its own (reduce.c), and libraries and objects of
# the release build in the folder BUILD.
set -eu
build=$(realpath "$1")
program=$(realpath -m "$2")
source=$(realpath "$(dirname "$0")/../..")
objects=$(mktemp -d)
trap 'rm -r "$objects"' EXIT
for file in "$source"/src/mpi/*.c "$source"/tool/mpi/*.c "$source"/bench/smpi/reduce.c; do
  object=$(echo "${file#"$source"/}" | tr / _)
  smpicc -O3 -DNDEBUG -fPIC -std=gnu17 -ffp-contract=off -fno-tree-slp-vectorize -D_GNU_SOURCE \
    -I"$source/tool" -I"$source/src" -I"$source/include" -I"$build/include" -I"$source/scenes" \
    -c "$file" -o "$objects/$object.o"
done
smpicc -fPIC "$objects"/*.o "$build"/tool/CMakeFiles/graze_verbs.dir/*.o \
  "$build/check/libgraze_check.a" "$build/report/libgraze_report.a" "$build/io/libgraze_io.a" \
  "$build/src/visibility/libgraze_visibility.a" "$build/scenes/libgraze_scenes.a" "$build/src/gpu/libgraze_gpu.a" \
  "$build/src/libgraze.a" -lz -lpng -ljansson -ldl -lm -lpthread -o "$program"
