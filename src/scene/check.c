/* The check: an update of which nothing is remembered but boxes and pairs. All candidates, or those of a part, are
 * decided, and listed in the order of adding. */

#include "base/sort.h"
#include "scene/clearance.h"
#include "scene/decide.h"
#include "scene/live.h"

enum { CHECK_COOKIE = 0x67727331 };

graze_scene_check_options graze_default_scene_check_options(void) {
  return (graze_scene_check_options){.find = GRAZE_FIND_COUNT, .exactness = GRAZE_T1, .cookie = CHECK_COOKIE};
}

typedef struct check {
  graze_scene *scene;
  const uint64_t *pairs; /* pair_key of the ranks of each candidate, ascending */
  uint64_t count;
  const uint64_t *all; /* the candidates of all parts */
  uint64_t all_count, weight;
  graze_scene_check_options options;
  const outcome *outcomes; /* of the candidates */
  graze_work work;
} check;

/* ---- candidates ---- */

static bool wanted(const check *c, uint32_t a, uint32_t b) {
  return c->options.wanted == NULL || c->options.wanted(c->options.wanted_user, scene_ranked(c->scene, a)->user_id,
                                                        scene_ranked(c->scene, b)->user_id);
}

/* Takes out what the caller's filter does; both halves stay in order. */
static void ask_wanted(check *c, uint64_t *keys, uint64_t *aside) {
  uint64_t kept = 0, out = 0;
  for (uint64_t i = 0; i < c->count; i++) {
    if (wanted(c, (uint32_t)(keys[i] >> 32), (uint32_t)keys[i]))
      keys[kept++] = keys[i];
    else
      aside[out++] = keys[i];
  }
  c->count = kept;
  c->scene->unwanted_count = out;
}

/* Pairs of the broad phase are in the order of proxies, which mostly is that of adding. */
static graze_status list_candidates(check *c) {
  graze_scene *scene = c->scene;
  size_t bytes = scene->live->count * sizeof(uint64_t);
  if (!gz_buffer_reserve(scene->context, &scene->wanted, bytes, 0) ||
      !gz_buffer_reserve(scene->context, &scene->unwanted, bytes, 0)) {
    return gz_fail_memory(scene->context, 2 * bytes);
  }
  uint64_t *keys = scene->wanted.data;
  c->pairs = keys;
  c->count = gz_live_list(scene, true, keys, NULL);
  for (uint64_t i = 1; i < c->count; i++) {
    if (keys[i - 1] < keys[i]) continue;
    gz_sort_keys(keys, scene->unwanted.data, c->count);
    break;
  }
  ask_wanted(c, keys, scene->unwanted.data);
  return GRAZE_OK;
}

/* A part is a range of the candidates, so that its pairs have objects in common: a pair is in the part in which its
 * middle lies when the weights are put end to end. */
static void choose_part(check *c) {
  const uint32_t parts = c->options.parts > 1 ? c->options.parts : 1, part = c->options.part;
  uint64_t total = 0, sum = 0, first = c->count, end = c->count;
  c->all = c->pairs;
  c->all_count = c->count;
  for (uint64_t i = 0; i < c->count; i++) total += gz_decide_weight(c->scene, c->pairs[i]) + 1;
  for (uint64_t i = 0; i < c->count; i++) {
    const uint64_t weight = gz_decide_weight(c->scene, c->pairs[i]) + 1;
    const uint32_t of = (uint32_t)((unsigned __int128)(2 * sum + weight) * parts / (2 * (unsigned __int128)total));
    if (of == part && first == c->count) first = i;
    if (of == part) c->weight += weight - 1;
    if (of > part && end == c->count) end = i;
    sum += weight;
  }
  if (first > end) first = end;
  c->pairs += first;
  c->count = end - first;
}

