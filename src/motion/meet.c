/* When do two objects on their ways first meet?
 *
 * First both hierarchies are gone through once, with all of the way at a time (narrow/passing.h): near parts find a
 * plane of their own that keeps them apart, where bounds for whole objects would have to go step by step. That proves
 * nearly all pairs of a machine free. Few pairs of triangles that are left on straight ways are decided exactly.
 *
 * The others, conservative advancement: with d a lower bound of the distance now and v an upper bound of the speed at
 * which it changes, nothing meets for d / v. Most pairs are free after one question, whether they are nearer than they
 * can come. Where that is too slow, near contact, a window of time is opened: all pairs of triangles that can meet in
 * it are those that are near enough to each other at its middle, and each of them is looked at by itself: exactly for
 * straight ways; for rigid ones by advancement along the direction in which it is nearest, where what counts is how
 * fast it comes nearer, not how fast it moves. So a plain contact is closed in on as by Newton's method. Windows grow
 * while they hold few pairs.
 *
 * Where a rigid motion cannot be proved free any further, the rounded poses of some later times are tested exactly. If
 * nothing meets there the piece is left in doubt, and the search goes on behind it, by pieces that double.
 *
 * With a separation the same is asked of a distance that is less by it, of straight ways as of rigid ones. What the
 * proofs keep is a little less than the separation, so that objects which keep just that are proved to.
 *
 * B. Mirtich, "Impulse-based dynamic simulation of rigid body systems", 1996, for advancement and directions; M. Tang,
 * Y. Kim, D. Manocha, "C2A: controlled conservative advancement for continuous collision detection of polygonal
 * models", 2009, for bounds of parts instead of the whole.
 */
#include <float.h>
#include <math.h>

#include "base/context.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "graze/distance.h"
#include "motion/pursuit.h"
#include "narrow/gap.h"
#include "narrow/passing.h"
#include "narrow/relate.h"

enum { OPTIONS_COOKIE = 0x6772C1CD, FEW_PAIRS = 128, MANY_PAIRS = 4096, RIGID_BUDGET = 1 << 20, TRIES = 3 };
enum { MOST_LEFT = 16, LOOK_BUDGET = 256 };
enum { SAMPLES = 4, TRIALS = 6, TRIAL_BUDGET = 1 << 17 }; /* where the distance is bounded */
static const double OUTWARD = 1 + 0x1p-30, INWARD = 1 - 0x1p-30, LEAST_WINDOW = 0x1p-30, BRACKET = 0x1p-30;
static const double LONG_STEP = 0x1p-4, NEAR = 0x1p-5, COARSE = 0x1p-2, KEPT = 1 - 0x1p-24;

typedef struct search {
  pursuit p;
  double separation; /* 0: they have to meet */
  double bracket;    /* how wide the times of a hit may be */
  double fine;       /* until then a wider one than usual has been tried in vain */
  double at, end;    /* free until then, but for what is in doubt; of no interest from there on */
  bool strict;       /* the first doubt ends it */
  bool doubtful;     /* from doubt[0] to doubt[1] nothing is known */
  double doubt[2];
  double size;  /* half the diagonal of the smaller object */
  double apart; /* their distance now, at least, but for what is kept */
  double reach; /* of the next window: how near pairs have to be to be looked at */
  double ahead; /* the first question looks for the distance up to so many times what matters */
  double clear; /* a lower bound of the distance at the start, then at the end; 0: none */
  bool done;
  graze_motion_result result;
} search;

const char *graze_motion_verdict_string(graze_motion_verdict verdict) {
  static const char *const words[] = {"free", "hit", "unknown"};
  return (unsigned)verdict < sizeof words / sizeof *words ? words[verdict] : "?";
}

graze_motion_options graze_default_motion_options(void) {
  return (graze_motion_options){.model = GRAZE_MOTION_LINEAR, .cookie = OPTIONS_COOKIE};
}

