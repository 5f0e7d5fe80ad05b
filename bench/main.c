/* bench/main.c: graze-bench, the command line. README.md says what the rows mean. */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "peer_link.h"
#include "report.h"

static const char usage[] =
    "usage: graze-bench [options]\n"
    "  --list             names of the workloads, nothing is run\n"
    "  --filter GLOB      only workloads whose name matches, such as 'boolean/*' or '@(self|wave)/*'\n"
    "  --repeats N        timed rounds (9; with --quick 3)\n"
    "  --threads N        threads of the library (1: pinned to one core; 0: all)\n"
    "  --core N           the core for one-thread runs (the last one)\n"
    "  --out FILE.csv     rows go there (standard output)\n"
    "  --append           keep the rows that the file has\n"
    "  --meshes DIR       folder with stanford-bunny.obj, dragon_vrip_res2.ply, armadillo.obj, poses.csv\n"
    "  --poses FILE       pose list (DIR/poses.csv)\n"
    "  --work DIR         folder for inputs and found poses (a temporary one)\n"
    "  --peers            run the peer programs that were built\n"
    "  --peers-dir DIR    folder with graze-peer-* (where graze-bench is)\n"
    "  --device ID        of devices only this one, as cuda:0\n"
    "  --devices          lists the devices, nothing is run\n"
    "  --budget N         begin no workload after N seconds\n"
    "  --quick            small inputs, few rounds\n"
    "  --large            also the plane of 4 million triangles, and a million boxes\n";

bool bench_wants(bench *b, const char *format, ...) {
  char name[96];
  va_list list;
  va_start(list, format);
  vsnprintf(name, sizeof name, format, list);
  va_end(list);
  if (b->filter && fnmatch(b->filter, name, FNM_EXTMATCH)) return false;
  if (b->budget > 0 && seconds_now() - b->start > b->budget) {
    fprintf(stderr, "%s: left out, for the time is up\n", name);
    return false;
  }
  if (b->list) printf("%s\n", name);
  return !b->list;
}

static int number(const char *text, const char *option) {
  char *end;
  long n = strtol(text, &end, 10);
  if (end == text || *end || n < 0 || n > 1000000) {
    fprintf(stderr, "graze-bench: --%s wants a number, not '%s'\n", option, text);
    exit(2);
  }
  return (int)n;
}

typedef struct arguments {
  const char *out, *work;
  bool append, help, devices;
} arguments;

/* One option: where its value goes, by type. */
typedef struct rule {
  const char *name;
  bool *flag;
  int *number;
  const char **text;
} rule;

static void store(const rule *r, const char *value) {
  if (r->flag) *r->flag = true;
  if (r->number) *r->number = number(value, r->name);
  if (r->text) *r->text = value;
}

static void parse(int argc, char **argv, bench *b, arguments *a) {
  const rule rules[] = {{.name = "list", .flag = &b->list},         {.name = "filter", .text = &b->filter},
                        {.name = "repeats", .number = &b->repeats}, {.name = "threads", .number = &b->threads},
                        {.name = "core", .number = &b->core},       {.name = "out", .text = &a->out},
                        {.name = "append", .flag = &a->append},     {.name = "meshes", .text = &b->meshes},
                        {.name = "poses", .text = &b->pose_file},   {.name = "work", .text = &a->work},
                        {.name = "peers", .flag = &b->with_peers},  {.name = "peers-dir", .text = &b->peers_folder},
                        {.name = "quick", .flag = &b->quick},       {.name = "large", .flag = &b->large},
                        {.name = "device", .text = &b->device},     {.name = "devices", .flag = &a->devices},
                        {.name = "budget", .number = &b->budget},   {.name = "help", .flag = &a->help}};
  struct option options[COUNT_OF(rules) + 1] = {0};
  for (size_t i = 0; i < COUNT_OF(rules); i++) {
    options[i].name = rules[i].name;
    options[i].has_arg = rules[i].flag ? no_argument : required_argument;
  }
  int found, c;
  while ((c = getopt_long(argc, argv, "", options, &found)) == 0) store(&rules[found], optarg);
  if (a->help) {
    fputs(usage, stdout);
    exit(0);
  }
  if (c == -1 && optind == argc) return;
  if (c == -1) fprintf(stderr, "graze-bench: '%s' is not an option\n", argv[optind]);
  fputs(usage, stderr);
  exit(2);
}

