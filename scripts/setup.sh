# Finds what a build lacks and installs it. Sourced by demo.sh and test.sh:
#
#     . scripts/setup.sh
#     setup_packages demo      # compiler, cmake, ninja, jansson, libpng, OpenGL without a display, headers of OpenCL
#     setup_extras             # what more file formats need: assimp, Draco, a C++ compiler; goes on without them
#     setup_packages test      # all of these and everything the tests use
#
# A thing is missing when it cannot be used, whoever installed it, so a compiler or a CMake of your own counts. What
# is missing comes from apt on Debian and its relatives; elsewhere the list is printed and the script ends with 1.
# shellcheck shell=sh

# Rows: list, Debian package, how to see that it is there (program NAME, header NAME, or probe FUNCTION).
setup_table='
demo gcc             probe   compiler
demo libc6-dev       header  stdio.h
demo cmake           probe   cmake
demo ninja-build     probe   ninja
demo pkg-config      program pkg-config
demo libjansson-dev  header  jansson.h
demo zlib1g-dev      header  zlib.h
demo libpng-dev      header  png.h
demo libegl-dev      header  EGL/egl.h
demo libgl-dev       header  GL/glcorearb.h
demo libgl1-mesa-dri probe   opengl
demo opencl-headers  header  CL/cl.h
more libassimp-dev   header  assimp/cimport.h
more libdraco-dev    probe   draco
more g++             probe   cxx
test ocl-icd-libopencl1 probe opencl_loader
test pocl-opencl-icd probe   opencl_driver
test oclgrind        program oclgrind
test libcmocka-dev   probe   cmocka
test libgmp-dev      header  gmp.h
test libassimp-dev   header  assimp/cimport.h
test g++             program g++
test libdraco-dev    probe   draco
test libmeshoptimizer-dev header meshoptimizer.h
test libopenmpi-dev  program mpicc
test openmpi-bin     program mpiexec
test python3         program python3
test xz-utils        program xz
test clang           program clang
test clang-format    program clang-format
test clang-tidy      program clang-tidy
test doxygen         program doxygen
test shellcheck      program shellcheck
test chromium        program chromium
test libclang-rt-dev probe   fuzzer
'

# Compiles the program on standard input with "$@" and throws the result away.
setup_compiles() {
  setup_object=$(mktemp) || return 1
  setup_rc=0
  "$@" -x c -o "$setup_object" - >/dev/null 2>&1 || setup_rc=1
  rm -f "$setup_object"
  return "$setup_rc"
}

setup_have_compiler() { command -v "${CC:-cc}" >/dev/null; }

setup_have_cxx() { command -v "${CXX:-c++}" >/dev/null; }