static void finish(search *s, graze_motion_verdict verdict, double earliest, double latest) {
  s->done = true;
  s->result.verdict = verdict;
  s->result.earliest = earliest;
  s->result.latest = latest;
}

static void finish_hit(search *s, double earliest, double latest) {
  finish(s, GRAZE_MOTION_HIT, s->doubtful ? s->doubt[0] : earliest, latest);
}

static void finish_free(search *s) {
  if (s->doubtful) {
    finish(s, GRAZE_MOTION_UNKNOWN, s->doubt[0], s->doubt[1]);
  } else {
    finish(s, GRAZE_MOTION_FREE, 0, 0);
  }
}

static bool is_exact(const search *s) {
  return s->p.path[0].model == GRAZE_MOTION_LINEAR && s->separation == 0;
}

/* ---- questions about a moment ---- */

/* The sides as they are then; that their poses are finite and in range has been checked of both ends. */
static void pose_sides(const search *s, double t, side sides[2]) {
  for (int i = 0; i < 2; i++) {
    sides[i] = (side){.mesh = s->p.mesh[i], .pose = gz_path_pose(&s->p.path[i], t)};
    sides[i].identity = graze_pose_is_identity(&sides[i].pose);
  }
}

/* All pairs of triangles that are nearer. */
static graze_status list_near(search *s, double t, double limit, graze_distance_result *found) {
  const graze_pose a = gz_path_pose(&s->p.path[0], t), b = gz_path_pose(&s->p.path[1], t);
  graze_distance_options options = graze_default_distance_options();
  options.limit = limit;
  options.near_pairs = GRAZE_FIND_ALL;
  graze_status status = graze_mesh_distance(s->p.query, s->p.mesh[0], &a, s->p.mesh[1], &b, &options, found);
  if (status == GRAZE_OK) work_add(&s->p.work, &found->work);
  return status;
}

static graze_status do_come_near(search *s, double t, bool *near) {
  const graze_pose a = gz_path_pose(&s->p.path[0], t), b = gz_path_pose(&s->p.path[1], t);
  graze_distance_options options = graze_default_distance_options();
  graze_distance_result found;
  options.limit = s->separation;
  graze_status status = graze_mesh_distance(s->p.query, s->p.mesh[0], &a, s->p.mesh[1], &b, &options, &found);
  if (status != GRAZE_OK) return status;
  *near = found.found;
  work_add(&s->p.work, &found.work);
  return GRAZE_OK;
}

/* Or come too near. */
static graze_status do_meet(search *s, double t, bool *meet) {
  if (s->separation > 0) return do_come_near(s, t, meet);
  const graze_pose a = gz_path_pose(&s->p.path[0], t), b = gz_path_pose(&s->p.path[1], t);
  graze_collide_options options = graze_default_collide_options();
  graze_collide_result found;
  options.find = GRAZE_FIND_ANY;
  graze_status status = graze_collide_meshes(s->p.query, s->p.mesh[0], &a, s->p.mesh[1], &b, &options, &found);
  if (status != GRAZE_OK) return status;
  *meet = found.hit;
  work_add(&s->p.work, &found.work);
  return GRAZE_OK;
}

/* ---- steps ---- */

/* What meets within `length` of a time of [from, to], and in it, is nearer to each other at that time, posed, and what
 * is as near as what is kept then, by that more; DBL_MAX: anything may. */
static double reach_in(const search *s, double from, double to, double length) {
  double reach =
      (gz_paths_reach(&s->p.path[0], &s->p.path[1], from, to, s->p.keep, length) + s->p.doubt) * OUTWARD + DBL_MIN;
  return reach < DBL_MAX ? reach : DBL_MAX;
}

/* What is left in the end of a distance at the start. */
static void keep_clear(search *s, double apart) {
  const double loss = gz_paths_loss(&s->p.path[0], &s->p.path[1], 0, 1, apart) + 2 * s->p.doubt;
  s->clear = larger((apart - loss) * INWARD, 0);
}

