#!/bin/sh
# The table of gpu.sh and that of roofline.py, of rows that are made up here.
#     test_gpu_table.sh FOLDER      a folder to work in, which is emptied
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1"
mkdir -p "$1"
cd "$1"

head='workload,size,engine,instruction_set,threads,repeats,median_s,min_s,worst_s,items,unit,ns_per_item,items_per_s,bytes,count,hash,wrong,ok,note,commit,compiler,cpu'
row() { # WORKLOAD ENGINE SECONDS RATE OK NOTE
  echo "$1,1,$2,x,1,3,$3,$3,$3,1,key,1,$4,0,240,0,0,$5,$6,c,gcc,cpu"
}
expect() { # TEXT: a line of `said` has it, blanks aside
  tr -s ' ' <said | grep -qF -- "$1" || { echo "not said: $1"; cat said; exit 1; }
}

{
  echo "$head"
  row gpu_sort32/cuda:0/16777216 gpu/cuda:0 0.001 16e9 yes 'NVIDIA H200'
  row gpu_boxes/uniform/cuda:0/1000000 gpu/cuda:0_kernels 0.0005 2e9 yes 'NVIDIA H200'
  row gpu_triangles/waves/cuda:0/224 gpu/cuda:0 0.01 1e12 yes 'NVIDIA H200'
  row gpu_triangles/waves/cuda:0/224 tutorial/collide 0.5 2e10 yes ''
  row gpu_triangles/walls/cuda:0/5 tutorial/judge 0.5 2e10 no 'missed 5894 of 8064 pairs; invented 0'
  row gpu_tree_build/uniform/cuda:0/1000000 gpu/cuda:0 0.001 1e9 yes ''
  row gpu_tree_refit/uniform/cuda:0/1000000 gpu/cuda:0 0.0005 2e9 yes ''
  row gpu_sort32/opencl:0/16777216 gpu/opencl:0 0 0 failed 'left out: no room'
} >rows.csv
awk -f "$here/gpu_table.awk" rows.csv >said
expect 'sort, 16777216 pairs of 32 bits 16 Gpairs/s >= 10 Gpairs/s met'
expect 'boxes, 1000000, on the device 0.5 ms <= 0.5 ms met'
expect 'boxes, 10000000, on the device - <= 3 ms not run'
expect 'triangles, 2 x 224^2, each with each 1 Tpairs/s >= 1 Tpairs/s met'
expect 'its time / ours 50 times >= 25 times met'
expect 'hierarchy of 1000000 boxes 1 ms <= 0.5 ms missed'
expect 'tree_refit/uniform/1000000 2 G/s'
expect "the tutorial's kernel, walls/5: missed 5894 of 8064 pairs; invented 0"
expect 'sort, 16777216 pairs of 32 bits - >= 10 Gpairs/s left out: no room'

# A wrong answer is said, and is an error.
row gpu_scan/cuda:0/16777216 gpu/cuda:0 0.001 1e9 VOID '' >>rows.csv
if awk -f "$here/gpu_table.awk" rows.csv >said; then echo "a void row is no error"; exit 1; fi
expect 'WRONG ANSWER: gpu_scan/cuda:0/16777216 gpu/cuda:0'

# 16 of 53.3 G; of rows of other devices, and of void ones, nothing.
row broad/uniform/1000000 cpu/auto 1 1e6 yes '' >>rows.csv
sed -i 's|^\(gpu_boxes.*\)NVIDIA H200|\1another|' rows.csv
printf '%s\n' '<!-- made by bench/roofline.py -->' '<!-- to here -->' >page.md
python3 "$here/roofline.py" . page.md
cp page.md said
expect '| sort32, 16,777,216 pairs | 53.3 G | 16 G (cuda:0) | 0.30 |'
expect '| scan, 16,777,216 numbers | 400 G | not measured | not measured |'
expect '| boxes, uniform, 1,000,000 |'
if grep '^| boxes' said | grep -qv 'not measured$\|not measured |$'; then echo "another device counts"; exit 1; fi
python3 "$here/roofline.py" --check . page.md
sed -i 's/0\.30/0.31/' page.md
if python3 "$here/roofline.py" --check . page.md 2>/dev/null; then echo "an old table is not seen"; exit 1; fi
