#!/bin/sh
# The drawing of the house: a room includes what its row in ARCHITECTURE.md lets it use, its own files and the public
# headers, nothing else. A row of that table, which begins below the line "<!-- rooms -->", reads
#
#     | `ROOM` | `FOLDER/` | what it holds | ROOM, ROOM |
#
# with "nothing" or "everything" in place of the rooms it may use, which stand above it in the table. A room without a
# folder is planned. Every .c, .h, .inc and .cl file belongs to a room, and none of what programs write is kept outside
# of all folders.
# usage: check_rooms.sh SOURCE_FOLDER | check_rooms.sh --self-test
set -u

# Reads ARCHITECTURE.md, then lines "file PATH", then lines "PATH:NUMBER:#include ..."; prints the faults.
check='
function trim(text) {
  gsub(/^[ \t`]+|[ \t`]+$/, "", text)
  return text
}
function fault(text) { print text }

# One row of the table.
function read_row(line,    cell, count, uses, i, used) {
  count = split(line, cell, "|")
  room = trim(cell[2])
  if (count != 6 || room == "room" || room ~ /^-+$/) {
    if (count != 6) fault("ARCHITECTURE.md:" FNR ": a row of the rooms has four cells")
    return
  }
  rooms++
  folder = trim(cell[3])
  sub(/\/$/, "", folder)
  if (folder ~ /^[a-z\/]+$/ && folder != "planned") folder_of[room] = folder
  known[room] = rooms
  used = trim(cell[5])
  if (used == "everything") free[room] = 1
  if (used == "everything" || used == "nothing") return
  count = split(used, uses, /, */)
  for (i = 1; i <= count; i++) {
    used = trim(uses[i])
    may[room, used] = 1
    if (!(used in known) || used == room) fault("ARCHITECTURE.md:" FNR ": " room " uses " used ", which does not stand above it")
  }
}

# The room of a path: that of the longest folder that holds it.
function room_of(path,    room, best) {
  best = ""
  for (room in folder_of)
    if (index(path, folder_of[room] "/") == 1 && (best == "" || length(folder_of[room]) > length(folder_of[best]))) best = room
  return best
}