/* Whether they meet now, or are too near, at a distance of at least this. What is exact is not asked at a pose on the
 * way: that is rounded, and its vertices are beside their own ways. */
static graze_status try_now(search *s, double least) {
  bool meet = false;
  if (least > 0 && least >= s->separation) return GRAZE_OK;
  if (is_exact(s) && s->at > 0) return GRAZE_OK;
  graze_status status = do_meet(s, s->at, &meet);
  if (meet) finish_hit(s, s->at, s->at);
  return status;
}

/* As far as the distance takes them. *near: that is not far, and they are so near each other that few pairs are as
 * near.
 */
static graze_status advance(search *s, bool *near) {
  double least;
  const double reach = reach_in(s, s->at, s->end, s->end - s->at);
  const double wanted = smaller(s->p.keep + reach, DBL_MAX);
  const double limit = s->at == 0 && s->ahead > 1 ? smaller(s->p.keep + s->ahead * reach, DBL_MAX) : wanted;
  const double enough = smaller(s->p.keep + COARSE * reach, DBL_MAX);
  side sides[2];
  pose_sides(s, s->at, sides);
  graze_status status = gz_query_gap(s->p.query, &sides[0], &sides[1], limit, enough, &least, &s->p.work);
  if (status != GRAZE_OK) return status;
  status = try_now(s, least);
  if (status == GRAZE_OK && !s->done && least >= wanted && wanted < DBL_MAX) {
    if (s->at == 0) keep_clear(s, least);
    finish_free(s);
  }
  if (status != GRAZE_OK || s->done) return status;
  s->apart = larger(least * INWARD - s->p.keep - s->p.doubt, 0);
  double step = gz_paths_step(&s->p.path[0], &s->p.path[1], s->at, s->end, s->p.keep, s->apart) * INWARD;
  *near = !(step > LONG_STEP * (s->end - s->at)) && !(s->apart > NEAR * s->size);
  s->at = smaller(s->at + step, s->end);
  return GRAZE_OK;
}

/* A bracket wider than usual is good enough for a hit, but no reason to be in doubt. */
static bool is_coarse(const search *s) {
  return s->bracket > BRACKET && s->at >= s->fine;
}

/* What a bracket from there may end with: later, and no wider than that, also when its times are counted from the other
 * end, where either is rounded once more. */
static double bracket_end(const search *s, double from, double width) {
  const double most = s->p.path[0].backward ? s->bracket - 0x1p-52 : s->bracket;
  double to = from + smaller(width, most);
  if (to - from > most) to = nextafter(to, 0);
  return smaller(larger(to, nextafter(from, 2)), 1);
}

/* Behind a time until which they are free. */
static graze_status try_coarse(search *s, double from) {
  bool meet = false;
  s->fine = bracket_end(s, from, s->bracket);
  graze_status status = do_meet(s, s->fine, &meet);
  if (meet) finish_hit(s, from, s->fine);
  return status;
}

/* Likewise; there is no way on. */
static graze_status leave_in_doubt(search *s, double from) {
  const double bracket = smaller(s->bracket, BRACKET);
  bool meet = false;
  double to = from;
  for (int i = TRIES - 1; i >= 0 && !meet && to < 1; i--) {
    to = bracket_end(s, from, bracket * ldexp(1, -i));
    graze_status status = do_meet(s, to, &meet);
    if (status != GRAZE_OK) return status;
  }
  if (!meet && s->doubtful && to < 1) {
    to = smaller(from + (s->doubt[1] - s->doubt[0]), 1);
    graze_status status = do_meet(s, to, &meet);
    if (status != GRAZE_OK) return status;
  }
  if (meet) {
    finish_hit(s, from, to);
    return GRAZE_OK;
  }
  if (!s->doubtful) s->doubt[0] = from;
  s->doubtful = true;
  s->doubt[1] = s->at = to;
  return GRAZE_OK;
}

