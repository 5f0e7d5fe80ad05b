/* How space is cut: from samples of all boxes, weighted by what they cost.
 *
 * Rank 0 collects the samples, cuts, and shares the plan, so that what grows with the number of ranks is 8 bytes each
 * on the others: the tree (regions.h), and as much for the homes of pairs where they are asked for. What a box costs is
 * the work counted in the region of its lower corner in the last step, divided by the boxes there; before the first
 * search all cost the same. Space is cut anew when the most loaded rank has a tenth more than the mean, with growing
 * patience when that does not help; and where some rank then has more to do than any had before, travel included, the
 * former cuts return.
 *
 * How even that is: with s independent samples a rank, a cut between two halves of 2^k s samples errs by 1 / sqrt(2^k
 * s) of a half, and of a region all levels together by 1 / sqrt(s), as a standard deviation; the most loaded of P
 * regions is about sqrt(2 ln P) of these above the mean. With 64 samples these are 13 %, and 48 % for 1,536 ranks. It
 * is the bound for what lies in no order. Samples that are spread over boxes in the order of their places err by less,
 * and from the second cut on what is in a region is known exactly, so that only the parts err that change hands.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "mpi/world.h"

enum { SAMPLES = 4096, LEAST_SAMPLES = 64, WORTH_CUTTING = 16, LONGEST_PATIENCE = 1024, EDGES_A_VOXEL = 4 };
#define UNBALANCED 1.1

static size_t census_bytes(const graze_mpi_world *w) {
  return sizeof(mpi_census) + w->sample_limit * sizeof(mpi_sample);
}

static bool has_homes(const graze_mpi_world *w) {
  return w->lists_home || w->def.events || w->def.delivery == GRAZE_MPI_SORTED;
}

/* What the rank needs that cuts. */
static void carve_planner(graze_mpi_world *w, carving *c) {
  const uint64_t ranks = w->ranks, all = ranks * w->sample_limit;
  mpi_planner *p = &w->planner;
  p->gathered = gz_carve(c, ranks * census_bytes(w));
  p->samples = (mpi_sample *)(void *)p->gathered; /* behind each other, once the rest has been taken from between */
  p->censuses = gz_carve(c, ranks * sizeof *p->censuses);
  p->marks = gz_carve(c, all * sizeof *p->marks);
  p->shares = gz_carve(c, ranks * sizeof *p->shares);
  p->density = gz_carve(c, ranks * sizeof *p->density);
  p->tallies = gz_carve(c, ranks * sizeof *p->tallies);
  p->bounds = gz_carve(c, ranks * sizeof *p->bounds);
  p->order = gz_carve(c, ranks * sizeof *p->order);
  p->former = gz_carve(c, ranks * sizeof *p->former);
}

static void carve_own(graze_mpi_world *w, carving *c) {
  w->census = gz_carve(c, census_bytes(w));
  if (w->rank == 0) carve_planner(w, c);
}

/* Of the table: with a directory, which has no tree, the work of each rank. */
static size_t table_bytes(const graze_mpi_world *w) {
  return w->ranks * sizeof(uint64_t) * (has_homes(w) ? 2 : 1);
}

static void use_table(graze_mpi_world *w) {
  uint64_t *table = w->common->table;
  w->regions = (mpi_regions){.entries = table, .ranks = 1}; /* all is of rank 0 */
  table[0] = 0;
  w->directory.works = w->common->table;
  w->homes = has_homes(w) ? table + w->ranks : NULL;
  w->leaf = (mpi_leaf){0, 1, 1};
  w->home = graze_box_empty();
}

/* The table may be there already. */
static bool open_table(graze_mpi_world *w) {
  mpi_common *c = w->common;
  if (c->table == NULL) {
    c->table = gz_memory_alloc(w->context, table_bytes(w));
    if (c->table == NULL) return false;
    c->table_bytes = table_bytes(w);
    memset(c->table, 0, c->table_bytes);
  }
  use_table(w);
  return true;
}

