/* page_meshes.c: see page_meshes.h. One mesh is in memory at a time, so that a page needs little more than its largest
 * mesh. Processors are taken to be little-endian, as the page's are. */
#include "page_meshes.h"

#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "simplify.h"

/* How much closer meshes of a clash are looked at than others, and how often the triangles of the budget may be drawn
 * in all when many objects share a mesh. */
static const double clash_weight = 4;
enum { DRAWN_PER_BUDGET = 4 };

typedef struct use {
  uintptr_t mesh;
  uint32_t object;
} use;

static int compare_uses(const void *left, const void *right) {
  const use *a = left, *b = right;
  if (a->mesh != b->mesh) return a->mesh < b->mesh ? -1 : 1;
  return (a->object > b->object) - (a->object < b->object);
}

/* Meshes are told apart by address and numbered by their first object: addresses must not decide the order. */
static bool number_meshes(page_meshes *plan, const graze_report *report, const uint32_t *instances) {
  use *uses = gz_new(plan->context, report->object_count + 1, sizeof *uses);
  uint32_t count = 0;
  if (uses == NULL) return false;
  for (uint32_t i = 0; i < report->object_count; i++) {
    plan->of_object[i] = PAGE_NO_MESH;
    if (report->objects[i].mesh != NULL) uses[count++] = (use){(uintptr_t)report->objects[i].mesh, i};
  }
  qsort(uses, count, sizeof *uses, compare_uses);
  for (uint32_t i = 0, first = 0; i < count; i++) { /* at first: the number of the mesh's first object */
    if (uses[i].mesh != uses[first].mesh) first = i;
    plan->of_object[uses[i].object] = uses[first].object;
  }
  gz_free(uses);
  for (uint32_t i = 0; i < report->object_count; i++) {
    if (plan->of_object[i] == PAGE_NO_MESH) continue;
    if (plan->of_object[i] == i) {
      plan->meshes[plan->count] = (page_mesh){.mesh = report->objects[i].mesh};
      plan->of_object[i] = plan->count++;
    } else {
      plan->of_object[i] = plan->of_object[plan->of_object[i]]; /* the first one has its number by now */
    }
    plan->meshes[plan->of_object[i]].instances += instances != NULL ? instances[i] : 1;
  }
  return true;
}

static bool share_out(page_meshes *plan, const graze_report *report, uint64_t budget) {
  simplify_wish *wishes = gz_new(plan->context, plan->count + 1, sizeof *wishes);
  if (wishes == NULL) return false;
  for (uint32_t i = 0; i < plan->count; i++) {
    page_mesh *m = plan->meshes + i;
    m->triangles = graze_mesh_triangle_count(m->mesh);
    wishes[i] = (simplify_wish){m->triangles, m->instances, 1};
  }
  for (uint32_t i = 0; i < report->clash_count; i++) {
    uint32_t a = plan->of_object[report->clashes[i].a], b = plan->of_object[report->clashes[i].b];
    if (a != PAGE_NO_MESH) wishes[a].weight = clash_weight;
    if (b != PAGE_NO_MESH) wishes[b].weight = clash_weight;
  }
  uint64_t drawn = budget < UINT64_MAX / DRAWN_PER_BUDGET ? budget * DRAWN_PER_BUDGET : UINT64_MAX;
  gz_simplify_shares(wishes, plan->count, budget, drawn, plan->shares);
  gz_free(wishes);
  return true;
}

bool gz_page_meshes_plan(const graze_context *context, page_meshes *plan, const graze_report *report,
                         const uint32_t *instances, uint64_t budget) {
  size_t room = (size_t)report->object_count + 1;
  *plan = (page_meshes){.context = context};
  plan->meshes = gz_new_zeroed(plan->context, room, sizeof *plan->meshes);
  plan->of_object = gz_new_zeroed(plan->context, room, sizeof *plan->of_object);
  plan->shares = gz_new_zeroed(plan->context, room, sizeof *plan->shares);
  if (plan->meshes == NULL || plan->of_object == NULL || plan->shares == NULL) return false;
  return number_meshes(plan, report, instances) && share_out(plan, report, budget);
}

void gz_page_meshes_free(page_meshes *plan) {
  gz_free(plan->meshes);
  gz_free(plan->of_object);
  gz_free(plan->shares);
}

static void put_triangles(base64_stream *stream, const simple_mesh *made) {
  if (made->point_count > UINT16_MAX + 1) {
    gz_base64_put(stream, made->triangles, made->triangle_count * sizeof *made->triangles);
    return;
  }
  for (uint32_t t = 0; t < made->triangle_count; t++) {
    uint16_t narrow[3];
    for (int c = 0; c < 3; c++) narrow[c] = (uint16_t)made->triangles[t][c];
    gz_base64_put(stream, narrow, sizeof narrow);
  }
}

static void put_mesh(gz_text *out, const simple_mesh *made) {
  base64_stream stream = {.text = out};
  gz_put_text(out, "<script type=\"text/plain\" class=\"mesh\">");
  gz_base64_put(&stream, made->points, made->point_count * sizeof *made->points);
  if (made->point_count % 2 == 1) gz_base64_put(&stream, "\0", 2);
  put_triangles(&stream, made);
  gz_base64_end(&stream);
  gz_put_text(out, "</script>\n");
}

bool gz_page_meshes_put(page_meshes *plan, gz_text *out) {
  simplifier work = {.context = plan->context};
  bool done = true;
  for (uint32_t i = 0; i < plan->count && !out->refused && done; i++) {
    page_mesh *m = plan->meshes + i;
    done = gz_simplify(&work, m->mesh, plan->shares[i]);
    if (!done) break;
    put_mesh(out, &work.made);
    m->shown = work.made.triangle_count;
    m->points = work.made.point_count;
    m->solid = work.made.solid;
    memcpy(m->min, work.made.min, sizeof m->min);
    memcpy(m->max, work.made.max, sizeof m->max);
  }
  gz_simplifier_free(&work);
  return done;
}

void gz_page_put_moves(const page_meshes *plan, const graze_motion_move *moves, uint64_t count, const double origin[3],
                       gz_text *out) {
  base64_stream stream = {.text = out};
  gz_put_text(out, "<script type=\"text/plain\" id=\"moves\">");
  for (uint64_t i = 0; i < count; i++) {
    const graze_motion_move *move = &moves[i];
    uint32_t mesh = plan->of_object[move->object], head[2] = {move->step, move->object};
    double middle[3] = {0, 0, 0};
    float numbers[12];
    for (int k = 0; k < 3 && mesh != PAGE_NO_MESH; k++)
      middle[k] = plan->meshes[mesh].min[k] / 2 + plan->meshes[mesh].max[k] / 2;
    graze_pose_apply(&move->pose, middle, middle);
    for (int k = 0; k < 9; k++) numbers[k] = (float)move->pose.m[k / 3 * 4 + k % 3];
    for (int k = 0; k < 3; k++) numbers[9 + k] = (float)(middle[k] - origin[k]);
    gz_base64_put(&stream, head, sizeof head);
    gz_base64_put(&stream, numbers, sizeof numbers);
  }
  gz_base64_end(&stream);
  gz_put_text(out, "</script>\n");
}