static void decide_linear(search *s, const graze_distance_result *near, double to, bool *refused) {
  double time[2] = {0, 0};
  bool found = false;
  *refused = !gz_pairs_first_time(&s->p, near->pairs, near->near_pairs, &found, time);
  /* A later meeting of these may have others before it. */
  if (found && time[1] <= to) {
    finish(s, GRAZE_MOTION_HIT, time[0], time[1]);
  } else {
    s->at = to;
  }
}

static graze_status decide_window(search *s, const graze_distance_result *near, double to) {
  bool refused = false;
  if (is_exact(s)) {
    decide_linear(s, near, to, &refused);
    return refused ? gz_fail_memory(s->p.context, gz_ccd_scratch_size()) : GRAZE_OK;
  }
  const bool coarse = is_coarse(s);
  bool stuck;
  s->p.least_step = 0x1p-6 * (coarse ? s->bracket : smaller(s->bracket, BRACKET));
  double until = gz_pairs_free_until(&s->p, near->pairs, near->near_pairs, s->at, to, &stuck);
  if (s->p.budget == 0 || (stuck && s->strict)) {
    finish(s, GRAZE_MOTION_UNKNOWN, s->doubtful ? s->doubt[0] : until, 1);
    return GRAZE_OK;
  }
  s->at = until;
  if (!stuck) return GRAZE_OK;
  return coarse ? try_coarse(s, until) : leave_in_doubt(s, until);
}

/* A window in which pairs can meet that are at most about `reach` from each other. */
static double window_end(const search *s, double reach) {
  const double end = smaller(s->at + LONG_STEP, s->end);
  double width = 2 * gz_paths_step(&s->p.path[0], &s->p.path[1], s->at, end, s->p.keep, reach);
  return smaller(s->at + larger(smaller(width, LONG_STEP), LEAST_WINDOW), s->end);
}

/* All pairs that can meet until the window's end. */
static graze_status open_window(search *s) {
  graze_distance_result near;
  double to = window_end(s, larger(1.25 * s->apart, s->reach)), middle = 0.5 * (s->at + to);
  const double reach = reach_in(s, s->at, to, 0.5 * (to - s->at)), limit = smaller(s->p.keep + reach, DBL_MAX);
  if (limit == DBL_MAX) { /* all pairs, whenever they meet */
    to = 1;
    if (!is_exact(s)) finish(s, GRAZE_MOTION_UNKNOWN, s->doubtful ? s->doubt[0] : s->at, 1);
    if (s->done) return GRAZE_OK;
  }
  graze_status status = list_near(s, middle, limit, &near);
  if (status != GRAZE_OK) return status;
  if (near.near_pairs < FEW_PAIRS) s->reach = smaller(4 * reach, 4 * NEAR * s->size);
  if (near.near_pairs > MANY_PAIRS) s->reach = 0.25 * reach;
  return decide_window(s, &near, to);
}

static graze_status run(search *s) {
  graze_status status = GRAZE_OK;
  s->size = smaller(s->p.path[0].around, s->p.path[1].around);
  while (status == GRAZE_OK && !s->done) {
    bool near = false, meet = false;
    status = s->at < s->end ? advance(s, &near) : do_meet(s, s->end, &meet);
    if (status != GRAZE_OK || s->done) break;
    if (s->at < s->end) {
      if (near) status = open_window(s);
    } else if (meet) {
      finish_hit(s, s->end, s->end);
    } else {
      finish_free(s);
    }
  }
  return status;
}

/* ---- all of the way at once ---- */

/* The way of both as two moments and bounds on what is between them, seen from either. */
static bool open_passage(const search *s, passage *way) {
  passing *p = &way->boxes;
  pose_sides(s, 0, way->ends[0]);
  pose_sides(s, 1, way->ends[1]);
  if (!gz_passage_open(way)) return false;
  for (int i = 0; i < 2; i++) {
    const motion_path *frame = &s->p.path[i];
    double share, fixed;
    p->known[i] = p->known[i] && gz_path_bend(frame, &s->p.path[1 - i], &share, &fixed);
    if (!p->known[i]) continue;
    fixed += (s->p.keep + 4 * s->p.doubt) / frame->least; /* both ends and what is between them are in doubt */
    p->known[i] = fixed < 1e30;
    p->bend[i] = (box_bend){(float)(share * (1 + 0x1p-10)), (float)(fixed * (1 + 0x1p-10) + 1e-36)};
  }
  return p->known[0] || p->known[1];
}

