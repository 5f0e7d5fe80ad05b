/* graze_convex_batch: pairs in order, each with the workspace of its worker. */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/owned.h"
#include "base/parallel.h"
#include "convex/answer.h"
#include "convex/discs.h"
#include "convex/quick.h"
#include "geometry/pose.h"

enum { PAIRS_PER_TASK = CROWD_PAIRS };

typedef struct batch {
  const graze_context *context;
  const graze_convex_pair *pairs;
  graze_convex_result *results;
  uint64_t count;
  graze_exactness exactness;
  graze_convex_ask ask;
  convex_pair *work; /* of each worker */
  _Atomic uint64_t first_bad;
  _Atomic bool refused; /* memory */
} batch;

/* ---- one pair --------------------------------------------------------------------------------------------------- */

/* Out of the scaled numbers, outward. */
static double lower_end(const convex_pair *pair, double scaled) {
  double value = ldexp(scaled, pair->power);
  return fabs(value) < 0x1p-1000 && scaled != 0 ? value - 0x1p-1073 : value;
}

static double upper_end(const convex_pair *pair, double scaled) {
  return -lower_end(pair, -scaled);
}

/* The places on both sides that the shares of the simplex name. */
static void find_points(const convex_pair *pair, const convex_simplex *s, double out[2][3]) {
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < 3; k++) {
      double base = pair_x(pair, side, s->p[0].v[side], k);
      out[side][k] = base;
      for (int i = 1; i < s->count; i++) out[side][k] += s->share[i] * (pair_x(pair, side, s->p[i].v[side], k) - base);
    }
  }
}

/* Along the sum of the points of A - B, which leads from b to a. */
static void find_way(const convex_simplex *s, double normal[3]) {
  double square = 0, most = 0;
  for (int k = 0; k < 3; k++) {
    normal[k] = 0;
    for (int i = 0; i < s->count; i++) normal[k] -= s->share[i] * s->p[i].w[k];
    most = fmax(most, fabs(normal[k]));
  }
  for (int k = 0; k < 3 && most > 0; k++) {
    normal[k] /= most;
    square += normal[k] * normal[k];
  }
  for (int k = 0; k < 3 && most > 0; k++) normal[k] /= sqrt(square);
}

/* What is known of the points of a pair, without the radii. */
typedef struct convex_answer {
  convex_verdict verdict;
  convex_simplex simplex;
  convex_bracket gap; /* their distance, or of a HIT the depth */
  double normal[3];
  int beyond; /* sign of their distance minus the sum of the radii, if they are apart */
} convex_answer;

static bool by_integers(convex_pair *pair, convex_answer *answer) {
  answer->verdict = gz_gjk_exact(pair, &answer->simplex, &answer->gap, answer->normal, &answer->beyond);
  return answer->verdict != CONVEX_OPEN;
}

/* Whether the points meet, and if not, whether the radii bridge the gap. False: memory was refused. */
static bool decide(convex_pair *pair, graze_convex_ask ask, convex_answer *answer) {
  const double *r = pair->radius, sum = (r[0] + r[1]) * pair->scale;
  answer->verdict = gz_gjk(pair, ask != GRAZE_CONVEX_MEET || sum > 0, &answer->simplex, &answer->gap);
  if (answer->verdict == CONVEX_HIT && !gz_pair_encloses(pair, &answer->simplex)) answer->verdict = CONVEX_OPEN;
  if (answer->verdict == CONVEX_OPEN) return by_integers(pair, answer);
  if (answer->verdict == CONVEX_HIT) return true;
  if (ask == GRAZE_CONVEX_SHARP) return by_integers(pair, answer);
  find_way(&answer->simplex, answer->normal);
  if (answer->gap.upper - answer->gap.lower > pair->tolerance && ask != GRAZE_CONVEX_MEET)
    return by_integers(pair, answer);
  answer->beyond = answer->gap.lower > sum * (1 + 0x1p-52) ? 1 : -1;
  return answer->beyond > 0 || answer->gap.upper < sum * (1 - 0x1p-52) || by_integers(pair, answer);
}

