#!/bin/sh
# The table of pictures.sh, of rows that are made up here.
#     test_pictures_table.sh FOLDER      a folder to work in, which is emptied
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1"
mkdir -p "$1"
cd "$1"

head='workload,size,engine,instruction_set,threads,repeats,median_s,min_s,worst_s,items,unit,ns_per_item,items_per_s,bytes,count,hash,wrong,ok,note,commit,compiler,cpu'
row() { # WORKLOAD ENGINE SECONDS OK NOTE
  echo "$1,1,$2,x,1,3,$3,$3,$3,1,frame,1,1,0,240,0,0,$4,$5,c,gcc,cpu"
}
expect() { # TEXT: a line of `said` has it, blanks aside
  tr -s ' ' <said | grep -qF -- "$1" || { echo "not said: $1"; cat said; exit 1; }
}
rows() { # DEVICE
  echo "$head"
  row visibility_exact/bunny_dragon reference 0.030 yes ''
  row visibility_exact/bunny_dragon opengl 0.004 yes "$1"
  row visibility_exact/bunny_dragon processor/bake 0.020 yes ''
  row visibility_exact/tree reference 0.035 yes ''
  row visibility_exact/tree opengl 0.002 yes "$1"
  row visibility_pass/put/spheres/256 opengl 0.3 yes "$1"
  row visibility_pass/put/spheres/256 plain/opengl 0.1 yes ''
  row visibility_pass/put/plant/512 opengl 0.4 yes "$1"
  row visibility_pass/put/plant/512 plain/opengl 0.1 yes ''
}

rows 'opengl: a card' >card.csv
awk -f "$here/pictures_table.awk" card.csv >said
expect 'opengl: a card'
expect 'bunny in dragon to exact pairs, OpenGL 4 ms <= 5 ms met'
expect 'its time / baking and asking hierarchies 0.2 times'
expect 'its time / baking and asking hierarchies 1.5 times <= 1 times missed'
expect 'a frame of 150 leaves in the wind, OpenGL 2 ms <= 1 ms missed'
expect 'its time / refitting and asking hierarchies - not run'
expect 'a frame of 150 leaves in the wind, reference device 35 ms <= 35 ms met'
expect '1,000 spheres, 256 x 256, drawn with bounds / plain 3 times <= 3 times met'
expect '1,000 spheres, 256 x 256, held against it / plain - <= 3 times not run'
expect 'plant, 512 x 512, drawn with bounds / plain 4 times <= 3 times missed'

rows 'opengl: llvmpipe (LLVM 15.0.6; 256 bits)' >software.csv
awk -f "$here/pictures_table.awk" software.csv >said
expect 'llvmpipe (LLVM 15.0.6; 256 bits): draws in software'
expect 'its time / baking and asking hierarchies 0.2 times <= 2 times met'
if grep -q '<= 5 ms' said; then echo "a card's target"; exit 1; fi

# Without a driver its rows say why. A wrong answer is said, and is an error.
{ echo "$head"; row visibility_exact/tree opengl 0 failed 'left out: no driver'; } >none.csv
awk -f "$here/pictures_table.awk" none.csv >said
expect 'no OpenGL'
expect 'a frame of 150 leaves in the wind, OpenGL - left out: no driver'
{ cat card.csv; row visibility_exact/tree opengl 0.001 VOID ''; } >void.csv
if awk -f "$here/pictures_table.awk" void.csv >said; then echo "no error"; exit 1; fi
expect 'WRONG ANSWER: visibility_exact/tree opengl'

# Wrong usage.
for wrong in '--budget' '--budget x' '--other' 'a b'; do
  code=0
  # shellcheck disable=SC2086
  "$here/pictures.sh" $wrong >/dev/null 2>&1 || code=$?
  [ "$code" -eq 2 ] || { echo "pictures.sh $wrong: exit code $code"; exit 1; }
done
