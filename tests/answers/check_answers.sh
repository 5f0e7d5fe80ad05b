#!/bin/sh
# Every instruction set gives the same answers: runs answers.c with all that this machine has and with less, and with a
# source and a build folder builds libgraze for aarch64 there, runs the same under qemu, and compares what they print.
# usage: check_answers.sh ANSWERS [SOURCE_FOLDER BUILD_FOLDER]; ends with 77 where a tool is missing
set -eu
answers=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$answers" >"$folder/here"
[ -s "$folder/here" ] || { echo "no answers"; exit 1; }
same() { # WHAT: the answers in $folder/other are those of this machine
  diff "$folder/here" "$folder/other" || { echo "other answers: $1"; exit 1; }
}

if [ $# -eq 1 ]; then
  for disabled in avx512 avx512,avx2; do
    GRAZE_DISABLE=$disabled "$answers" >"$folder/other"
    same "without $disabled"
  done
  exit 0
fi

source=$2
build=$3
for tool in aarch64-linux-gnu-gcc qemu-aarch64 cmake; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: ARM, no $tool (gcc-aarch64-linux-gnu, qemu-user)"; exit 77; }
done
echo 'int main(void) { return 0; }' | aarch64-linux-gnu-gcc -static -x c -o "$folder/empty" - 2>/dev/null ||
  { echo "SKIPPED: ARM, no C library for aarch64 (libc6-dev-arm64-cross)"; exit 77; }
cmake -S "$source" -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_BUILD_TYPE=Release -DGRAZE_WERROR=ON -DGRAZE_IO=OFF -DGRAZE_GPU=OFF \
  -DGRAZE_TOOL=OFF -DGRAZE_TESTS=OFF -DGRAZE_BENCH=OFF -DGRAZE_EXAMPLES=OFF -DGRAZE_FUZZ=OFF >"$folder/log" 2>&1 ||
  { cat "$folder/log"; exit 1; }
cmake --build "$build" --parallel 2 >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
aarch64-linux-gnu-gcc -std=gnu17 -O2 -Wall -Wextra -Werror -static -I"$source/include" -I"$build/include" \
  -I"$source/scenes" -o "$build/answers" "$source/tests/answers/answers.c" "$build/scenes/libgraze_scenes.a" \
  "$build/src/libgraze.a" -lm -lpthread
qemu-aarch64 "$build/answers" >"$folder/other"
same "ARM"
echo "$(wc -l <"$folder/other") answers, the same on ARM"