/* The folder of this program. */
static char *own_folder(void) {
  static char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = 0;
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
  return slash ? path : strcpy(path, ".");
}

static void find_meshes(bench *b) {
  static char poses[4096];
  static const char beside[] = "../shared/data/meshes";
  if (!b->meshes && !access(beside, R_OK)) b->meshes = beside;
  if (b->pose_file || !b->meshes) return;
  snprintf(poses, sizeof poses, "%s/poses.csv", b->meshes);
  if (!access(poses, R_OK)) b->pose_file = poses;
}

static void print_log(void *user, graze_log_level level, const char *message) {
  (void)user;
  if (level == GRAZE_LOG_ERROR) fprintf(stderr, "graze: %s\n", message);
}

graze_context *bench_context(const bench *b) {
  graze_context_def def = graze_default_context_def();
  graze_context *context;
  def.threads = b->threads;
  def.log = print_log;
  must(graze_context_create(&def, &context), "graze_context_create");
  return context;
}

/* 0: there are some. */
static int list_devices(bench *b) {
  int result = 1;
  b->context = bench_context(b);
#ifdef BENCH_GPU
  result = work_gpu_list(b) ? 0 : 1;
#else
  fprintf(stderr, "graze-bench: built without devices\n");
#endif
  graze_context_destroy(b->context);
  return result;
}

static void run_all(bench *b) {
  b->context = bench_context(b);
  work_tritri(b);
  work_plain(b);
  work_build(b);
  work_boolean(b);
  work_pairs(b);
  work_self(b);
  work_relate(b);
  work_round(b);
  work_wave(b);
  work_ccd(b);
  work_convex(b);
  work_motion(b);
  work_clearance(b);
  work_particles(b);
  work_rigid(b);
  work_distance(b);
  work_gap(b);
#ifdef BENCH_IO
  work_read(b);
#endif
  work_broad(b);
  work_bed(b);
  work_report_bodies(b);
  work_report_frames(b);
#ifdef BENCH_MPI
  work_mpi(b);
#endif
#ifdef BENCH_GL
  work_visibility(b);
  work_visibility_exact(b);
#endif
#ifdef BENCH_GPU
  work_gpu(b);
#endif
  graze_context_destroy(b->context);
}

static void prepare(bench *b, const arguments *a) {
  static char folder[] = "/tmp/graze-bench-XXXXXX";
  if (a->work && mkdir(a->work, 0777) && errno != EEXIST) fail("%s: %s", a->work, strerror(errno));
  b->work_folder = a->work ? a->work : mkdtemp(folder);
  if (!b->work_folder) fail("no temporary folder: %s", strerror(errno));
  if (!b->peers_folder) b->peers_folder = own_folder();
  if (!b->threads) b->threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (b->threads == 1) pin_to_core(b->core);
  if (b->with_peers) b->peers = peers_start(b->peers_folder);
  if (b->with_peers && !b->peers->count) fail("no graze-peer-* in %s", b->peers_folder);
  b->report = report_open(a->out, a->append, b->threads);
}

/* Found poses are all that may be left in a temporary folder. */
static void remove_folder(const char *folder) {
  char *pattern = text_of("%s/poses-*", folder);
  glob_t found = {0};
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc; i++) remove(found.gl_pathv[i]);
  globfree(&found);
  free(pattern);
  rmdir(folder);
}

int main(int argc, char **argv) {
  bench b = {.threads = 1, .core = -1, .start = seconds_now()};
  arguments a = {0};
  parse(argc, argv, &b, &a);
  if (a.devices) return list_devices(&b);
  if (!b.repeats) b.repeats = b.quick ? 3 : 9;
  find_meshes(&b);
  if (!b.list) prepare(&b, &a);
  run_all(&b);
  if (b.list) return 0;
  report_close(b.report);
  peers_stop(b.peers);
  if (!a.work) remove_folder(b.work_folder);
  if (b.wrong) fprintf(stderr, "\n%d of our own rows are void\n", b.wrong);
  return b.wrong ? 1 : 0;
}