bool gz_mpi_plan_open(graze_mpi_world *w) {
  w->sample_limit = SAMPLES / w->ranks > LEAST_SAMPLES ? SAMPLES / w->ranks : LEAST_SAMPLES;
  carving c = {NULL, 0};
  carve_own(w, &c);
  w->plan_bytes = c.used;
  w->plan_memory = gz_memory_alloc(w->context, w->plan_bytes);
  if (w->plan_memory == NULL) return false;
  c = (carving){w->plan_memory, 0};
  carve_own(w, &c);
  w->plan_due = true;
  w->patience = 1;
  return open_table(w);
}

bool gz_mpi_plan_list_home(graze_mpi_world *w) {
  if (has_homes(w)) return true;
  gz_memory_release(w->context, w->common->table, w->common->table_bytes);
  w->common->table = NULL;
  w->lists_home = true;
  return open_table(w);
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

/* Every so manieth box; boxes that lie side by side often follow each other, so that this is even. Each time others, by
 * the golden ratio: cuts that made it worse would be the same again. */
static uint32_t take_samples(const graze_mpi_world *w, mpi_sample *samples) {
  const uint64_t n = w->object_count;
  const uint32_t most = n < w->sample_limit ? (uint32_t)n : w->sample_limit;
  const uint64_t phase = ((uint64_t)1 << 31) + w->cuts * 0x9E3779B9; /* of 2^32: the middle at first */
  uint32_t count = 0;
  for (uint32_t i = 0; i < most; i++) {
    const uint32_t number = (uint32_t)((i + (double)(phase & UINT32_MAX) * 0x1p-32) * (double)n / most);
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
  *census = (mpi_census){.definition = definition_of(&w->def),
                         .objects = (double)w->object_count,
                         .work = w->own_work + (double)(WORK_OF_RECEIVED * w->received_count),
                         .load = w->load};
  census->corners = bound_corners(w);
  census->samples = take_samples(w, (mpi_sample *)(void *)(w->census + sizeof *census));
  return w->transport->calls->collect(w->transport, 0, w->census, census_bytes(w), w->planner.gathered);
}

/* The samples of all behind each other. */
static uint32_t collect(graze_mpi_world *w) {
  mpi_planner *p = &w->planner;
  uint32_t count = 0;
  w->plan.differs = 0;
  for (uint32_t r = 0; r < w->ranks; r++) {
    const char *from = p->gathered + r * census_bytes(w);
    mpi_census *census = &p->censuses[r];
    memcpy(census, from, sizeof *census);
    memmove(p->samples + count, from + sizeof *census, census->samples * sizeof *p->samples);
    count += (uint32_t)census->samples;
    p->bounds[r] = census->corners;
    if (census->definition != p->censuses[0].definition && w->plan.differs == 0) w->plan.differs = r;
  }
  return count;
}

/* ---- what boxes cost ---- */

/* The density of a region lies at its first position. */
static void weigh(graze_mpi_world *w, uint32_t count) {
  const mpi_planner *p = &w->planner;
  const mpi_regions *regions = &w->regions;
  if (w->cuts == 0) return;
  for (uint32_t r = 0; r < w->ranks; r++) p->density[r] = 0;
  for (uint32_t i = 0; i < count; i++)
    p->density[regions_leaf_of(regions, p->samples[i].box.min)] += p->samples[i].objects;
  double all = 0, boxes = 0;
  for (uint32_t r = 0; r < w->ranks; r++) {
    all += p->censuses[r].work;
    boxes += p->censuses[r].objects;
  }
  const double mean = boxes > 0 ? all / boxes : 0;
  mpi_walk walk;
  walk_begin(&walk, regions, (const double[6]){-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY});
  while (walk.depth > 0) {
    const mpi_leaf leaf = walk_next(&walk);
    double work = 0, *density = &p->density[leaf.first];
    for (uint32_t k = 0; k < leaf.ranks; k++) work += p->censuses[regions_rank_at(regions, leaf.first + k)].work;
    /* a region that has just been entered has no work yet, but will have */
    *density = fmax(*density > 0 ? work / *density : 0, 0.1 * mean) + 1e-3;
  }
  for (uint32_t i = 0; i < count; i++)
    p->samples[i].weight = p->samples[i].objects * p->density[regions_leaf_of(regions, p->samples[i].box.min)];
}

/* Of work that is spread evenly together with what the ranks have to do besides. NULL: all the same. */
static const double *share(graze_mpi_world *w) {
  const mpi_planner *p = &w->planner;
  double mean = 0;
  bool equal = true;
  for (uint32_t r = 0; r < w->ranks; r++) mean += p->censuses[r].load / w->ranks;
  for (uint32_t r = 0; r < w->ranks; r++) {
    p->shares[r] = fmax(1 + mean - p->censuses[r].load, 0.01);
    equal &= p->shares[r] == p->shares[0];
  }
  return equal ? NULL : p->shares;
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
  for (uint32_t i = 0; i < count; i++) graze_box_add_point(&all, w->planner.samples[i].box.min);
  return extent_of(&all);
}

/* Edges a few times those of nearly all boxes: then few boxes meet several voxels, and a voxel is small against what a
 * rank has. Boxes without extent are as far apart as they would be on a lattice. */
static double edge_of_voxels(graze_mpi_world *w, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) w->planner.marks[i] = (mpi_mark){extent_of(&w->planner.samples[i].box), 1};
  const double extent = quantile(w->planner.marks, count, 9, 10), spacing = reach_of(w, count) / cbrt(count);
  const char *what =
      extent > 0 ? "the extent that nine boxes in ten do not exceed" : "the mean spacing of boxes without extent";
  double edge = EDGES_A_VOXEL * (extent > 0 ? extent : spacing);
  snprintf(w->plan.reason, sizeof w->plan.reason, "the power of two from %.3g on: %d times %s", edge, EDGES_A_VOXEL,
           what);
  return edge;
}

static void choose_voxel(graze_mpi_world *w, uint32_t count) {
  double edge = w->def.voxel;
  snprintf(w->plan.reason, sizeof w->plan.reason, "asked for");
  if (edge <= 0) {
    edge = count > 0 ? edge_of_voxels(w, count) : 1;
    if (count == 0) snprintf(w->plan.reason, sizeof w->plan.reason, "there are no boxes");
  }
  w->plan.voxel = power_of_two(fmin(fmax(edge, 0x1p-1000), 0x1p1000));
}

/* ---- homes of pairs ---- */

/* Ids are cut evenly once, and stay so: the history of a pair is where its home is. */
static void cut_ids(graze_mpi_world *w, uint32_t count) {
  if (w->plan.homes_known || w->homes == NULL || count == 0) return;
  for (uint32_t i = 0; i < count; i++) w->planner.marks[i] = (mpi_mark){(double)w->planner.samples[i].id, 1};
  w->homes[0] = 0;
  for (uint32_t r = 1; r < w->ranks; r++) {
    double at = quantile(w->planner.marks, count, r, w->ranks);
    w->homes[r] = at < 0x1p63 ? (uint64_t)at : (uint64_t)(at - 0x1p63) + ((uint64_t)1 << 63);
    if (w->homes[r] < w->homes[r - 1]) w->homes[r] = w->homes[r - 1];
  }
  w->plan.homes_known = true;
}

static void cut_regions(graze_mpi_world *w, uint32_t count) {
  const mpi_planner *p = &w->planner;
  const size_t bytes = w->ranks * sizeof *p->former;
  if (w->go_back) {
    memcpy(w->regions.entries, p->former, bytes);
    return;
  }
  memcpy(p->former, w->regions.entries, bytes);
  const mpi_regions former = {p->former, w->ranks, w->regions.rank_bits};
  const mpi_cutting cutting = {.ranks = w->ranks,
                               .shares = share(w),
                               .samples = p->samples,
                               .count = count,
                               .voxel = w->plan.voxel,
                               .marks = p->marks,
                               .tallies = p->tallies,
                               .bounds = p->bounds,
                               .order = p->order,
                               .former = w->cuts > 0 ? &former : NULL};
  gz_mpi_regions_cut(&w->regions, &cutting);
}

/* ---- the stages ---- */

graze_status gz_mpi_plan_share(graze_mpi_world *w) {
  if (w->rank == 0) {
    const uint32_t count = collect(w);
    weigh(w, count);
    choose_voxel(w, count);
    cut_ids(w, count);
    w->plan.had_boxes |= count > 0;
    if (!uses_directory(w)) cut_regions(w, count);
  }
  return w->transport->calls->share(w->transport, 0, &w->plan, sizeof w->plan);
}

/* Where what all have in common begins: the work of ranks is gathered by itself. */
static size_t shared_begin(const graze_mpi_world *w) {
  return uses_directory(w) ? w->ranks * sizeof(uint64_t) : 0;
}

bool gz_mpi_plan_has_table(const graze_mpi_world *w) {
  return w->plan.differs == 0 && table_bytes(w) > shared_begin(w);
}

graze_status gz_mpi_plan_share_table(graze_mpi_world *w) {
  const size_t begin = shared_begin(w);
  return w->transport->calls->share(w->transport, 0, (char *)w->common->table + begin, table_bytes(w) - begin);
}

void gz_mpi_plan_end(graze_mpi_world *w) {
  if (w->plan.differs > 0) {
    w->differs = true;
    gz_mpi_world_fail_with(w, GRAZE_ERROR_ARGUMENT, "its world is defined otherwise than that of rank %u",
                           w->plan.differs);
  } else if (!uses_directory(w)) {
    w->regions = (mpi_regions){w->common->table, w->ranks, gz_mpi_rank_bits(w->ranks)};
    w->leaf = gz_mpi_regions_leaf_of_rank(&w->regions, w->rank, &w->region);
    w->home = w->leaf.ranks == 1 ? w->region : graze_box_empty();
  }
  if (w->go_back) w->most = 0; /* there is nothing to compare with */
  w->plan_due = w->go_back = false;
  w->planned_at = w->step;
  w->cuts++;
}

/* ---- whether to cut anew ---- */

static double imbalance_of(const graze_mpi_world *w) {
  double mean = (double)w->totals.sums[SUM_LOAD] / w->ranks;
  return mean > 0 ? (double)w->totals.maxes[MAX_LOAD] / mean : 1;
}

/* Of the rank that has most to do, travel included, for each box that there is. */
static double most_load(const graze_mpi_world *w) {
  const uint64_t objects = w->totals.sums[SUM_OBJECTS];
  return objects > 0 ? (double)w->totals.maxes[MAX_STEP] / (double)objects : 0;
}

/* Did cutting help? */
static void look_at_cuts(graze_mpi_world *w) {
  const double most = most_load(w);
  const uint64_t times = most > w->most ? 8 : 2;
  w->go_back = most > w->most && !uses_directory(w);
  w->patience = most < 0.95 * w->most                    ? 1
                : w->patience * times < LONGEST_PATIENCE ? w->patience * times
                                                         : LONGEST_PATIENCE;
}

static void plan_soon(graze_mpi_world *w, bool anew) {
  w->plan_due = anew || !uses_directory(w);
  w->directory.move_due = !w->plan_due;
  w->most = most_load(w);
  if (w->directory.move_due) w->planned_at = w->step + 1;
}

void gz_mpi_plan_judge(graze_mpi_world *w) {
  const bool first_look = w->step == w->planned_at;
  if (first_look && w->most > 0) look_at_cuts(w);
  w->plan_due = w->go_back;
  bool enough = w->totals.sums[SUM_OBJECTS] >= (uint64_t)WORTH_CUTTING * w->ranks;
  bool never = !w->plan.had_boxes && w->totals.sums[SUM_OBJECTS] > 0; /* there were no boxes when space was cut */
  if (w->ranks == 1 || w->go_back || !(never || (enough && imbalance_of(w) > UNBALANCED))) return;
  if (!never && w->step - w->planned_at < w->patience) return;
  plan_soon(w, never);
}
