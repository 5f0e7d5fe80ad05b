#!/bin/sh
# The rule of the house: a room includes what stands above it in this list, never what stands below.
#   base exact geometry mesh broad narrow scene dynamics; gpu, gl, visibility, mpi are leaves
# io, report, tool, examples and scenes use public headers (graze/...) and their own room only, report src/gl too;
# bench, fuzz and tests may look behind them.
# usage: check_rooms.sh SOURCE_FOLDER | check_rooms.sh --self-test
set -u

floors="base exact geometry mesh broad narrow scene dynamics"
leaves="gpu gl visibility mpi"

number_of() { # the floor of a room, 0 when it is none
  n=1
  for room in $floors; do
    [ "$room" = "$1" ] && { echo $n; return; }
    n=$((n + 1))
  done
  for room in $leaves; do
    [ "$room" = "$1" ] && { echo $n; return; }
  done
  echo 0
}

quoted_includes() { # FILE: lines "number name" of its #include "name"
  grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$1" | sed 's/^\([0-9]*\):[^"]*"\([^"]*\)".*/\1 \2/'
}

check_source() { # FILE below src/ROOM
  room=$(echo "$1" | sed 's|^src/||;s|/.*||')
  own=$(number_of "$room")
  [ "$own" -eq 0 ] && { echo "$1: src/$room is no room"; return; }
  quoted_includes "$1" | while read -r line name; do
    case $name in
      graze/*) continue ;;
      */*) target=${name%%/*} ;;
      *) target=$room ;;
    esac
    other=$(number_of "$target")
    if [ "$other" -eq 0 ]; then
      echo "$1:$line: includes \"$name\", which belongs to no room"
    elif [ "$other" -gt "$own" ] || { [ "$other" -eq "$own" ] && [ "$target" != "$room" ]; }; then
      # a leaf may use the house, and visibility the gl room
      [ "$room/$target" = visibility/gl ] && continue
      echo "$1:$line: room $room includes \"$name\" of room $target, which stands below it"
    fi
  done
}

check_outside() { # FILE outside src: public headers, headers of its own room or of scenes, generated ones
  quoted_includes "$1" | while read -r line name; do
    case $name in
      graze/*) continue ;;
      gl/*) [ "${1%%/*}" = report ] && continue ;;
      *src/*) ;;
      *) [ -e "src/$name" ] && ! [ -e "${1%/*}/$name" ] || continue ;;
    esac
    echo "$1:$line: includes \"$name\", which is private to the library"
  done
}

check_header() { # FILE below include/graze: other public headers only
  quoted_includes "$1" | while read -r line name; do
    case $name in
      graze/*) ;;
      *) echo "$1:$line: a public header includes the private \"$name\"" ;;
    esac
  done
}

check_tree() {
  cd "$1" || exit 1
  find src -name '*.[ch]' | sort | while read -r file; do check_source "$file"; done
  find include -name '*.h' | sort | while read -r file; do check_header "$file"; done
  find io report tool examples scenes -name '*.[ch]' 2>/dev/null | sort | while read -r file; do check_outside "$file"; done
}

self_test() { # a small house with every kind of fault: each must be found, and nothing else
  house=$(mktemp -d) || exit 1
  trap 'rm -rf "$house"' EXIT
  mkdir -p "$house"/src/base "$house"/src/mesh "$house"/src/gpu "$house"/src/mpi "$house"/include/graze "$house"/io "$house"/tool
  cd "$house" || exit 1
  echo '#include "graze/base.h"' >src/base/good.c
  echo '#include "mesh/mesh.h"' >src/base/up.c
  printf '#include <stdio.h>\n#include "base/array.h"\n#include "mesh.h"\n' >src/mesh/good.c
  echo '# include "gpu/device.h"' >src/mesh/leaf.c
  echo '#include "mpi/voxel.h"' >src/gpu/sibling.c
  echo '#include "attic/thing.h"' >src/mesh/attic.c
  echo '#include "mesh/mesh.h"' >include/graze/mesh.h
  printf '#include "graze/io.h"\n#include "text.h"\n' >io/good.c
  : >io/text.h
  : >src/mesh/mesh.h
  echo '#include "mesh/mesh.h"' >tool/private.c
  echo '#include "../src/mesh/mesh.h"' >tool/sneaky.c
  found=$(check_tree . | sed 's/:.*//' | sort | tr '\n' ' ')
  want="include/graze/mesh.h src/base/up.c src/gpu/sibling.c src/mesh/attic.c src/mesh/leaf.c tool/private.c tool/sneaky.c "
  [ "$found" = "$want" ] && exit 0
  echo "found: $found"
  echo "want:  $want"
  exit 1
}

[ "${1:-}" = --self-test ] && self_test
faults=$(check_tree "$1")
[ -z "$faults" ] && exit 0
echo "$faults"
exit 1
