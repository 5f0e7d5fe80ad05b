/* How space is cut: from samples of all boxes, weighted by what they cost.
 *
 * Every rank gathers the same samples and computes the same regions, so that nothing else has to be told. What a box
 * costs is the work counted in the region of its lower corner in the last step, divided by the boxes there; before the
 * first search all cost the same. Space is cut anew when the most loaded rank has a fifth more than the mean, with
 * growing patience when that does not help.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "mpi/world.h"

enum { SAMPLES = 4096, LEAST_SAMPLES = 16, LONGEST_PATIENCE = 1024, EDGES_A_VOXEL = 4 };
#define UNBALANCED 1.2

static size_t census_bytes(const graze_mpi_world *w) {
  return sizeof(mpi_census) + w->sample_limit * sizeof(mpi_sample);
}

/* What is of no use once space has been cut. */
static void carve_scratch(graze_mpi_world *w, carving *c) {
  const uint64_t ranks = w->ranks, all = ranks * w->sample_limit;
  w->census = gz_carve(c, census_bytes(w));
  w->gathered = gz_carve(c, ranks * census_bytes(w));
  w->samples = gz_carve(c, all * sizeof *w->samples);
  w->marks = gz_carve(c, all * sizeof *w->marks);
  w->shares = gz_carve(c, ranks * sizeof *w->shares);
  w->density = gz_carve(c, ranks * sizeof *w->density);
  w->tallies = gz_carve(c, ranks * sizeof *w->tallies);
  w->bounds = gz_carve(c, ranks * sizeof *w->bounds);
  w->directory.works = gz_carve(c, ranks * sizeof *w->directory.works);
}

static void carve_plan(graze_mpi_world *w, carving *c) {
  const uint64_t ranks = w->ranks;
  w->homes = gz_carve(c, ranks * sizeof *w->homes);
  w->regions.nodes = gz_carve(c, 2 * ranks * sizeof *w->regions.nodes);
  w->regions.leaves = gz_carve(c, ranks * sizeof *w->regions.leaves);
  w->regions.order = gz_carve(c, ranks * sizeof *w->regions.order);
}

size_t gz_mpi_plan_scratch(graze_mpi_world *w, void *memory) {
  carving c = {memory, 0};
  w->sample_limit = SAMPLES / w->ranks > LEAST_SAMPLES ? SAMPLES / w->ranks : LEAST_SAMPLES;
  carve_scratch(w, &c);
  return c.used;
}

/* With `scratch` that somebody else has lent, no memory is asked for it. */
bool gz_mpi_plan_open(graze_mpi_world *w, void *scratch) {
  const size_t scratch_bytes = scratch == NULL ? gz_mpi_plan_scratch(w, NULL) : 0;
  carving c = {NULL, 0};
  carve_plan(w, &c);
  w->plan_bytes = scratch_bytes + c.used;
  w->plan_memory = gz_memory_alloc(w->context, w->plan_bytes);
  if (w->plan_memory == NULL) return false;
  gz_mpi_plan_scratch(w, scratch != NULL ? scratch : w->plan_memory);
  c = (carving){(char *)w->plan_memory + scratch_bytes, 0};
  carve_plan(w, &c);
  memset(w->homes, 0, w->ranks * sizeof *w->homes);
  w->regions.nodes[0] = (mpi_node){.axis = 3};
  w->regions.leaves[0] = (mpi_leaf){0, 1, 1};
  w->regions.order[0] = 0;
  w->regions.node_count = w->regions.leaf_count = 1;
  w->regions.ranks = w->ranks;
  w->plan_due = true;
  w->patience = 1;
  return true;
}

/* ---- samples ---- */

static uint64_t definition_of(const graze_mpi_world_def *def) {
  uint64_t voxel;
  memcpy(&voxel, &def->voxel, sizeof voxel);
  uint64_t flags = (uint64_t)def->delivery | (uint64_t)def->search << 8 | (uint64_t)def->events << 16 |
                   (uint64_t)def->placement << 24;
  return splitmix64(splitmix64(flags) + voxel) + def->block;
}

static bool is_sound(const graze_box *box) {
  for (int k = 0; k < 3; k++) {
    if (!isfinite(box->min[k]) || !isfinite(box->max[k]) || box->min[k] > box->max[k]) return false;
  }
  return true;
}

/* Every so manieth box; boxes that lie side by side often follow each other, so that this is even. */
static uint32_t take_samples(const graze_mpi_world *w, mpi_sample *samples) {
  const uint64_t n = w->object_count;
  const uint32_t most = n < w->sample_limit ? (uint32_t)n : w->sample_limit;
  uint32_t count = 0;
  for (uint32_t i = 0; i < most; i++) {
    uint32_t number = (uint32_t)((2 * i + 1) * n / (2 * (uint64_t)most));
    const mpi_client *client = gz_mpi_client_of(w, number);
    mpi_sample *s = &samples[count];
    double box[6];
    gz_mpi_own_box(w, number, box);
    memcpy(&s->box, box, sizeof box);
    s->objects = s->weight = (double)n / most;
    s->id = client->boxes.ids[number - client->first];
    s->owner = w->rank;
    count += is_sound(&s->box); /* what is not is told later, when all are looked at */
  }
  return count;
}