function plain(path) { # a/b/../c is a/c
  gsub(/\/\.\//, "/", path)
  while (sub(/[^\/]+\/\.\.\//, "", path)) { }
  return path
}

# The file that NAME stands for in a file of ROOM below HERE, or, when it is generated, a guess that names its room.
function target(name, here, room,    first, i, other) {
  if (plain(here "/" name) in exists) return plain(here "/" name)
  if (folder_of[room] "/" name in exists) return folder_of[room] "/" name
  if ("src/" name in exists) return "src/" name
  if (name in exists) return name
  first = name
  if (sub(/\/.*/, "", first)) return first in folder_of ? folder_of[first] "/" name : ""
  for (other in folder_of)
    if (folder_of[other] !~ /^src\// && folder_of[other] "/" name in exists) return folder_of[other] "/" name
  return folder_of[room] "/" name
}

function check_include(path, number, name,    here, room, other) {
  if (name ~ /^graze\//) return
  room = room_of(path)
  if (room == "" || room in free) return
  here = path
  sub(/\/[^\/]*$/, "", here)
  other = room_of(target(name, here, room))
  if (other == "")
    fault(path ":" number ": includes \"" name "\", which belongs to no room")
  else if (other != room && !((room, other) in may))
    fault(path ":" number ": room " room " includes \"" name "\" of room " other ", which it may not use")
}

FNR == 1 { part++ }
part == 1 && /^<!-- rooms -->/ { inside = 1; next }
part == 1 && inside && /^\|/ { read_row($0); next }
part == 1 { if (rooms) inside = 0; next }
part == 2 {
  exists[$2] = 1
  if (room_of($2) == "" && !said[$2]++) fault($2 ": belongs to no room of ARCHITECTURE.md")
  next
}
match($0, /:[0-9]+:/) {
  name = $0
  sub(/^[^"]*"/, "", name)
  sub(/".*/, "", name)
  check_include(substr($0, 1, RSTART - 1), substr($0, RSTART + 1, RLENGTH - 2), name)
}
END { if (!rooms) fault("ARCHITECTURE.md: no table of rooms below <!-- rooms -->") }
'

# The files of all rooms, one a line.
sources() {
  find . \( -path ./build -o -path './.*' \) -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.inc' -o -name '*.cl' \) -print | sed 's|^\./||' | LC_ALL=C sort
}

check_tree() (
  cd "$1" || exit 1
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
  sources >"$work/names"
  sed 's/^/file /' "$work/names" >"$work/files"
  xargs grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' <"$work/names" >"$work/includes"
  awk "$check" ARCHITECTURE.md "$work/files" "$work/includes"
)

# What git keeps outside of all folders: pages, settings, scripts; anything else has been added by accident.
check_stray() (
  cd "$1" && git ls-files 2>/dev/null | grep -vE '/|^\.|\.md$|\.sh$|^CMake[A-Za-z]+\.(txt|json)$|^(Doxyfile|LICENSE|VERSION)$' |
    sed 's/$/: is not a page, a setting or a script, and in no folder/'
)

write() { # FILE LINE...
  file=$1
  shift
  mkdir -p "${file%/*}"
  printf '%s\n' "$@" >"$file"
}

self_test() { # a small house with every kind of fault: each must be found, and nothing else
  house=$(mktemp -d) || exit 1
  trap 'rm -rf "$house"' EXIT
  cd "$house" || exit 1
  # shellcheck disable=SC2016 # backquotes of Markdown
  write ./ARCHITECTURE.md '<!-- rooms -->' '| room | folder | holds | may use |' '|---|---|---|---|' \
    '| `graze` | `include/graze/` | public | nothing |' \
    '| `base` | `src/base/` | ground floor | nothing |' \
    '| `mesh` | `src/mesh/` | meshes | base |' \
    '| `gpu` | `src/gpu/` | devices | base, mesh |' \
    '| `mpi` | planned | ranks | base |' \
    '| `scenes` | `scenes/` | models | nothing |' \
    '| `io` | `io/` | readers | base |' \
    '| `tool` | `tool/` | program | io, scenes, tests |' \
    '| `tests` | `tests/` | tests | everything |' '' '| `attic` | `attic/` | not of the table | nothing |'
  write src/base/array.h '#include <stddef.h>'
  write src/base/good.c '#include "graze/base.h"' '#include "base/array.h"'
  write src/base/up.c '#include "mesh/mesh.h"'
  write src/mesh/mesh.h '#include "base/array.h"'
  write src/mesh/good.c '#include <stdio.h>' '#include "base/made.h"' '#include "mesh.h"' '#include "made.h"'
  write src/mesh/tree/good.c '#include "mesh/tree/tree.h"' '#include "../mesh.h"' '#include "../../base/array.h"'
  write src/mesh/tree/tree.h '#include "mesh/mesh.h"'
  write src/mesh/leaf.inc '# include "gpu/device.h"'
  write src/mesh/attic.c '#include "attic/thing.h"'
  write src/gpu/device.h '#include "mesh/mesh.h"'
  write src/gpu/kernels/portable.h '/* nothing */'
  write src/gpu/kernels/good.cl '#include "portable.h"'
  write src/gpu/kernels/bad.cl '#include "io/text.h"'
  write src/gpu/planned.c '#include "mpi/voxel.h"'
  write src/dust/lost.c '#include "base/array.h"'
  write include/graze/good.h '#include "graze/base.h"'
  write include/graze/private.h '#include "mesh/mesh.h"'
  write scenes/scenes.h '/* nothing */'
  write io/text.h '/* nothing */'
  write io/good.c '#include "graze/io.h"' '#include "text.h"' '#include "base/array.h"'
  write io/private.c '#include "mesh/mesh.h"'
  write tool/good.c '#include "scenes.h"' '#include "io/text.h"'
  write tool/sneaky.c '#include "../src/base/array.h"'
  write tests/good.c '#include "../src/gpu/device.h"' '#include "mesh/mesh.h"'
  found=$(check_tree . | sed 's/:.*//' | LC_ALL=C sort | tr '\n' ' ')
  want="ARCHITECTURE.md include/graze/private.h io/private.c src/base/up.c src/dust/lost.c src/gpu/kernels/bad.cl"
  want="$want src/gpu/planned.c src/mesh/attic.c src/mesh/leaf.inc tool/sneaky.c "
  [ "$found" = "$want" ] || { echo "found: $found"; echo "want:  $want"; exit 1; }
  write ./ARCHITECTURE.md 'no table'
  check_tree . | grep -q 'no table of rooms' || { echo "a page without the table is accepted"; exit 1; }
  exit 0
}

[ "${1:-}" = --self-test ] && self_test
faults=$(check_tree "$1"; check_stray "$1")
[ -z "$faults" ] && exit 0
echo "$faults"
exit 1