/* Few pairs of triangles, among which are all that can meet on a straight way, tell what there is to know. */
static graze_status decide_few(search *s, const graze_triangle_pair *pairs, uint32_t count) {
  const graze_distance_result near = {.pairs = pairs, .near_pairs = count};
  bool meet = false;
  graze_status status = do_meet(s, 0, &meet);
  if (meet) finish_hit(s, 0, 0);
  if (status != GRAZE_OK || meet) return status;
  status = decide_window(s, &near, 1);
  if (status == GRAZE_OK && !s->done) finish_free(s);
  return status;
}

/* Until there are too many pairs of nodes or triangles. */
static graze_status look_ahead(search *s) {
  graze_triangle_pair pairs[MOST_LEFT];
  passage way;
  uint32_t count;
  bool settled;
  if (!open_passage(s, &way)) return GRAZE_OK;
  graze_status status =
      gz_passage_list(s->p.query, &way, LOOK_BUDGET, is_exact(s) ? MOST_LEFT : 0, pairs, &count, &settled, &s->p.work);
  if (status != GRAZE_OK || !settled) return status;
  if (count > 0) return decide_few(s, pairs, count);
  finish_free(s);
  return GRAZE_OK;
}

/* ---- the call ---- */

/* 1 - x for x of [0, 1], rounded down or up. */
static double rest_of(double x, bool up) {
  double rest = 1 - x, back = 1 - rest; /* one of the two is exact */
  if (!up && back < x) return nextafter(rest, 0);
  return up && back > x ? nextafter(rest, 1) : rest;
}

/* Times counted from the end. */
static void turn_around(graze_motion_result *r) {
  if (r->verdict == GRAZE_MOTION_FREE) return;
  const double earliest = rest_of(r->latest, false);
  r->latest = rest_of(r->earliest, true);
  r->earliest = earliest;
}

static graze_status decide(search *s) {
  const graze_mesh *const *mesh = s->p.mesh;
  const double known = s->clear;
  bool meet = false;
  s->clear = 0;
  if (mesh[0]->triangle_count == 0 || mesh[1]->triangle_count == 0) return GRAZE_OK;
  if (!gz_paths_at_rest(&s->p.path[0], &s->p.path[1])) {
    if (known > s->p.keep) keep_clear(s, known);
    if (s->clear > s->p.keep) return GRAZE_OK;
    s->clear = 0;
    graze_status status = look_ahead(s);
    return status == GRAZE_OK && !s->done ? run(s) : status;
  }
  graze_status status = do_meet(s, 0, &meet);
  if (meet) finish_hit(s, 0, 0);
  return status;
}

static search begin(graze_query *query, pursued a, pursued b, const graze_motion_options *options, double kept) {
  search s = {.p = {.context = query->context,
                    .query = query,
                    .mesh = {a.mesh, b.mesh},
                    .path = {*a.path, *b.path},
                    .keep = options->separation * kept,
                    .budget = RIGID_BUDGET},
              .separation = options->separation,
              .bracket = options->bracket > 0 ? options->bracket : BRACKET,
              .end = 1,
              .ahead = 1};
  for (int i = 0; i < 2; i++) {
    s.p.path[i].backward = options->last;
    s.p.doubt += s.p.path[i].slack + s.p.path[i].strain;
  }
  return s;
}