/* Of the lower corners of all own boxes. */
static graze_box bound_corners(const graze_mpi_world *w) {
  const mpi_client *clients = w->clients.data;
  graze_box corners = graze_box_empty();
  for (uint32_t c = 0; c < w->client_count; c++) {
    for (uint32_t i = 0; i < clients[c].boxes.count; i++) {
      double box[6];
      client_box(&clients[c], i, box);
      graze_box_add_point(&corners, box);
    }
  }
  return corners;
}

graze_status gz_mpi_plan_begin(graze_mpi_world *w) {
  mpi_census *census = (mpi_census *)(void *)w->census;
  memset(w->census, 0, census_bytes(w));
  *census = (mpi_census){
      .definition = definition_of(&w->def), .objects = (double)w->object_count, .work = w->own_work, .load = w->load};
  census->corners = bound_corners(w);
  census->samples = take_samples(w, (mpi_sample *)(void *)(w->census + sizeof *census));
  return w->transport->calls->gather(w->transport, w->census, census_bytes(w), w->gathered);
}

static const mpi_census *census_of(const graze_mpi_world *w, uint32_t rank) {
  return (const mpi_census *)(const void *)(w->gathered + rank * census_bytes(w));
}

static uint32_t collect(graze_mpi_world *w) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < w->ranks; r++) {
    const mpi_census *census = census_of(w, r);
    memcpy(w->samples + count, census + 1, census->samples * sizeof *w->samples);
    count += (uint32_t)census->samples;
    w->bounds[r] = census->corners;
    if (census->definition == census_of(w, 0)->definition) continue;
    w->differs = true;
    gz_mpi_world_fail_with(w, GRAZE_ERROR_ARGUMENT, "its world is defined otherwise than that of rank %u", r);
  }
  return count;
}

/* ---- what boxes cost ---- */

static void weigh(graze_mpi_world *w, uint32_t count) {
  const mpi_regions *regions = &w->regions;
  if (w->cuts == 0) return;
  for (uint32_t l = 0; l < regions->leaf_count; l++) w->density[l] = 0;
  for (uint32_t i = 0; i < count; i++) {
    w->density[regions_leaf_of(regions, w->samples[i].box.min)] += w->samples[i].objects;
  }
  double all = 0, boxes = 0;
  for (uint32_t r = 0; r < w->ranks; r++) {
    all += census_of(w, r)->work;
    boxes += census_of(w, r)->objects;
  }
  const double mean = boxes > 0 ? all / boxes : 0;
  for (uint32_t l = 0; l < regions->leaf_count; l++) {
    const mpi_leaf *leaf = &regions->leaves[l];
    double work = 0;
    for (uint32_t p = leaf->first; p < leaf->first + leaf->ranks; p++) work += census_of(w, regions->order[p])->work;
    /* a region that has just been entered has no work yet, but will have */
    w->density[l] = fmax(w->density[l] > 0 ? work / w->density[l] : 0, 0.1 * mean) + 1e-3;
  }
  for (uint32_t i = 0; i < count; i++)
    w->samples[i].weight = w->samples[i].objects * w->density[regions_leaf_of(regions, w->samples[i].box.min)];
}

/* Of work that is spread evenly together with what the ranks have to do besides. NULL: all the same. */
static const double *share(graze_mpi_world *w) {
  double mean = 0;
  bool equal = true;
  for (uint32_t r = 0; r < w->ranks; r++) mean += census_of(w, r)->load / w->ranks;
  for (uint32_t r = 0; r < w->ranks; r++) {
    w->shares[r] = fmax(1 + mean - census_of(w, r)->load, 0.01);
    equal &= w->shares[r] == w->shares[0];
  }
  return equal ? NULL : w->shares;
}

/* ---- voxels ---- */

/* The coordinate at part / whole of the way through the marks, were they sorted. */
static double quantile(mpi_mark *marks, uint32_t count, uint32_t part, uint32_t whole) {
  return gz_mpi_quantile(marks, count, (double)count * part / whole);
}

static double power_of_two(double x) {
  int exponent;
  double mantissa = frexp(x, &exponent);
  return ldexp(mantissa == 0.5 ? 0.5 : 1, exponent);
}

