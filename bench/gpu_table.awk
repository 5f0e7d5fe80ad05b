# Rows of devices against their targets, a table for each device. Exit code 1: a row is void.
#     awk -f gpu_table.awk ROWS.csv
BEGIN { FS = "," }

function field(name) { return $(column[name]) }

NR == 1 {
  for (i = 1; i <= NF; i++) column[$i] = i
  next
}

field("workload") == "workload" { next } # of a file that was put together

match(field("workload"), /(opencl|cuda):[0-9]+/) {
  device = substr(field("workload"), RSTART, RLENGTH)
  if (!(device in known)) { known[device] = 1; devices[++device_count] = device }
  name = field("workload")
  sub("/" device, "", name)
  engine = field("engine")
  sub("gpu/" device, "gpu", engine)
  key = device SUBSEP name SUBSEP engine
  ok[key] = field("ok")
  median[key] = field("median_s")
  rate[key] = field("items_per_s")
  note[key] = field("note")
  if (ok[key] == "VOID") { void[++voids] = field("workload") " " field("engine") }
  if (!(key in listed)) { listed[key] = 1; keys[++key_count] = key }
}

function scaled(x, unit,    i) {
  i = 0
  while (x >= 1000 && i < 4) { x /= 1000; i++ }
  return sprintf("%.3g %s%s", x, substr(" kMGT", i + 1, 1), unit)
}

function line(label, measured, target, verdict) { printf "  %-46s %16s   %-16s %s\n", label, measured, target, verdict }

function reason(key) {
  if (!(key in ok)) return "not run"
  if (ok[key] == "VOID") return "WRONG ANSWER"
  return ok[key] == "failed" ? note[key] : ""
}

# A time in milliseconds, at most `goal` (0: no target).
function time_row(label, name, engine, goal,    key, why) {
  key = device SUBSEP name SUBSEP engine
  why = reason(key)
  line(label, why == "" ? sprintf("%.4g ms", 1e3 * median[key]) : "-", goal ? "<= " goal " ms" : "",
       why != "" ? why : !goal ? "" : 1e3 * median[key] <= goal ? "met" : "missed")
}

# Items a second, at least `goal`.
function rate_row(label, name, engine, unit, goal,    key, why) {
  key = device SUBSEP name SUBSEP engine
  why = reason(key)
  line(label, why == "" ? scaled(rate[key], unit) : "-", goal ? ">= " scaled(goal, unit) : "",
       why != "" ? why : !goal ? "" : rate[key] >= goal ? "met" : "missed")
}

# How many times as long the tutorial's kernel takes, at least `goal`.
function factor_row(label, name, goal,    own, other, why, factor) {
  own = device SUBSEP name SUBSEP "gpu"
  other = device SUBSEP name SUBSEP "tutorial/collide"
  why = reason(own) != "" ? reason(own) : reason(other)
  if (why == "") factor = median[other] / median[own]
  line(label, why == "" ? sprintf("%.3g times", factor) : "-", ">= " goal " times",
       why != "" ? why : factor >= goal ? "met" : "missed")
}

# Rows of a family, whatever they are.
function family_rows(family,    i, part) {
  for (i = 1; i <= key_count; i++) {
    split(keys[i], part, SUBSEP)
    if (part[1] == device && index(part[2], family "/") == 1 && part[3] ~ /^gpu/)
      rate_row(substr(part[2], 5) substr(part[3], 4), part[2], part[3], "/s", 0)
  }
}

function mistakes(    i, part) {
  for (i = 1; i <= key_count; i++) {
    split(keys[i], part, SUBSEP)
    if (part[1] == device && part[3] ~ /^tutorial/ && ok[keys[i]] == "no")
      printf "  the tutorial's kernel, %s: %s\n", substr(part[2], index(part[2], "/") + 1), note[keys[i]]
  }
}

# Of the sizes (separated by blanks) the first that was run, else the first.
function size_run(name, engine, sizes,    size, i, n) {
  n = split(sizes, size, " ")
  for (i = 1; i <= n; i++)
    if ((device SUBSEP name "/" size[i] SUBSEP engine) in ok) return size[i]
  return size[1]
}

function table(    n) {
  print device
  line("", "measured", "target", "")
  n = size_run("gpu_sort32", "gpu", "16777216 1048576")
  rate_row("sort, " n " pairs of 32 bits", "gpu_sort32/" n, "gpu", "pairs/s", n == 16777216 ? 10e9 : 0)
  n = size_run("gpu_boxes/uniform", "gpu", "1000000 100000")
  time_row("boxes, " n ", on the device", "gpu_boxes/uniform/" n, "gpu_kernels", n == 1000000 ? 0.5 : 0)
  time_row("the same, by subdivision", "gpu_boxes/uniform/" n, "gpu_subdivision_kernels", 0)
  time_row("the same, by a hierarchy", "gpu_boxes/uniform/" n, "gpu_tree_kernels", 0)
  time_row("boxes, " n ", transfers included", "gpu_boxes/uniform/" n, "gpu", 0)
  time_row("boxes, 10000000, on the device", "gpu_boxes/uniform/10000000", "gpu_kernels", 3)
  n = size_run("gpu_triangles/waves", "gpu", "224 90 45 22")
  rate_row("triangles, 2 x " n "^2, each with each", "gpu_triangles/waves/" n, "gpu", "pairs/s", 1e12)
  time_row("the same with hierarchies on the device", "gpu_triangles/waves/" n, "gpu_tree", 0)
  n = size_run("gpu_triangles/waves", "tutorial/collide", "224 90 45 22")
  rate_row("the tutorial's kernel, 2 x " n "^2", "gpu_triangles/waves/" n, "tutorial/collide", "pairs/s", 0)
  factor_row("its time / ours", "gpu_triangles/waves/" n, 25)
  time_row("repeated question, 1000 x 1000, all pairs", "gpu_triangles/repeated/1000", "gpu", 0)
  time_row("repeated question, 1000 x 1000, how many", "gpu_triangles/repeated/1000", "gpu_count", 0.05)
  time_row("repeated question, all poses in one call", "gpu_triangles/repeated/1000", "gpu_poses", 0)
  time_row("repeated question, the tutorial's kernel", "gpu_triangles/repeated/1000", "tutorial/collide", 0)
  n = size_run("gpu_triangles/blobs", "gpu_tree", "8 6 3")
  time_row("two blobs of 20 x 4^" n " triangles, hierarchies", "gpu_triangles/blobs/" n, "gpu_tree", n == 8 ? 3 : 0)
  n = size_run("gpu_tree_build/uniform", "gpu", "1000000 100000")
  time_row("hierarchy of " n " boxes", "gpu_tree_build/uniform/" n, "gpu", n == 1000000 ? 0.5 : 0)
  rate_row("hierarchy of 10000000 boxes", "gpu_tree_build/uniform/10000000", "gpu", "boxes/s", 1.5e9)
  family_rows("gpu_tree_refit")
  family_rows("gpu_tree_pairs")
  family_rows("gpu_spheres")
  mistakes()
  print ""
}

END {
  for (d = 1; d <= device_count; d++) {
    device = devices[d]
    table()
  }
  for (i = 1; i <= voids; i++) print "WRONG ANSWER: " void[i]
  exit voids > 0
}