/* Adds the radii; what is decided bounds the result too. */
static void finish(const convex_pair *pair, const convex_answer *answer, graze_convex_result *result) {
  const convex_bracket *gap = &answer->gap;
  bool apart = answer->verdict == CONVEX_APART;
  double low = lower_end(pair, apart ? gap->lower : -gap->upper);
  double high = upper_end(pair, apart ? gap->upper : -gap->lower);
  double value = ldexp(apart ? gap->value : -gap->value, pair->power);
  double sum = pair->radius[0] + pair->radius[1];
  if (sum > 0) {
    low = nextafter(low - sum * (1 + 0x1p-52), -(double)INFINITY);
    high = nextafter(high - sum * (1 - 0x1p-52), (double)INFINITY);
    value -= sum;
  }
  if (result->hit && high > 0) high = 0;
  if (!result->hit && low < 0) low = 0;
  if (apart && answer->beyond == 0) low = high = 0;
  value = value < low ? low : value > high ? high : value;
  *result = (graze_convex_result){value + 0.0, low + 0.0, high + 0.0, .hit = result->hit}; /* no -0 */
  memcpy(result->normal, answer->normal, sizeof result->normal);
  find_points(pair, &answer->simplex, result->points);
  for (int k = 0; k < 3; k++) {
    result->points[0][k] += pair->radius[0] * answer->normal[k];
    result->points[1][k] -= pair->radius[1] * answer->normal[k];
  }
}

static bool answer_pair(convex_pair *pair, graze_convex_ask ask, graze_convex_result *result) {
  convex_answer answer;
  *result = (graze_convex_result){0};
  if (!decide(pair, ask, &answer)) return false;
  result->hit = answer.verdict == CONVEX_HIT || answer.beyond <= 0;
  if (ask == GRAZE_CONVEX_MEET) return true;
  if (answer.verdict == CONVEX_HIT) {
    bool is_sharp = ask == GRAZE_CONVEX_SHARP;
    if (!gz_depth(pair, is_sharp, &answer.simplex, &answer.gap, answer.normal)) return false;
  }
  finish(pair, &answer, result);
  return true;
}

/* ---- one pair with discs ---------------------------------------------------------------------------------------- */

/* Adds the radii, as finish() does. */
static void finish_round(const convex_pair *pair, const disc_answer *answer, graze_convex_result *result) {
  const double sum = pair->radius[0] + pair->radius[1], down = -(double)INFINITY, up = (double)INFINITY;
  double low = lower_end(pair, answer->lower), high = upper_end(pair, answer->upper);
  if (sum > 0) {
    low = nextafter(low - sum * (1 + 0x1p-52), down);
    high = nextafter(high - sum * (1 - 0x1p-52), up);
  }
  result->hit = low > 0 ? GRAZE_CONVEX_APART : high <= 0 ? GRAZE_CONVEX_HIT : GRAZE_CONVEX_UNKNOWN;
  result->distance = low + (high - low) / 2 + 0.0;
  result->lower = low + 0.0;
  result->upper = high + 0.0;
  memcpy(result->normal, answer->way, sizeof result->normal);
  for (int s = 0; s < 2; s++) {
    const double out = s == 0 ? pair->radius[0] : -pair->radius[1];
    for (int k = 0; k < 3; k++) {
      result->points[s][k] = ldexp(answer->places[s][k] + pair->center[k], pair->power) + out * result->normal[k];
    }
  }
}

static bool answer_round(convex_pair *pair, const graze_convex_pair *from, graze_convex_ask ask,
                         graze_convex_result *result) {
  const graze_convex *const sets[2] = {from->a, from->b};
  const double sum = (pair->radius[0] + pair->radius[1]) * pair->scale;
  disc_pair discs;
  disc_answer answer;
  gz_discs_open(&discs, pair, sets);
  if (!gz_discs_measure(&discs, ask != GRAZE_CONVEX_MEET, sum, &answer)) return false;
  finish_round(pair, &answer, result);
  if (ask == GRAZE_CONVEX_MEET) *result = (graze_convex_result){.hit = result->hit};
  return true;
}

/* ---- many ------------------------------------------------------------------------------------------------------- */

static void note_bad(batch *work, uint64_t pair) {
  uint64_t known = atomic_load(&work->first_bad);
  while (pair < known && !atomic_compare_exchange_weak(&work->first_bad, &known, pair)) {
  }
}

/* The side of a loaded pair whose axis has no length; 2: neither. */
static int side_without_axis(const convex_pair *pair, const graze_convex_pair *from) {
  const graze_convex *const sets[2] = {from->a, from->b};
  for (int s = 0; s < 2; s++) {
    bool same = has_discs(sets[s]);
    for (int k = 0; k < 3 && same; k++) same = pair_x(pair, s, 0, k) == pair_x(pair, s, 1, k);
    if (same) return s;
  }
  return 2;
}