/* The greatest extent of a box. Halves, as they may be as large as doubles get. */
static double extent_of(const graze_box *box) {
  double most = 0;
  for (int k = 0; k < 3; k++) most = fmax(most, 0.5 * box->max[k] - 0.5 * box->min[k]);
  return 2 * fmin(most, 0x1p1000);
}

/* The widest side of what holds all lower corners. */
static double reach_of(const graze_mpi_world *w, uint32_t count) {
  graze_box all = graze_box_empty();
  for (uint32_t i = 0; i < count; i++) graze_box_add_point(&all, w->samples[i].box.min);
  return extent_of(&all);
}

/* Edges a few times those of nearly all boxes: then few boxes meet several voxels, and a voxel is small against what a
 * rank has. Boxes without extent are as far apart as they would be on a lattice. */
static double edge_of_voxels(graze_mpi_world *w, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) w->marks[i] = (mpi_mark){extent_of(&w->samples[i].box), 1};
  const double extent = quantile(w->marks, count, 9, 10), spacing = reach_of(w, count) / cbrt(count);
  const char *what =
      extent > 0 ? "the extent that nine boxes in ten do not exceed" : "the mean spacing of boxes without extent";
  double edge = EDGES_A_VOXEL * (extent > 0 ? extent : spacing);
  snprintf(w->reason, sizeof w->reason, "the power of two from %.3g on: %d times %s", edge, EDGES_A_VOXEL, what);
  return edge;
}

static void choose_voxel(graze_mpi_world *w, uint32_t count) {
  double edge = w->def.voxel;
  snprintf(w->reason, sizeof w->reason, "asked for");
  if (edge <= 0) {
    edge = count > 0 ? edge_of_voxels(w, count) : 1;
    if (count == 0) snprintf(w->reason, sizeof w->reason, "there are no boxes");
  }
  w->voxel = power_of_two(fmin(fmax(edge, 0x1p-1000), 0x1p1000));
}

/* ---- homes of pairs ---- */

/* Ids are cut evenly once, and stay so: the history of a pair is where its home is. */
static void cut_ids(graze_mpi_world *w, uint32_t count) {
  if (w->homes_known || count == 0) return;
  for (uint32_t i = 0; i < count; i++) w->marks[i] = (mpi_mark){(double)w->samples[i].id, 1};
  w->homes[0] = 0;
  for (uint32_t r = 1; r < w->ranks; r++) {
    double at = quantile(w->marks, count, r, w->ranks);
    w->homes[r] = at < 0x1p63 ? (uint64_t)at : (uint64_t)(at - 0x1p63) + ((uint64_t)1 << 63);
    if (w->homes[r] < w->homes[r - 1]) w->homes[r] = w->homes[r - 1];
  }
  w->homes_known = true;
}

static void cut_regions(graze_mpi_world *w, uint32_t count) {
  const mpi_cutting cutting = {.ranks = w->ranks,
                               .shares = share(w),
                               .samples = w->samples,
                               .count = count,
                               .voxel = w->voxel,
                               .marks = w->marks,
                               .tallies = w->tallies,
                               .bounds = w->bounds};
  gz_mpi_regions_cut(&w->regions, &cutting);
  w->leaf = gz_mpi_regions_leaf_of_rank(&w->regions, w->rank);
}

void gz_mpi_plan_end(graze_mpi_world *w) {
  uint32_t count = collect(w);
  weigh(w, count);
  choose_voxel(w, count);
  cut_ids(w, count);
  if (!uses_directory(w)) cut_regions(w, count);
  w->plan_due = false;
  w->planned_at = w->step;
  w->cuts++;
}
/* ---- whether to cut anew ---- */

static double imbalance_of(const graze_mpi_world *w) {
  double mean = (double)w->totals.sums[SUM_LOAD] / w->ranks;
  return mean > 0 ? (double)w->totals.maxes[MAX_LOAD] / mean : 1;
}

void gz_mpi_plan_judge(graze_mpi_world *w) {
  const double now = imbalance_of(w);
  const bool first_look = w->step == w->planned_at;
  if (first_look && w->imbalance > 0) { /* did cutting help? */
    bool helped = now < 0.95 * w->imbalance;
    w->patience = helped ? 1 : w->patience * 2 < LONGEST_PATIENCE ? w->patience * 2 : LONGEST_PATIENCE;
  }
  bool enough = w->totals.sums[SUM_OBJECTS] >= (uint64_t)LEAST_SAMPLES * w->ranks;
  bool never = !w->homes_known && w->totals.sums[SUM_OBJECTS] > 0; /* there were no boxes when space was cut */
  if (w->ranks == 1 || !(never || (enough && now > UNBALANCED))) return;
  if (!never && w->step - w->planned_at < w->patience) return;
  w->plan_due = never || !uses_directory(w);
  w->directory.move_due = !w->plan_due;
  w->imbalance = now;
  if (w->directory.move_due) w->planned_at = w->step + 1;
}
