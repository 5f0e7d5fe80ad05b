/* The check: candidates, an exact query for each, results in the order of adding. */

#include "scene/candidates.h"
#include "scene/decide.h"

enum { CHECK_COOKIE = 0x67727331 };

graze_scene_check_options graze_default_scene_check_options(void) {
  return (graze_scene_check_options){.find = GRAZE_FIND_COUNT, .exactness = GRAZE_T1, .cookie = CHECK_COOKIE};
}

typedef struct check {
  graze_scene *scene;
  graze_scene_check_options options;
  const outcome *outcomes; /* of the candidates */
} check;

/* ---- the caller's filter ---- */

static bool wanted(const check *c, uint32_t a, uint32_t b) {
  return c->options.wanted(c->options.wanted_user, scene_ranked(c->scene, a)->user_id,
                           scene_ranked(c->scene, b)->user_id);
}

/* Parts the candidates; both halves stay in order. */
static graze_status ask_wanted(check *c) {
  graze_scene *scene = c->scene;
  uint64_t count = scene->found.count, kept = 0, out = 0;
  scene->unwanted_count = 0;
  if (c->options.wanted == NULL || count == 0) return GRAZE_OK;
  size_t bytes = count * sizeof(uint64_t);
  if (!gz_buffer_reserve(scene->context, &scene->wanted, bytes, 0) ||
      !gz_buffer_reserve(scene->context, &scene->unwanted, bytes, 0)) {
    return gz_fail_memory(scene->context, 2 * bytes);
  }
  uint64_t *in = scene->wanted.data, *aside = scene->unwanted.data;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t key = scene->found.pairs[i];
    if (wanted(c, (uint32_t)(key >> 32), (uint32_t)key))
      in[kept++] = key;
    else
      aside[out++] = key;
  }
  scene->found.pairs = in;
  scene->found.count = kept;
  scene->unwanted_count = out;
  return GRAZE_OK;
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
  uint64_t key = scene->found.pairs[candidate];
  graze_object_pair pair = describe(scene, (uint32_t)(key >> 32), (uint32_t)key);
  pair.counts = o->counts;
  pair.verdict = o->verdict;
  if (o->counts.triangle_pairs > 0 && c->options.find == GRAZE_FIND_ALL) {
    pair.pairs = (const graze_triangle_pair *)scene->all.pairs.data + o->list;
  }
  if (c->options.outlines && o->verdict.relation != GRAZE_SEPARATE) {
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
  for (uint64_t i = 0; i < c->scene->found.count; i++) {
    if (is_clash(&c->outcomes[i])) out[n++] = describe_candidate(c, i);
  }
  return n;
}

/* Every pair whose answer is known; *unwanted counts those that the caller's filter takes out on the way. */
static uint64_t list_all(const check *c, graze_object_pair *out, uint64_t *unwanted) {
  const graze_scene *scene = c->scene;
  const uint64_t *aside = scene->unwanted.data;
  uint64_t n = 0, next = 0, skipped = 0;
  for (uint32_t a = 0; a < scene->count; a++) {
    for (uint32_t b = a + 1; b < scene->count; b++) {
      if (next < scene->found.count && scene->found.pairs[next] == pair_key(a, b)) {
        if (c->outcomes[next].finished) out[n++] = describe_candidate(c, next);
        next++;
      } else if (skipped < scene->unwanted_count && aside[skipped] == pair_key(a, b)) {
        skipped++;
      } else if (filter_ignores(&scene->rules, a, b)) {
        continue;
      } else if (c->options.wanted != NULL && !wanted(c, a, b)) {
        ++*unwanted;
      } else {
        out[n++] = describe(scene, a, b);
      }
    }
  }
  return n;
}

static graze_status make_result(const check *c, graze_scene_check_result *result) {
  graze_scene *scene = c->scene;
  graze_scene_check_result r = {.object_pairs = scene->object_pairs, .ignored_pairs = scene->ignored_pairs};
  r.candidate_pairs = scene->found.count;
  for (uint64_t i = 0; i < scene->found.count; i++) {
    const outcome *o = c->outcomes + i;
    r.clashes += is_clash(o);
    if (o->finished) r.relations[o->verdict.relation]++;
    r.work.node_pairs += o->work.node_pairs;
    r.work.triangle_tests += o->work.triangle_tests;
    r.work.exact_tests += o->work.exact_tests;
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
  if (o->outlines && o->find == GRAZE_FIND_ANY) {
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "check: outlines need every meeting pair, not any");
  }
  return gz_decide_check_question(context, "check", o->exactness, o->open);
}

static graze_status run_check(check *c, graze_scene_check_result *result) {
  graze_scene *scene = c->scene;
  graze_status status = gz_scene_prepare(scene);
  if (status == GRAZE_OK) status = gz_candidates_check_poses(scene, c->options.exactness);
  if (status == GRAZE_OK) status = gz_candidates_find(scene, c->options.exactness);
  if (status == GRAZE_OK) status = ask_wanted(c);
  if (status != GRAZE_OK) return status;
  deciding d = {.scene = scene,
                .pairs = scene->found.pairs,
                .count = scene->found.count,
                .find = c->options.find,
                .relate = graze_default_relate_options(),
                .outlines = c->options.outlines,
                .progress = c->options.progress,
                .progress_user = c->options.progress_user};
  d.relate.exactness = c->options.exactness;
  d.relate.open = c->options.open;
  graze_status run = gz_scene_decide(&d);
  if (run != GRAZE_OK && run != GRAZE_CANCELLED) return run;
  c->outcomes = d.outcomes;
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
