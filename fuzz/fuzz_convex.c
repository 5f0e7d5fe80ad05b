/* Pairs of convex sets and hulls from any bytes: a byte says how many points, or that there are two discs, then come
 * doubles, small lattice places where a flag says so, which touch. Whatever finite numbers come, the answers must agree
 * with each other. */
#include "check.h"
#include "graze/convex.h"

enum { MOST = 12, DISCS = 240 };

typedef struct input {
  const uint8_t *at, *end;
} input;

static uint8_t next_byte(input *in) {
  return in->at < in->end ? *in->at++ : 0;
}

static double next_number(input *in, bool lattice) {
  double x = 0;
  if (lattice) return (double)(next_byte(in) % 5);
  if ((size_t)(in->end - in->at) < sizeof x) {
    in->at = in->end;
    return x;
  }
  memcpy(&x, in->at, sizeof x);
  in->at += sizeof x;
  return isfinite(x) && fabs(x) < 1e300 ? x : 1;
}

static void read_set(input *in, bool lattice, double points[3 * MOST], graze_convex *set, graze_pose *pose) {
  const uint8_t kind = next_byte(in);
  *set = (graze_convex){.points = points, .count = 1 + kind % MOST};
  if (kind >= DISCS) set->count = 2;
  for (int e = 0; e < 2 && kind >= DISCS; e++) set->discs[e] = fabs(next_number(in, lattice));
  for (uint32_t i = 0; i < 3 * set->count; i++) points[i] = next_number(in, lattice);
  *pose = graze_pose_identity();
  for (int k = 0; k < 3; k++) pose->m[4 * k + 3] = next_number(in, lattice);
}

static void check_result(const graze_convex_result *r) {
  check_that(r->lower <= r->distance && r->distance <= r->upper);
  if (r->hit == GRAZE_CONVEX_UNKNOWN) {
    check_that(r->lower <= 0 && r->upper > 0);
  } else {
    check_that(r->hit ? r->upper <= 0 : r->lower >= 0 && r->upper > 0);
  }
  for (int k = 0; k < 3; k++) check_that(!isnan(r->normal[k]));
}

/* Of what nearly touches one may know what the other does not. */
static bool do_agree(uint8_t hit, uint8_t other) {
  return hit == other || hit == GRAZE_CONVEX_UNKNOWN || other == GRAZE_CONVEX_UNKNOWN;
}

static bool is_round(const graze_convex *set) {
  return set->discs[0] > 0 || set->discs[1] > 0;
}

static void check_pair(const graze_convex sets[2], const graze_pose poses[2]) {
  const bool have_discs = is_round(&sets[0]) || is_round(&sets[1]);
  const graze_convex_pair pairs[2] = {{&sets[0], &sets[1], &poses[0], &poses[1]},
                                      {&sets[1], &sets[0], &poses[1], &poses[0]}};
  graze_convex_result results[3][2];
  for (int tier = GRAZE_T1; tier <= GRAZE_T2; tier++) {
    for (int ask = 0; ask < 3; ask++) {
      graze_status status =
          graze_convex_batch(fuzz_context(), 2, pairs, (graze_exactness)tier, (graze_convex_ask)ask, results[ask]);
      if (status == GRAZE_ERROR_NOT_FINITE) return;                                             /* once posed */
      if (have_discs && (status == GRAZE_ERROR_ARGUMENT || status == GRAZE_ERROR_POSE)) return; /* no axis */
      check_that(status == GRAZE_OK);
      for (int i = 0; i < 2; i++) {
        check_that(have_discs ? do_agree(results[ask][i].hit, results[0][0].hit)
                              : results[ask][i].hit == results[0][0].hit);
        if (ask > 0) check_result(&results[ask][i]);
      }
    }
    check_that(results[1][0].lower <= results[2][1].upper && results[2][1].lower <= results[1][0].upper);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, data + size};
  double points[2][3 * MOST];
  graze_convex sets[2];
  graze_pose poses[2];
  graze_hull *hull = NULL;
  bool lattice = next_byte(&in) % 2 != 0;
  for (int s = 0; s < 2; s++) read_set(&in, lattice, points[s], &sets[s], &poses[s]);
  check_pair(sets, poses);
  check_that(graze_hull_create(fuzz_context(), sets[0].count, points[0], &hull) == GRAZE_OK);
  check_that(hull->vertex_count <= sets[0].count && hull->vertex_count >= 1);
  if (hull->dimension == 3) check_that(hull->vertex_count + hull->face_count == hull->edge_count + 2);
  graze_hull_destroy(hull);
  return 0;
}