/* What comes too near, or may, does not keep all of the separation from some time on, which may be earlier. */
static graze_status find_time(search *s, pursued a, pursued b, const graze_motion_options *options) {
  search all = begin(s->p.query, a, b, options, 1);
  graze_status status = decide(&all);
  work_add(&s->p.work, &all.p.work);
  if (status != GRAZE_OK) return status;
  graze_motion_result *r = &s->result;
  const bool hit = r->verdict == GRAZE_MOTION_HIT;
  const double latest = r->latest;
  *r = all.result;
  if (hit && r->verdict != GRAZE_MOTION_FREE) {
    r->verdict = GRAZE_MOTION_HIT;
    r->latest = smaller(r->latest, latest);
  }
  return GRAZE_OK;
}

/* ---- how far apart they are where it is not known whether they meet ---- */

/* An upper bound of the least distance in the bracket: that of some moments. */
static graze_status sample_distance(search *s, double *most) {
  const graze_motion_result *r = &s->result;
  *most = DBL_MAX;
  for (int i = 0; i <= SAMPLES; i++) {
    const double t = i < SAMPLES ? r->earliest + i * (r->latest - r->earliest) / SAMPLES : r->latest;
    const graze_pose a = gz_path_pose(&s->p.path[0], t), b = gz_path_pose(&s->p.path[1], t);
    graze_distance_result found;
    graze_status status = graze_mesh_distance(s->p.query, s->p.mesh[0], &a, s->p.mesh[1], &b, NULL, &found);
    if (status != GRAZE_OK) return status;
    work_add(&s->p.work, &found.work);
    *most = smaller(*most, (found.upper + s->p.doubt) * OUTWARD);
  }
  return GRAZE_OK;
}

/* Whether they come nearer than this in the bracket. */
static graze_status do_approach(search *s, pursued a, pursued b, double separation, graze_motion_verdict *verdict) {
  graze_motion_options options = graze_default_motion_options();
  options.separation = separation;
  options.last = s->p.path[0].backward;
  search part = begin(s->p.query, a, b, &options, KEPT);
  part.at = s->result.earliest;
  part.end = s->result.latest;
  part.strict = true;
  part.p.budget = s->p.budget;
  graze_status status = run(&part);
  s->p.budget = part.p.budget;
  work_add(&s->p.work, &part.p.work);
  *verdict = part.result.verdict;
  return status;
}

/* Bounds of the least distance in the bracket: what is proved to be kept, and what some moment has; closer by halves.
 */
static graze_status bound_distance(search *s, pursued a, pursued b) {
  double least = 0, most = DBL_MAX, limit;
  graze_status status = sample_distance(s, &most);
  if (status != GRAZE_OK) return status;
  limit = most < DBL_MAX ? most : 0;
  s->p.budget = TRIAL_BUDGET;
  for (int i = 0; i < TRIALS && s->p.budget > 0 && limit > 8 * s->p.doubt; i++) {
    const double separation = 0.5 * (least + limit);
    graze_motion_verdict verdict;
    status = do_approach(s, a, b, separation, &verdict);
    if (status != GRAZE_OK) return status;
    if (verdict == GRAZE_MOTION_FREE) least = separation * KEPT * INWARD;
    if (verdict == GRAZE_MOTION_HIT) most = smaller(most, (separation + s->p.doubt) * OUTWARD);
    if (verdict != GRAZE_MOTION_FREE) limit = separation;
  }
  s->result.distance[0] = least;
  s->result.distance[1] = most;
  return GRAZE_OK;
}

graze_status gz_motion_meshes(graze_query *query, pursued a, pursued b, const graze_motion_options *options,
                              double ahead, double *apart, graze_motion_result *result) {
  search s = begin(query, a, b, options, KEPT);
  s.ahead = ahead;
  s.clear = *apart;
  unsigned saved = gz_fp_enter();
  graze_status status = decide(&s);
  if (status == GRAZE_OK && options->separation > 0 && s.result.verdict != GRAZE_MOTION_FREE)
    status = find_time(&s, a, b, options);
  if (status == GRAZE_OK && s.result.verdict == GRAZE_MOTION_UNKNOWN) status = bound_distance(&s, a, b);
  gz_fp_leave(saved);
  if (status != GRAZE_OK) return status;
  s.result.work = s.p.work;
  if (options->last) turn_around(&s.result);
  *result = s.result;
  *apart = s.clear;
  return GRAZE_OK;
}

