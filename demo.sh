#!/bin/sh
# Builds graze and shows its main job: every clash of an assembly, decided exactly.
set -eu
cd "$(dirname "$0")"

. scripts/setup.sh
setup_packages demo
mkdir -p build
echo "Building (build/demo) ..."
{
  setup_configure release build/demo -DGRAZE_TESTS=OFF -DGRAZE_BENCH=OFF -DGRAZE_FUZZ=OFF -DGRAZE_EXAMPLES=OFF &&
    cmake --build build/demo --parallel "$(nproc 2>/dev/null || echo 2)"
} >build/demo.log 2>&1 || {
  tail -n 40 build/demo.log >&2
  echo "The build failed; all of its output is in build/demo.log" >&2
  exit 1
}

graze=build/demo/bin/graze
models=build/demo/models
mkdir -p "$models"

# Makes a model, shows the command that checks it, runs it. 0 (clear) and 1 (clashes) are both answers.
show() {
  folder=$1
  shift
  "$graze" make "$@" -o "$models/$folder" >"$models/$folder.files"
  echo "\$ graze check $folder/scene.json      # graze make $*"
  rc=0
  "$graze" check "$models/$folder/scene.json" || rc=$?
  if [ "$rc" -gt 1 ]; then
    echo "demo.sh: graze check ended with $rc" >&2
    exit 1
  fi
  echo
}

cat <<'TEXT'

1. An assembly: pipes, some laid out by chance, some placed to be hard. Each line is a pair of objects whose surfaces
   meet, and how: the number of triangle pairs that share a point, a segment or an area.

TEXT
show pipes pipes
cat <<'TEXT'
   butt: two pipes end on end, so their end faces share areas. coincident: two pipes on one axis. twice: the same pipe in
   the same place. The parallel pair and the sleeve are 8 mm apart, and not listed.

2. Two forklifts, forks interlaced. Flat sides a thousandth of a millimetre apart are clear, at distance zero they touch.

TEXT
show near forklifts --gap 0.000001
show touching forklifts --gap 0
cat <<TEXT
The models are in $models. The program is $graze; try --help.
TEXT
