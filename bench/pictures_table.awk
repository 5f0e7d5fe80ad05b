# Rows of culling by pictures against their targets. Exit code 1: a row is void.
#     awk -f pictures_table.awk ROWS.csv
BEGIN { FS = "," }

function field(name) { return $(column[name]) }

NR == 1 {
  for (i = 1; i <= NF; i++) column[$i] = i
  next
}

field("workload") == "workload" { next } # of a file that was put together

{
  key = field("workload") SUBSEP field("engine")
  ok[key] = field("ok")
  median[key] = field("median_s")
  note[key] = field("note")
  if (field("engine") == "opengl" && field("ok") == "yes") device = field("note")
  if (field("ok") == "VOID") void[++voids] = field("workload") " " field("engine")
}

function line(label, measured, target, verdict) { printf "  %-52s %14s   %-12s %s\n", label, measured, target, verdict }

function reason(key) {
  if (!(key in ok)) return "not run"
  if (ok[key] == "VOID") return "WRONG ANSWER"
  return ok[key] == "failed" ? note[key] : ""
}

# A time in milliseconds, at most `goal` (0: no target).
function time_row(label, workload, engine, goal,    key, why) {
  key = workload SUBSEP engine
  why = reason(key)
  line(label, why == "" ? sprintf("%.4g ms", 1e3 * median[key]) : "-", goal ? "<= " goal " ms" : "",
       why != "" ? why : !goal ? "" : 1e3 * median[key] <= goal ? "met" : "missed")
}

# How many times as long as another engine in the same rounds, at most `goal`.
function ratio_row(label, workload, engine, other, goal,    key, why, ratio) {
  key = workload SUBSEP engine
  why = reason(key)
  if (why == "") why = reason(workload SUBSEP other)
  ratio = why == "" ? median[key] / median[workload SUBSEP other] : 0
  line(label, why == "" ? sprintf("%.3g times", ratio) : "-", goal ? "<= " goal " times" : "",
       why != "" ? why : !goal ? "" : ratio <= goal ? "met" : "missed")
}

function pass_rows(scene, name) {
  ratio_row(name ", drawn with bounds / plain", "visibility_pass/put/" scene, "opengl", "plain/opengl", 3)
  ratio_row(name ", held against it / plain", "visibility_pass/test/" scene, "opengl", "plain/opengl", 3)
}

END {
  card = device != "" && device !~ /llvmpipe|softpipe/
  print device == "" ? "no OpenGL" : device (card ? "" : ": draws in software")
  bunny = "visibility_exact/bunny_dragon"
  tree = "visibility_exact/tree"
  time_row("bunny in dragon to exact pairs, OpenGL", bunny, "opengl", card ? 5 : 0)
  ratio_row("  its time / baking and asking hierarchies", bunny, "opengl", "processor/bake", card ? 0 : 2)
  time_row("bunny in dragon to exact pairs, reference device", bunny, "reference", 0)
  ratio_row("  its time / baking and asking hierarchies", bunny, "reference", "processor/bake", 1)
  time_row("a frame of 150 leaves in the wind, OpenGL", tree, "opengl", card ? 1 : 0)
  ratio_row("  its time / refitting and asking hierarchies", tree, "opengl", "processor/refit", 0)
  time_row("a frame of 150 leaves in the wind, reference device", tree, "reference", 35)
  pass_rows("spheres/256", "1,000 spheres, 256 x 256")
  pass_rows("spheres/1024", "1,000 spheres, 1024 x 1024")
  pass_rows("plant/512", "plant, 512 x 512")
  for (i = 1; i <= voids; i++) print "  WRONG ANSWER: " void[i]
  exit voids > 0
}