static graze_status check_body(const graze_query *query, const graze_motion_body *body, const char *which) {
  side ends[2];
  graze_status status = gz_query_side(query, body->mesh, &body->start, GRAZE_T1, which, &ends[0]);
  return status == GRAZE_OK ? gz_query_side(query, body->mesh, &body->end, GRAZE_T1, which, &ends[1]) : status;
}

static graze_status open_path(const graze_query *query, const graze_motion_body *body,
                              const graze_motion_options *options, int number, motion_path *path) {
  const double *center = options->centers != NULL ? options->centers[number] : NULL;
  const char *which = number == 0 ? "a" : "b";
  graze_mesh_facts facts;
  if (center != NULL && !(isfinite(center[0]) && isfinite(center[1]) && isfinite(center[2])))
    return gz_fail(query->context, GRAZE_ERROR_NOT_FINITE, "object %s: its center is not finite", which);
  graze_mesh_get_facts(body->mesh, &facts);
  unsigned saved = gz_fp_enter();
  path_fault fault = gz_path_open(path, &facts.box, &body->start, &body->end, options->model, center);
  gz_fp_leave(saved);
  if (fault != PATH_FINE)
    return gz_fail(query->context, GRAZE_ERROR_POSE, "object %s: %s", which, gz_path_fault_string(fault));
  if (center != NULL && !(path->slack < PATH_FARTHEST))
    return gz_fail(query->context, GRAZE_ERROR_LIMIT, "object %s: its center is too far away", which);
  return GRAZE_OK;
}

static graze_status pursue(graze_query *query, const graze_motion_body *a, const graze_motion_body *b,
                           const graze_motion_options *options, graze_motion_result *result) {
  motion_path path[2];
  double apart = 0;
  graze_status status = check_body(query, a, "a");
  if (status == GRAZE_OK) status = check_body(query, b, "b");
  if (status != GRAZE_OK) return status;
  if (a->mesh->triangle_count == 0 || b->mesh->triangle_count == 0) {
    *result = (graze_motion_result){.verdict = GRAZE_MOTION_FREE};
    return GRAZE_OK;
  }
  status = open_path(query, a, options, 0, &path[0]);
  if (status == GRAZE_OK) status = open_path(query, b, options, 1, &path[1]);
  if (status != GRAZE_OK) return status;
  const pursued one = {a->mesh, &path[0]}, other = {b->mesh, &path[1]};
  return gz_motion_meshes(query, one, other, options, 1, &apart, result);
}

graze_status graze_motion_meshes(graze_query *query, const graze_motion_body *a, const graze_motion_body *b,
                                 const graze_motion_options *options, graze_motion_result *result) {
  if (query == NULL || a == NULL || b == NULL || result == NULL || a->mesh == NULL || b->mesh == NULL) {
    return gz_fail_null(query != NULL ? query->context : NULL);
  }
  const graze_motion_options chosen = options != NULL ? *options : graze_default_motion_options();
  if (chosen.cookie != OPTIONS_COOKIE || (chosen.model != GRAZE_MOTION_LINEAR && chosen.model != GRAZE_MOTION_RIGID)) {
    return gz_fail(query->context, GRAZE_ERROR_ARGUMENT, "motion options: not initialised, or no model");
  }
  if (!(chosen.separation >= 0 && chosen.separation <= DBL_MAX))
    return gz_fail(query->context, GRAZE_ERROR_ARGUMENT, "the separation is not a finite number of 0 or more");
  if (!(chosen.bracket >= 0 && chosen.bracket <= 1))
    return gz_fail(query->context, GRAZE_ERROR_ARGUMENT, "the width of a bracket is not a number from 0 to 1");
  return pursue(query, a, b, &chosen, result);
}