/* The clearances of all candidates. */
static graze_status ask_clearances(const check *c) {
  graze_scene *scene = c->scene;
  const graze_scene_check_options *o = &c->options;
  size_t bytes = c->count * sizeof(double);
  if (!gz_buffer_reserve(scene->context, &scene->clearances, bytes, 0)) return gz_fail_memory(scene->context, bytes);
  return gz_ask_clearances(scene, o->clearance, o->clearance_user, c->pairs, c->count, scene->clearances.data);
}

/* ---- results ---- */

static graze_object_pair describe(const graze_scene *scene, uint32_t a, uint32_t b) {
  const uint32_t *order = scene->order.data;
  const object *x = scene_ranked(scene, a), *y = scene_ranked(scene, b);
  return (graze_object_pair){.a = {order[a], x->generation},
                             .b = {order[b], y->generation},
                             .user_id_a = x->user_id,
                             .user_id_b = y->user_id,
                             .verdict = {.relation = GRAZE_SEPARATE}};
}

static graze_object_pair describe_candidate(const check *c, uint64_t candidate) {
  const graze_scene *scene = c->scene;
  const outcome *o = c->outcomes + candidate;
  uint64_t key = c->pairs[candidate];
  graze_object_pair pair = describe(scene, (uint32_t)(key >> 32), (uint32_t)key);
  pair.counts = o->counts;
  pair.verdict = o->verdict;
  pair.gap = o->gap;
  if (o->counts.triangle_pairs > 0 && c->options.find == GRAZE_FIND_ALL) {
    pair.pairs = (const graze_triangle_pair *)scene->all.pairs.data + o->list;
  }
  if (c->options.outlines && o->verdict.relation > GRAZE_CLEARANCE) {
    pair.outline = o->outline;
    pair.outline.points = (const double(*)[3])scene->all.points.data + o->points;
    pair.outline.starts = (const uint32_t *)scene->all.starts.data + o->starts;
  }
  return pair;
}

static bool is_clash(const outcome *o) {
  return o->finished && o->verdict.relation != GRAZE_SEPARATE;
}

/* Pairs that are not separate, in the order of the candidates. */
static uint64_t list_hits(const check *c, graze_object_pair *out) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < c->count; i++) {
    if (is_clash(&c->outcomes[i])) out[n++] = describe_candidate(c, i);
  }
  return n;
}

/* The place of the pair, which is candidate number `i` of all, in this part; the count: it is of another. */
static uint64_t place_in_part(const check *c, uint64_t i) {
  const uint64_t first = (uint64_t)(c->pairs - c->all);
  return i >= first && i - first < c->count ? i - first : c->count;
}

/* Every pair whose answer is known; *unwanted counts those that the caller's filter takes out on the way. */
static uint64_t list_all(const check *c, graze_object_pair *out, uint64_t *unwanted) {
  const graze_scene *scene = c->scene;
  const uint64_t *aside = scene->unwanted.data;
  uint64_t n = 0, next = 0, skipped = 0;
  for (uint32_t a = 0; a < scene->count; a++) {
    for (uint32_t b = a + 1; b < scene->count; b++) {
      if (next < c->all_count && c->all[next] == pair_key(a, b)) {
        const uint64_t place = place_in_part(c, next++);
        if (place < c->count && c->outcomes[place].finished) out[n++] = describe_candidate(c, place);
      } else if (skipped < scene->unwanted_count && aside[skipped] == pair_key(a, b)) {
        skipped++;
      } else if (filter_ignores(&scene->rules, a, b)) {
        continue;
      } else if (!wanted(c, a, b)) {
        ++*unwanted;
      } else if (c->options.part == 0) {
        out[n++] = describe(scene, a, b);
      }
    }
  }
  return n;
}