# 3.21 is the first CMake that reads the presets.
setup_have_cmake() {
  setup_version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  # shellcheck disable=SC2086 # two words on purpose
  set -- $setup_version
  [ $# -eq 2 ] && { [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 21 ]; }; }
}

setup_have_ninja() { command -v ninja >/dev/null || command -v make >/dev/null; }

# Is one of the files there? For patterns, which stay as they are when they match nothing.
setup_any() {
  for setup_file in "$@"; do
    [ ! -e "$setup_file" ] || return 0
  done
  return 1
}

# A driver for off-screen OpenGL: Mesa's software one, or another vendor's for EGL.
setup_have_opengl() {
  setup_any /usr/lib/*/dri/swrast_dri.so /usr/lib/dri/swrast_dri.so /usr/lib64/dri/swrast_dri.so \
    /usr/share/glvnd/egl_vendor.d/*nvidia.json /etc/glvnd/egl_vendor.d/*nvidia.json
}

# What opens the drivers of OpenCL, and a driver: PoCL, or another vendor's.
setup_have_opencl_loader() {
  setup_any /usr/lib/*/libOpenCL.so.1 /usr/lib/libOpenCL.so.1 /usr/lib64/libOpenCL.so.1
}

setup_have_opencl_driver() { setup_any /etc/OpenCL/vendors/*.icd; }

setup_have_cmocka() {
  printf '%s\n' '#include <stdarg.h>' '#include <stddef.h>' '#include <stdint.h>' '#include <setjmp.h>' \
    '#include <cmocka.h>' | setup_compiles "${CC:-cc}" -c
}

# Its headers are of C++, and their names are all that is looked at.
setup_have_draco() { setup_any /usr/include/draco/compression/decode.h /usr/local/include/draco/compression/decode.h; }

setup_have_fuzzer() {
  echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d,
        unsigned long n) { (void)d; (void)n; return 0; }' | setup_compiles clang -fsanitize=fuzzer,address,undefined
}

# Is the thing of one row (kind, name) there?
setup_have() {
  case $1 in
    program) command -v "$2" >/dev/null ;;
    header) echo "#include <$2>" | setup_compiles "${CC:-cc}" -c ;;
    probe) "setup_have_$2" ;;
  esac
}

# Prints the packages of the list "$1" that are missing; "test" is all lists.
setup_missing() {
  echo "$setup_table" | while read -r setup_list setup_package setup_kind setup_name; do
    case "$setup_list:$1" in
      demo:demo | more:more | *:test) setup_have "$setup_kind" "$setup_name" </dev/null || printf '%s ' "$setup_package" ;;
    esac
  done
}

setup_apt() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@"
  fi
}

# The libFuzzer runtime's package carries the version of clang.
setup_versioned() {
  for setup_package in "$@"; do
    if [ "$setup_package" = libclang-rt-dev ]; then
      setup_major=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
      [ -n "$setup_major" ] || continue
      printf 'libclang-rt-%s-dev ' "$setup_major"
    else
      printf '%s ' "$setup_package"
    fi
  done
}

setup_refuse() {
  echo "Missing: $1" >&2
  echo "These are Debian's package names. $2" >&2
  exit 1
}

# Makes sure that the list "$1" (demo or test) is there.
setup_packages() {
  setup_want=$(setup_missing "$1")
  [ -n "$setup_want" ] || return 0
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    setup_refuse "$setup_want" "Install what your system calls them, then start again."
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    setup_refuse "$setup_want" "Install them as root: apt-get install --no-install-recommends $setup_want"
  fi
  echo "Installing: $setup_want" >&2
  setup_apt update >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
  # Twice: the second round finds what could be named only once clang was there.
  for setup_round in 1 2; do
    # shellcheck disable=SC2086 # one word a package
    setup_names=$(setup_versioned $setup_want)
    if [ -n "$setup_names" ]; then
      # shellcheck disable=SC2086 # one word a package
      setup_apt install -y --no-install-recommends $setup_names >&2 || setup_refuse "$setup_names" "apt-get failed."
    fi
    setup_want=$(setup_missing "$1")
    [ -n "$setup_want" ] || return 0
  done
  setup_refuse "$setup_want" "apt-get installed them, yet they cannot be used (round $setup_round)."
}

# Installs what can be had of the list "more". Without it the build leaves out what needs it, and so does this where
# there is no apt, no network, or no way to become root without a password.
setup_extras() {
  setup_want=$(setup_missing more)
  [ -n "$setup_want" ] || return 0
  if command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
    echo "Installing: $setup_want" >&2
    setup_apt -o Acquire::http::Timeout=10 update >&2 || true
    for setup_package in $setup_want; do
      setup_apt -o Acquire::http::Timeout=10 install -y --no-install-recommends "$setup_package" >&2 || true
    done
    setup_want=$(setup_missing more)
  fi
  [ -z "$setup_want" ] || echo "Going on without ${setup_want% }: some file formats will not be read" >&2
}

# Configures the preset "$1" with the other arguments, with Ninja where a new build folder can have it.
setup_configure() {
  setup_preset=$1
  setup_folder=$2
  shift 2
  if [ ! -e "$setup_folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then
    set -- -G Ninja "$@"
  fi
  cmake --preset "$setup_preset" -B "$setup_folder" "$@"
}
