#!/bin/sh
# Builds graze and shows its main job: every clash of a model, decided exactly, and the report of it.
set -eu
cd "$(dirname "$0")"

. scripts/setup.sh
setup_packages demo
setup_extras
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
report=build/demo/clashes
mkdir -p "$models"

# Runs graze check: 0 (clear) and 1 (clashes) are both answers.
check() {
  rc=0
  "$graze" check "$@" || rc=$?
  if [ "$rc" -gt 1 ]; then
    echo "demo.sh: graze check ended with $rc" >&2
    exit 1
  fi
}

# Makes a model, shows the command that checks it, runs it.
show() {
  folder=$1
  shift
  "$graze" make "$@" -o "$models/$folder" >"$models/$folder.files"
  echo "\$ graze check $folder/scene.json      # graze make $*"
  check "$models/$folder/scene.json"
  echo
}

cat <<'TEXT'

1. A plant: 300 objects that are 2 or 4 mm apart, and next to them pairs that are hard to judge: a plug that fills a bore,
   a bolt flush with a block, the same pipe with another ring. What is the relation of each pair?

$ graze make plant -o plant; graze check plant/scene.json --report report
TEXT
"$graze" make plant -o "$models/plant" >"$models/plant.files"
check "$models/plant/scene.json" --report "$report" --title "A plant" -o "$models/plant.txt"
awk 'NR == 1 || (NR - 2) % 7 == 0 && NF > 8 { print } END { print "..."; print }' "$models/plant.txt"
cat <<'TEXT'

   The table shows every seventh clash. The right answers were known when the plant was generated: they are in
   plant/truth.json, and the tests compare.

2. The same plant after somebody lowered a pipe by 25 cm, into the steel.

$ graze check plant/lowered.json --set pipes=layer:pipes --set steel=layer:steel --between pipes steel
TEXT
sed '/"pipe 3.straight 3"/s/4.25\]/4]/' "$models/plant/scene.json" >"$models/plant/lowered.json"
check "$models/plant/lowered.json" --set pipes=layer:pipes --set steel=layer:steel --between pipes steel
cat <<'TEXT'

3. Two forklifts with interlaced forks. Flat sides a thousandth of a millimetre apart are separate; at distance zero they
   touch.

TEXT
show near forklifts --gap 0.000001
show touching forklifts --gap 0
cat <<TEXT
The report:  $PWD/$report/index.html
The models:  $PWD/$models
The program: $PWD/$graze; try --help. docs/clash.md is a walk through a session.
TEXT
