#!/bin/sh
# The manual pages and the completions name every option that --help names; the pages are troff without a warning, and
# bash completes verbs and options.
#
#     manual_test.sh BIN MANUAL
set -eu
bin=$1 manual=$2
fail() {
  echo "manual_test: $*" >&2
  exit 1
}
"$bin/graze" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -v '^graze$' >verbs
[ "$(wc -l <verbs)" -ge 8 ] || fail "only $(wc -l <verbs) verbs"
grep -q '^\.TH "graze" 1' "$manual/graze.1" || fail "graze.1 has no head"
while read -r verb; do
  page=$manual/graze-$verb.1
  grep -qx "\.B $verb" "$manual/graze.1" || fail "graze.1 lacks $verb"
  "$bin/graze" "$verb" --help | sed -n 's/^ .\{0,6\}\(--[a-z-]*\).*/\1/p' | sort -u >options
  [ "$(wc -l <options)" -ge 9 ] || fail "$verb --help lists $(wc -l <options) options"
  sed -n "s/^    $verb) options='\(.*\)' ;;/\1/p" "$manual/graze.bash" | tr ' ' '\n' >in_bash
  sed -n "/^    $verb)/,/_files' ;;/p" "$manual/_graze" >in_zsh
  while read -r option; do
    sed 's#[\\]##g' "$page" | grep -q -e "fB${option}fR" || fail "graze-$verb.1 lacks $option"
    grep -qx -e "$option" in_bash || fail "graze.bash lacks $verb $option"
    grep -q -e "${option}[=['}]" in_zsh || fail "_graze lacks $verb $option"
  done <options
  if command -v groff >/dev/null; then
    groff -man -ww -Tutf8 "$page" 2>warnings >/dev/null || fail "groff cannot read graze-$verb.1"
    [ ! -s warnings ] || fail "graze-$verb.1: $(head -n 1 warnings)"
  fi
done <verbs

# What the third and fourth argument become.
completed() {
  bash -c '. "$1/graze.bash"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _graze; echo "${COMPREPLY[@]}"' bash "$manual" graze "$@"
}
if command -v bash >/dev/null; then
  [ "$(completed ch)" = check ] || fail "bash does not complete ch"
  [ "$(completed help wat)" = watch ] || fail "bash does not complete help wat"
  [ "$(completed check --rel)" = --relations ] || fail "bash does not complete --rel"
  touch model.glb
  [ "$(completed check mod)" = model.glb ] || fail "bash does not complete a file"
fi
if command -v zsh >/dev/null; then zsh -n "$manual/_graze" || fail "zsh cannot read _graze"; fi
