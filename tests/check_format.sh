#!/bin/sh
# Checks that every C file is as clang-format leaves it. usage: check_format.sh SOURCE_FOLDER [CLANG_FORMAT]
cd "$1" || exit 1
files=$(find include src io report check tool scenes tests bench fuzz examples \( -name '*.[ch]' -o -name '*.inc' ! -name powers_of_five.inc \) 2>/dev/null)
[ -n "$files" ] || { echo "no C files below $1"; exit 1; }
# shellcheck disable=SC2086 # names in this tree have no blanks
"${2:-clang-format}" --dry-run -Werror $files