graze_status gz_convex_load(convex_pair *pair, const graze_convex_pair *from, bool is_real, int *bad_side) {
  const graze_convex *const sets[2] = {from->a, from->b};
  const graze_pose *const poses[2] = {from->pose_a, from->pose_b};
  pair->is_real = is_real;
  for (int s = 0; s < 2; s++) {
    pair->side[s].points = sets[s]->points;
    pair->side[s].count = sets[s]->count;
    pair->side[s].axes = sets[s]->hull != NULL ? sets[s]->hull->axes : NULL;
    pair->side[s].pose = poses[s];
    pair->radius[s] = sets[s]->radius;
  }
  pair->discs = larger(larger(sets[0]->discs[0], sets[0]->discs[1]), larger(sets[1]->discs[0], sets[1]->discs[1]));
  graze_status status = gz_pair_load(pair, bad_side);
  const int side = status == GRAZE_OK ? side_without_axis(pair, from) : 2;
  if (side < 2) *bad_side = side;
  return side < 2 ? GRAZE_ERROR_POSE : status;
}

static const char *what_is_wrong_with_discs(const graze_convex *set) {
  for (int e = 0; e < 2; e++) {
    if (!(set->discs[e] >= 0 && set->discs[e] <= DBL_MAX)) return "the radius of a disc is not finite, or below 0";
  }
  if (!has_discs(set)) return NULL;
  if (set->count != 2 || set->hull != NULL) return "it has discs, and not just two points";
  const double *p = set->points;
  return p[0] == p[3] && p[1] == p[4] && p[2] == p[5] ? "the ends of its axis are the same" : NULL;
}

const char *gz_convex_wrong(const graze_convex *set, const graze_pose *pose) {
  if (set->count == 0 || set->points == NULL) return "it has no points";
  if (!(set->radius >= 0)) return "its radius is below 0";
  const char *wrong = what_is_wrong_with_discs(set);
  if (wrong != NULL) return wrong;
  return pose == NULL || gz_pose_first_not_finite(pose) == 12 ? NULL : "its pose is not finite";
}

static bool is_right(const graze_convex_pair *pair) {
  return pair->a != NULL && pair->b != NULL && gz_convex_wrong(pair->a, pair->pose_a) == NULL &&
         gz_convex_wrong(pair->b, pair->pose_b) == NULL;
}

static bool are_hulls(const graze_convex_pair *pair) {
  return pair->a->hull != NULL && pair->b->hull != NULL && !(pair->a->radius > 0 || pair->b->radius > 0);
}

/* Most pairs of which only a hit is asked for are decided by a quick look, if they are hulls, balls or capsules;
 * verdicts[i] is OPEN where it does not. */
static void look_quickly(batch *work, uint64_t first, uint32_t count, uint8_t verdicts[PAIRS_PER_TASK]) {
  const graze_convex_pair *pairs = work->pairs + first;
  uint32_t which[PAIRS_PER_TASK], hulls = 0;
  for (uint32_t i = 0; i < count; i++) {
    verdicts[i] = CONVEX_OPEN;
    if (!is_right(&pairs[i])) {
      note_bad(work, first + i);
      verdicts[i] = CONVEX_APART; /* nothing more is done about it */
    } else if (work->ask != GRAZE_CONVEX_MEET || has_discs(pairs[i].a) || has_discs(pairs[i].b)) {
      continue;
    } else if (pairs[i].a->count <= 2 && pairs[i].b->count <= 2) {
      verdicts[i] = (uint8_t)gz_quick_round(&pairs[i]);
    } else if (are_hulls(&pairs[i])) {
      which[hulls++] = i;
    }
  }
  const crowd_pairs quick = {pairs, which, hulls, work->exactness == GRAZE_T2};
  CPU_KERNEL(gz_quick_crowd)(&quick, verdicts);
}

bool gz_convex_answer(convex_pair *pair, const graze_convex_pair *from, graze_convex_ask ask,
                      graze_convex_result *result) {
  return pair->discs > 0 ? answer_round(pair, from, ask, result) : answer_pair(pair, ask, result);
}

static void answer_slowly(batch *work, uint64_t number, uint32_t worker) {
  convex_pair *pair = &work->work[worker];
  const graze_convex_pair *from = &work->pairs[number];
  int side;
  graze_status status = gz_convex_load(pair, from, work->exactness == GRAZE_T2, &side);
  if (status == GRAZE_ERROR_NOT_FINITE || status == GRAZE_ERROR_POSE) {
    note_bad(work, number);
  } else if (status != GRAZE_OK || !gz_convex_answer(pair, from, work->ask, &work->results[number])) {
    atomic_store(&work->refused, true);
  }
}

