#!/bin/sh
# Builds graze where the optional libraries are not: without libpng, zlib, Draco, the headers of OpenGL and
# those of assimp; as shared libraries, which install_test.sh goes on with.
# Configuring says in a line each what is left out, and a report says in a note each what it has to do without.
#
#     bare_test.sh SOURCE WORK GENERATOR CC
set -eu
source=$1 work=$2 generator=$3 cc=$4
export CC="$cc"
fail() {
  echo "bare_test: $*" >&2
  exit 1
}
quiet() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}
# once FILE TEXT: one line of the file has the text.
once() {
  [ "$(grep -cF "$2" "$1")" -eq 1 ] || { cat "$1" >&2; fail "not in one line: $2"; }
}

# pkg-config sees jansson alone; the paths of headers are given as empty, so that nobody looks for them.
rm -rf "$work/pc" "$work/use"
mkdir -p "$work/pc" "$work/use"
cp "$(pkg-config --variable=pcfiledir jansson)/jansson.pc" "$work/pc"
export PKG_CONFIG_LIBDIR="$work/pc"
unset PKG_CONFIG_PATH
quiet cmake -G "$generator" -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Plain -DGRAZE_WERROR=ON -DBUILD_SHARED_LIBS=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON -DGRAZE_NVCC=OFF -DGRAZE_EGL_INCLUDE_DIR= \
  -DGRAZE_GL_INCLUDE_DIR= -DASSIMP_INCLUDE_DIR= -DDRACO_INCLUDE_DIR= -DGRAZE_TESTS=OFF -DGRAZE_BENCH=OFF -DGRAZE_FUZZ=OFF
for package in libpng-dev libegl-dev zlib1g-dev libassimp-dev libdraco-dev; do once "$work/log" "$package"; done
quiet cmake --build "$work/build" --parallel 2

cd "$work/use"
export PATH="$work/build/bin:$PATH"
quiet graze make pipes -o pipes
rc=0
graze check pipes/scene.json --report report >out 2>notes || rc=$?
[ $rc -eq 1 ] || { cat notes >&2; fail "graze check --report ended with $rc"; }
once notes "graze check: left out: pictures: graze was built without OpenGL (libegl-dev, libgl-dev)"
once notes "graze check: left out: pictures: graze was built without libpng (libpng-dev)"
once notes "zlib1g-dev"
for file in index.html clashes.csv clashes.json junit.xml; do
  [ -s "report/$file" ] || fail "the report has no $file"
done
[ ! -e report/pictures ] && [ ! -e report/clashes.bcf ] || fail "the report has files that this build cannot write"

# A format that needs the import program is refused, and the example of a report does without its picture.
echo '<COLLADA/>' >part.dae
rc=0
graze info part.dae >out 2>notes || rc=$?
[ $rc -eq 3 ] || { cat notes >&2; fail "graze info part.dae ended with $rc"; }
once notes "graze-import"
quiet graze make pipes -o pipes.obj
rc=0
report pipes.obj >out 2>&1 || rc=$?
[ $rc -eq 1 ] && [ -s index.html ] && [ ! -e overview.png ] || { cat out >&2; fail "the example ended with $rc"; }
once out "overview.png: pictures: graze was built without OpenGL"
echo "bare_test: ok"
