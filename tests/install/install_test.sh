#!/bin/sh
# Builds and installs graze as a static or a shared library, moves the installed tree, and uses it as a stranger
# would: find_package, pkg-config with plain cc, and the lines and the CMakeLists.txt that README.md shows. A stranger
# who lacks the libraries of the reports can still use the rest of it.
#
#     install_test.sh static|shared SOURCE WORK GENERATOR CC [BUILD]
#
# BUILD is a release build with libraries of that kind. Without it the test makes one, which is not optimised and has
# no PTX: what is tried here is how the parts fit.
set -eu
kind=$1 source=$2 work=$3 generator=$4 cc=$5 built=${6:-$3/build}
export CC="$cc"
unset DESTDIR CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH
fail() {
  echo "install_test ($kind): $*" >&2
  exit 1
}
# Runs a quiet command; its output is shown when it fails.
quiet() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}
# The body of the first fenced block of README.md that opens with "$1" and contains "$2".
readme_block() {
  awk -v fence="\`\`\`$1" -v want="$2" '
    inside && /^```$/ { if (index(text, want)) { printf "%s", text; exit } inside = 0; next }
    inside { text = text $0 "\n" }
    $0 == fence { inside = 1; text = "" }' "$source/README.md"
}

# examples FOLDER OPTION ...: configures the examples in $work/use, a project of its own, with the installed tree.
examples() {
  folder=$1
  shift
  quiet cmake -G "$generator" -S "$work/use" -B "$work/use/$folder" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" "$@"
}
# builds FOLDER NAME: builds the example of that name alone, if the folder has one.
builds() {
  cmake --build "$work/use/$1" --target "$2" >"$work/log" 2>&1 && [ -x "$work/use/$1/$2" ]
}

mkdir -p "$work"
rm -rf "$work/prefix" "$work/moved" "$work/use"
if [ $# -lt 6 ]; then
  shared=OFF
  [ "$kind" = static ] || shared=ON
  quiet cmake -G "$generator" -S "$source" -B "$built" -DCMAKE_BUILD_TYPE=Plain -DCMAKE_C_FLAGS=-DNDEBUG -DGRAZE_NVCC=OFF \
    -DBUILD_SHARED_LIBS=$shared -DGRAZE_TESTS=OFF -DGRAZE_BENCH=OFF -DGRAZE_FUZZ=OFF -DGRAZE_EXAMPLES=OFF
  quiet cmake --build "$built" --parallel 2
fi
# What was installed can be taken away, to the last file and to the folders of its own.
rm -rf "$work/gone"
quiet cmake --install "$built" --prefix "$work/gone"
for file in LICENSE docs/tool.md; do
  [ -f "$work/gone/share/doc/graze/$file" ] || fail "$file was not installed"
done
for file in man/man1/graze.1 bash-completion/completions/graze zsh/site-functions/_graze; do
  [ -f "$work/gone/share/$file" ] || fail "$file was not installed"
done
for verb in $("$work/gone/bin/graze" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -v '^graze$'); do
  [ -f "$work/gone/share/man/man1/graze-$verb.1" ] || fail "graze-$verb.1 was not installed"
done
quiet cmake --build "$built" --target uninstall
left=$(find "$work/gone" ! -type d -o -path '*/graze' | head -n 3)
[ -z "$left" ] || fail "uninstall left $left"

quiet cmake --install "$built" --prefix "$work/prefix"
mv "$work/prefix" "$work/moved"
prefix=$work/moved

# The headers are those of include/graze and version.h, and nothing else was installed among them. Without MPI its
# library is left out, and the header with it.
headers=$(find "$source/include/graze" -name '*.h')
with_mpi=$(find "$prefix" -name 'libgraze_mpi.*' | head -n 1)
if [ -z "$with_mpi" ]; then headers=$(echo "$headers" | grep -v '/mpi\.h$'); fi
for header in $headers version.h; do
  [ -f "$prefix/include/graze/${header##*/}" ] || fail "${header##*/} was not installed"
done
installed=$(find "$prefix/include" -type f | wc -l)
wanted=$(echo "$headers" | wc -l)
[ "$installed" -eq $((wanted + 1)) ] || fail "$installed headers installed, $((wanted + 1)) wanted"

# What is installed does not know where it was built, and so can be used where that is not.
for folder in "$source" "$built" "$work/prefix"; do
  told=$(grep -rlF "$folder" "$prefix" || true)
  [ -z "$told" ] || fail "$folder stands in $told"
done

# Every symbol that the libraries give to a program's linker carries the project's prefix: a program may call its own
# functions whatever it likes.
libdir=$(dirname "$(find "$prefix" -name 'libgraze.*' | head -n 1)")
for library in "$libdir"/libgraze*; do
  [ ! -L "$library" ] || continue
  case $library in
    *.a) nm -g --defined-only "$library" 2>/dev/null ;;
    *.so.*) nm -D --defined-only "$library" ;;
    *) echo "no library: $library" >&2 ;;
  esac | awk 'NF == 3 { print $3 }' >"$work/symbols"
  [ -s "$work/symbols" ] || fail "nm sees no symbol in $library"
  bare=$(grep -vE '^(graze|gz)_' "$work/symbols" | head -n 5 | tr '\n' ' ')
  [ -z "$bare" ] || fail "${library##*/} exports names without a prefix: $bare"
done

# All memory is asked of the context's allocator: only that one, where there is none, calls the C library's.
if [ "$kind" = static ]; then
  for library in "$libdir"/libgraze*.a; do
    taken=$(nm -u "$library" 2>/dev/null | awk '{ print $2 }' |
      grep -xE '(m|c|re|aligned_)alloc|reallocarray|v?asprintf|strn?dup|posix_memalign' | sort -u | tr '\n' ' ')
    case ${library##*/}:$taken in
      *: | libgraze.a:"aligned_alloc ") ;;
      *) fail "${library##*/} calls $taken" ;;
    esac
  done
fi

version=$(cat "$source/VERSION")
"$prefix/bin/graze" --version | grep -F "$version" >/dev/null || fail "the program does not say $version"

export PKG_CONFIG_PATH="$libdir/pkgconfig"
[ "$(pkg-config --modversion graze)" = "$version" ] || fail "pkg-config does not say $version"

# The examples through find_package. A static library of reports built with libpng is found with it only; a shared one
# carries what it needs.
mkdir -p "$work/use"
cp -r "$source"/examples/. "$work/use"
# That of many ranks is built by the compiler of MPI. hwloc, which that brings along, would load drivers of OpenCL.
export HWLOC_COMPONENTS=-opencl,-gl OMPI_CC="$cc"
if [ -z "$with_mpi" ] || ! command -v mpicc >/dev/null; then rm "$work/use/solver_ranks.c"; fi
examples package
quiet cmake --build "$work/use/package"
[ -x "$work/use/package/report" ] || fail "find_package did not find the library of reports"
examples poor -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
builds poor read_and_check || fail "without libpng, find_package does not find the readers"
if [ "$kind" = shared ]; then
  builds poor report || fail "a shared library of reports is not found without libpng's headers"
elif grep -q PNG::PNG "$libdir/cmake/graze/grazeTargets.cmake"; then
  ! builds poor report || fail "without libpng, the static library of reports is found"
fi
# Without any of the packages, pkg-config still knows all but what a static library links.
for package in graze graze_io graze_report graze_check; do
  if [ "$kind" = static ] && [ "$package" != graze ]; then continue; fi
  quiet env PKG_CONFIG_LIBDIR="$libdir/pkgconfig" pkg-config --cflags --libs "$package"
done

# The same through pkg-config and the plain compiler; shared libraries are then found by path.
mkdir -p "$work/use/plain"
if [ "$kind" = shared ]; then
  export LD_LIBRARY_PATH="$libdir"
fi
for example in "$work"/use/*.c; do
  package=graze
  if grep -q 'graze/io.h' "$example"; then package=graze_io; fi
  if grep -q 'graze/report.h' "$example"; then package=graze_report; fi
  if grep -q 'graze/check.h' "$example"; then package=graze_check; fi
  compiler=$cc
  if grep -q 'graze/mpi.h' "$example"; then package=graze_mpi compiler=mpicc; fi
  # shellcheck disable=SC2046 # words on purpose
  quiet "$compiler" -std=c17 -Wall -Wextra -Werror "$example" $(pkg-config --cflags --libs $package) \
    -o "$work/use/plain/$(basename "$example" .c)"
done

# A program whose own functions have names that the library once used for others.
# shellcheck disable=SC2046 # words on purpose
quiet "$cc" -std=c17 -Wall -Wextra -Werror "$source/examples/two_meshes.c" "$source/tests/install/common_names.c" \
  $(pkg-config --cflags --libs graze) -o "$work/use/plain/common_names"
(cd "$work/use/plain" && ./two_meshes >two_meshes.alone || ./common_names >common_names.out) || true
cmp "$work/use/plain/two_meshes.alone" "$work/use/plain/common_names.out" ||
  fail "functions of the program's own change the answer"

# Every example runs, and both builds of it say the same.
cd "$work/use"
quiet "$prefix/bin/graze" make pipes -o pipes
quiet "$prefix/bin/graze" make pipes -o pipes.obj
for example in *.c; do
  name=${example%.c}
  set --
  if [ "$name" = read_and_check ]; then set -- ../pipes/tube.obj ../pipes/core.obj; fi
  if [ "$name" = report ]; then set -- ../pipes.obj; fi
  if [ "$name" = falling_balls ]; then set -- 100; fi
  if [ "$name" = check ]; then set -- ../pipes/scene.json checked; fi
  for build in package plain; do
    rc=0
    (cd "$build" && "./$name" "$@" >"$name.out" 2>&1 </dev/null) || rc=$?
    echo "exit $rc" >>"$build/$name.out"
    [ $rc -le 1 ] || { cat "$build/$name.out" >&2; fail "$build/$name ended with $rc"; }
  done
  cmp "package/$name.out" "plain/$name.out" || fail "two builds of $name say different things"
done

# The example of a report wrote its files, and found what the program finds.
rc=0
"$prefix/bin/graze" check --split pipes.obj --report program >program.out 2>&1 || rc=$?
[ $rc -eq 1 ] || { cat program.out >&2; fail "graze check --report ended with $rc"; }
for build in package plain; do
  [ -s "$build/index.html" ] || fail "$build/report wrote no page"
  cmp "$build/clashes.csv" program/clashes.csv || fail "$build/report and graze check find different things"
  if [ -e program/overview.png ]; then
    cmp "$build/overview.png" program/overview.png || fail "$build/report paints something else than graze check"
  fi
done

# That of a whole check writes what the program writes, but for the times.
export SOURCE_DATE_EPOCH=1700000000
"$prefix/bin/graze" check pipes/scene.json --report whole >whole.out 2>&1 || true
./package/check pipes/scene.json checked >checked.out 2>&1 || true
[ -s whole/index.html ] || { cat whole.out >&2; fail "graze check wrote no page"; }
diff -r whole checked || fail "the example of a check and graze check --report write different things"

# What README.md tells a stranger to write.
mkdir readme
cp two_meshes.c readme
cd readme
readme_block cmake find_package >CMakeLists.txt
[ -s CMakeLists.txt ] || fail "README.md has no CMake block with find_package"
quiet cmake -G "$generator" -S . -B build -DCMAKE_PREFIX_PATH="$prefix"
quiet cmake --build build
command=$(readme_block sh 'pkg-config' | grep '^cc ') || fail "README.md has no line with cc and pkg-config"
quiet sh -euc "$command"
rc=0
./two_meshes >out 2>&1 || rc=$?
echo "exit $rc" >>out
cmp out ../plain/two_meshes.out || fail "the program built as README.md says answers something else"
echo "install_test ($kind): ok"