static void answer_range(void *argument, uint32_t begin, uint32_t end, uint32_t worker) {
  batch *work = argument;
  for (uint64_t task = begin; task < end; task++) {
    const uint64_t first = task * PAIRS_PER_TASK, left = work->count - first;
    const uint32_t count = left < PAIRS_PER_TASK ? (uint32_t)left : PAIRS_PER_TASK;
    uint8_t verdicts[PAIRS_PER_TASK];
    look_quickly(work, first, count, verdicts);
    for (uint32_t i = 0; i < count; i++) {
      work->results[first + i] = (graze_convex_result){.hit = verdicts[i] == CONVEX_HIT};
      if (verdicts[i] == CONVEX_OPEN) answer_slowly(work, first + i, worker);
    }
  }
}

static graze_status answer_all(batch *work) {
  uint32_t workers = gz_workers(work->context);
  work->work = gz_new_zeroed(work->context, workers, sizeof *work->work);
  if (work->work == NULL) return gz_fail_memory(work->context, workers * sizeof *work->work);
  for (uint32_t i = 0; i < workers; i++) work->work[i].context = work->context;
  gz_parallel_for(work->context, (uint32_t)((work->count + PAIRS_PER_TASK - 1) / PAIRS_PER_TASK), 1, answer_range,
                  work);
  for (uint32_t i = 0; i < workers; i++) gz_pair_release(&work->work[i]);
  gz_free(work->work);
  return atomic_load(&work->refused) ? gz_fail_memory(work->context, sizeof(convex_pair)) : GRAZE_OK;
}

graze_convex graze_convex_of_hull(const graze_hull *hull, double radius) {
  return (graze_convex){.points = hull->points, .count = hull->vertex_count, .radius = radius, .hull = hull};
}

static graze_status tell_bad(const batch *work, uint64_t bad) {
  const graze_convex_pair *from = &work->pairs[bad];
  if (from->a == NULL || from->b == NULL) return gz_fail_null(work->context);
  const graze_convex *const sets[2] = {from->a, from->b};
  const char *wrong[2] = {gz_convex_wrong(from->a, from->pose_a), gz_convex_wrong(from->b, from->pose_b)};
  for (int s = 0; s < 2; s++) {
    if (wrong[s] == NULL) continue;
    const bool is_pose = gz_convex_wrong(sets[s], NULL) == NULL;
    return gz_fail(work->context, is_pose ? GRAZE_ERROR_NOT_FINITE : GRAZE_ERROR_ARGUMENT, "pair %llu, %c: %s",
                   (unsigned long long)bad, 'a' + s, wrong[s]);
  }
  convex_pair pair = {.context = work->context};
  int side = 0;
  const graze_status status = gz_convex_load(&pair, from, work->exactness == GRAZE_T2, &side);
  gz_pair_release(&pair);
  if (status == GRAZE_ERROR_POSE) {
    return gz_fail(work->context, status, "pair %llu, %c: posed, the ends of its axis are the same",
                   (unsigned long long)bad, 'a' + side);
  }
  return gz_fail(work->context, GRAZE_ERROR_NOT_FINITE,
                 "pair %llu, %c: a coordinate is not finite, or not once it is posed", (unsigned long long)bad,
                 'a' + side);
}

graze_status graze_convex_batch(graze_context *context, uint64_t count, const graze_convex_pair *pairs,
                                graze_exactness exactness, graze_convex_ask ask, graze_convex_result *results) {
  if (context == NULL || (count > 0 && (pairs == NULL || results == NULL))) return gz_fail_null(context);
  if (count > (uint64_t)PAIRS_PER_TASK * UINT32_MAX) return gz_fail(context, GRAZE_ERROR_LIMIT, "too many pairs");
  if ((unsigned)exactness > GRAZE_T2 || (unsigned)ask > GRAZE_CONVEX_SHARP) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "exactness %d or what is asked, %d, is none", exactness, ask);
  }
  batch work = {.context = context, .pairs = pairs, .results = results, .count = count};
  work.exactness = exactness;
  work.ask = ask;
  atomic_init(&work.first_bad, UINT64_MAX);
  graze_status status = answer_all(&work);
  uint64_t bad = atomic_load(&work.first_bad);
  return status == GRAZE_OK && bad != UINT64_MAX ? tell_bad(&work, bad) : status;
}