static graze_status make_result(const check *c, graze_scene_check_result *result) {
  graze_scene *scene = c->scene;
  graze_scene_check_result r = {
      .object_pairs = scene->object_pairs, .ignored_pairs = scene->ignored_pairs, .work = c->work};
  r.candidate_pairs = c->all_count;
  r.decided_pairs = c->count;
  r.decided_weight = c->weight;
  for (uint64_t i = 0; i < c->count; i++) {
    const outcome *o = c->outcomes + i;
    r.clashes += is_clash(o);
    if (o->finished) r.relations[o->verdict.relation]++;
  }
  uint64_t most = c->options.all_pairs ? scene->object_pairs : r.clashes;
  if (most > SIZE_MAX / sizeof(graze_object_pair) ||
      !gz_buffer_reserve(scene->context, &scene->results, most * sizeof(graze_object_pair), 0)) {
    return gz_fail(scene->context, GRAZE_ERROR_MEMORY, "out of memory: the list of %llu pairs of objects",
                   (unsigned long long)most);
  }
  r.unwanted_pairs = scene->unwanted_count;
  r.pair_count =
      c->options.all_pairs ? list_all(c, scene->results.data, &r.unwanted_pairs) : list_hits(c, scene->results.data);
  r.object_pairs -= r.unwanted_pairs;
  r.pairs = r.pair_count != 0 ? scene->results.data : NULL;
  *result = r;
  return GRAZE_OK;
}

static graze_status check_options(const graze_context *context, const graze_scene_check_options *o) {
  if (o->cookie != CHECK_COOKIE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "check: the options were not initialised");
  if (o->find != GRAZE_FIND_ALL && o->find != GRAZE_FIND_COUNT && o->find != GRAZE_FIND_ANY) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "check: unknown value of find");
  }
  if (o->part > 0 && o->part >= o->parts)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "check: part %u of %u parts", o->part, o->parts);
  if (o->outlines && o->find == GRAZE_FIND_ANY) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "check: outlines need every meeting pair, not any");
  }
  if ((o->clearance == NULL) != (o->reach == NULL)) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "check: clearance and reach go together");
  }
  return gz_decide_check_question(context, "check", o->exactness, o->open);
}

static graze_status run_check(check *c, graze_scene_check_result *result) {
  graze_scene *scene = c->scene;
  const graze_scene_check_options *o = &c->options;
  const bool clear = o->clearance != NULL;
  graze_status status = gz_live_set_reach(scene, clear ? o->reach : NULL, o->clearance_user);
  if (status == GRAZE_OK) status = gz_live_bring_up(scene, o->exactness, false);
  if (status == GRAZE_OK) status = list_candidates(c);
  if (status == GRAZE_OK) choose_part(c);
  if (status == GRAZE_OK && clear) status = ask_clearances(c);
  if (status != GRAZE_OK) return status;
  deciding d = {.scene = scene,
                .pairs = c->pairs,
                .count = c->count,
                .find = o->find,
                .relate = {.exactness = o->exactness, .open = o->open},
                .outlines = o->outlines,
                .roundings = o->roundings,
                .roundings_user = o->roundings_user,
                .clearances = clear ? scene->clearances.data : NULL,
                .progress = o->progress,
                .progress_user = o->progress_user};
  graze_status run = gz_scene_decide(&d);
  if (run != GRAZE_OK && run != GRAZE_CANCELLED) return run;
  c->outcomes = d.outcomes;
  c->work = d.work;
  status = make_result(c, result);
  return status == GRAZE_OK ? run : status;
}

graze_status graze_scene_check(graze_scene *scene, const graze_scene_check_options *options,
                               graze_scene_check_result *result) {
  if (scene == NULL) return GRAZE_ERROR_ARGUMENT;
  if (result == NULL) return gz_fail(scene->context, GRAZE_ERROR_ARGUMENT, "check: null pointer");
  check c = {.scene = scene, .options = options != NULL ? *options : graze_default_scene_check_options()};
  graze_status status = check_options(scene->context, &c.options);
  if (status != GRAZE_OK) return status;
  unsigned saved = gz_fp_enter();
  status = run_check(&c, result);
  gz_fp_leave(saved);
  return status;
}
