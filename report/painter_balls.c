/* painter_balls.c: the balls of a film, as part of a picture's subject. A ball is a square that faces the eye, on which
 * every sample finds where its line of sight meets the sphere and how deep that is: round at any size, no mesh, one
 * instance of a few numbers each. Colours are those of the page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gl/program.h"
#include "painter.h"
#include "track.h"

typedef struct ball_instance {
  float place[4]; /* in view space, and the radius */
  float colour[4];
} ball_instance;

static const float ramp[RAMP_COLOURS][3] = {{0.208f, 0.384f, 0.608f},
                                            {0.247f, 0.604f, 0.651f},
                                            {0.663f, 0.776f, 0.373f},
                                            {0.957f, 0.694f, 0.235f},
                                            {0.847f, 0.251f, 0.122f}};

static const char balls_vertex[] =
    "#version 450 core\n"
    "layout(location = 0) in vec4 ball;\n"
    "layout(location = 1) in vec4 colour;\n"
    "layout(location = 0) uniform vec3 projection;\n" /* 1 / tan_x, 1 / tan_y, near */
    "flat out vec4 sphere;\n"
    "flat out vec4 tint;\n"
    "sample out vec3 place;\n"
    "void main() {\n"
    "  sphere = ball;\n"
    "  tint = colour;\n"
    "  float far = length(ball.xyz), radius = ball.w;\n"
    "  vec3 ahead = ball.xyz / far;\n"
    "  vec3 side = normalize(cross(abs(ahead.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0), ahead));\n"
    "  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;\n"
    "  float reach = radius * far / sqrt(max((far - radius) * (far + radius), 1e-12));\n"
    "  place = ball.xyz + reach * (corner.x * side + corner.y * cross(ahead, side));\n"
    "  gl_Position = vec4(place.xy * projection.xy, projection.z, place.z);\n"
    "  if (far < radius * 1.001) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);\n" /* the eye is in it */
    "}\n";

static const char balls_fragment[] =
    "#version 450 core\n"
    "layout(location = 0) uniform vec3 projection;\n"
    "flat in vec4 sphere;\n"
    "flat in vec4 tint;\n"
    "sample in vec3 place;\n"
    "out vec4 result;\n"
    "void main() {\n"
    "  vec3 ray = normalize(place);\n"
    "  float along = dot(ray, sphere.xyz);\n"
    "  vec3 aside = sphere.xyz - ray * along;\n" /* keeps the digits that a difference of squares would lose */
    "  float rest = sphere.w * sphere.w - dot(aside, aside);\n"
    "  if (rest < 0.0) discard;\n"
    "  gl_FragDepth = projection.z / (ray.z * (along - sqrt(rest)));\n"
    "  result = tint;\n"
    "}\n";

bool gz_painter_balls_create(graze_painter *painter) {
  const gl_functions *gl = painter->gl;
  gl_message message;
  painter->programs.balls = gz_gl_program(gl, "balls", balls_vertex, balls_fragment, &message);
  if (painter->programs.balls == 0) return gz_painter_fail(painter, GRAZE_ERROR_UNSUPPORTED, "%s", message.text);
  gl->CreateVertexArrays(1, &painter->balls);
  for (GLuint i = 0; i < 2; i++) {
    gl->EnableVertexArrayAttrib(painter->balls, i);
    gl->VertexArrayAttribFormat(painter->balls, i, 4, GL_FLOAT, GL_FALSE, i * 4 * sizeof(float));
    gl->VertexArrayAttribBinding(painter->balls, i, 0);
  }
  gl->VertexArrayBindingDivisor(painter->balls, 0, 1);
  return true;
}

void gz_painter_balls_destroy(graze_painter *painter) {
  painter->gl->DeleteProgram(painter->programs.balls);
  painter->gl->DeleteVertexArrays(1, &painter->balls);
  gz_gl_stream_destroy(painter->gl, &painter->ball_instances);
}

/* From still to fast, from never to most often; `part` from 0 to 1. */
static void find_ramp(double part, float colour[4]) {
  const double at = fmin(fmax(part, 0), 1) * (RAMP_COLOURS - 1);
  const int first = at < RAMP_COLOURS - 2 ? (int)at : RAMP_COLOURS - 2;
  for (int k = 0; k < 3; k++) colour[k] = ramp[first][k] + (ramp[first + 1][k] - ramp[first][k]) * (float)(at - first);
  colour[3] = 1;
}

void gz_painter_chance_colour(const graze_track *track, uint32_t member, float colour[4]) {
  static const float grey[4] = {0.604f, 0.655f, 0.694f, 1};
  const graze_track_chance *chance = gz_track_chance_of(track, member);
  memcpy(colour, grey, sizeof grey);
  if (chance != NULL && chance->runs > 0) find_ramp((double)chance->runs / (double)track->most_runs, colour);
}

static void find_plain(uint32_t rgb, float colour[4]) {
  for (int k = 0; k < 3; k++) colour[k] = (float)(rgb >> (16 - 8 * k) & 255) / 255;
  colour[3] = 1;
}

void gz_painter_ball_colour(const graze_track *track, const painter_ball *ball, float colour[4]) {
  static const uint32_t of_sets[] = {0x4c78a8, 0xe0873a, 0x5ba053, 0xc45b5b, 0x7a68a6,
                                     0xb59b3c, 0x4ea5a0, 0xb46a9b, 0x8a6d5a, 0x7f8c99};
  if (track->chances.runs > 0)
    gz_painter_chance_colour(track, ball->ball, colour);
  else if (track->colour == GRAZE_TRACK_SET)
    find_plain(of_sets[ball->set % (sizeof of_sets / sizeof of_sets[0])], colour);
  else if (track->colour == GRAZE_TRACK_CONTACT)
    find_plain(ball->touching ? 0xe8710a : 0x9aa7b1, colour);
  else
    find_ramp(ball->top > 0 ? ball->speed / ball->top : 0, colour);
}

/* Those that no mesh stands for; returns how many. */
static uint32_t fill_instances(const graze_track *track, const painter_view *view, const double *positions,
                               const double *speeds, const bool *touching, ball_instance *instances) {
  const double top = gz_track_speed_of(track, gz_track_top_level(track));
  uint32_t set = 0, count = 0;
  size_t end = track->set_count > 0 ? track->sets[0].count : 0;
  for (size_t i = 0; i < track->balls; i++) {
    while (i == end) end += track->sets[++set].count;
    if (track->sets[set].mesh != NULL || (track->colliding && !touching[i])) continue;
    const painter_ball ball = {(uint32_t)i, set, speeds[i], top, touching[i]};
    ball_instance *instance = &instances[count++];
    for (int r = 0; r < 3; r++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += view->axes[r][k] * (positions[3 * i + (size_t)k] - view->eye[k]);
      instance->place[r] = (float)sum;
    }
    instance->place[3] = (float)track->radii[i];
    gz_painter_ball_colour(track, &ball, instance->colour);
  }
  return count;
}

static void draw(graze_painter *painter, const painter_view *view, const ball_instance *instances, uint32_t count) {
  const gl_functions *gl = painter->gl;
  gz_gl_stream_fill(gl, &painter->ball_instances, instances, count * sizeof *instances);
  gl->UseProgram(painter->programs.balls);
  gl->ProgramUniform3f(painter->programs.balls, 0, (float)(1 / view->tan_x), (float)(1 / view->tan_y),
                       (float)view->nearest);
  gl->BindVertexArray(painter->balls);
  gl->VertexArrayVertexBuffer(painter->balls, 0, painter->ball_instances.buffer, 0, sizeof *instances);
  gl->DrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)count);
}

bool gz_painter_balls_draw(graze_painter *painter, const painter_view *view, graze_track *track, uint32_t frame) {
  const size_t n = track->balls;
  double *positions = gz_new(painter->owner, 3 * n + 1, sizeof *positions),
         *speeds = gz_new(painter->owner, n + 1, sizeof *speeds);
  ball_instance *instances = gz_new(painter->owner, n + 1, sizeof *instances);
  bool *touching = gz_new(painter->owner, n + 1, sizeof *touching);
  bool good = positions != NULL && speeds != NULL && instances != NULL && touching != NULL;
  if (!good) gz_painter_fail_memory(painter);
  if (good && graze_track_read_frame(track, frame, positions, speeds, touching) != GRAZE_OK)
    good = gz_painter_fail_memory(painter);
  const uint32_t count = good ? fill_instances(track, view, positions, speeds, touching, instances) : 0;
  if (count > 0) draw(painter, view, instances, count);
  gz_free(positions);
  gz_free(speeds);
  gz_free(instances);
  gz_free(touching);
  return good;
}

/* ---- walls ------------------------------------------------------------------------------------------------------- */

/* A convex polygon; each cut adds at most one corner. */
typedef struct outline {
  double (*corners)[3], (*cut)[3];
  size_t count;
} outline;

/* Takes away what is behind the plane (Sutherland and Hodgman 1974). */
static void cut_outline(outline *o, const double point[3], const double normal[3], double slack) {
  size_t count = 0;
  for (size_t i = 0; i < o->count; i++) {
    const double *p = o->corners[i], *q = o->corners[(i + 1) % o->count];
    double above_p = slack, above_q = slack;
    for (int k = 0; k < 3; k++) {
      above_p += normal[k] * (p[k] - point[k]);
      above_q += normal[k] * (q[k] - point[k]);
    }
    if (above_p >= 0) memcpy(o->cut[count++], p, sizeof *o->cut);
    if ((above_p >= 0) == (above_q >= 0)) continue;
    const double part = above_p / (above_p - above_q);
    for (int k = 0; k < 3; k++) o->cut[count][k] = p[k] + part * (q[k] - p[k]);
    count++;
  }
  double(*swap)[3] = o->corners;
  o->corners = o->cut;
  o->cut = swap;
  o->count = count;
}

/* A square of the plane about the middle of the box, larger than it. */
static void begin_outline(outline *o, const graze_box *box, const double point[3], const double normal[3]) {
  double middle[3], u[3], v[3], above = 0, reach = 0;
  const int small = fabs(normal[0]) < 0.6 ? 0 : 1; /* an axis that is not the normal's */
  for (int k = 0; k < 3; k++) {
    middle[k] = box->min[k] / 2 + box->max[k] / 2;
    above += normal[k] * (middle[k] - point[k]);
    reach += box->max[k] - box->min[k];
    u[k] = (k == small) - normal[small] * normal[k];
  }
  const double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int k = 0; k < 3; k++) u[k] *= reach / length;
  for (int k = 0; k < 3; k++) v[k] = normal[(k + 1) % 3] * u[(k + 2) % 3] - normal[(k + 2) % 3] * u[(k + 1) % 3];
  for (int i = 0; i < 4; i++) {
    const double along = i == 0 || i == 3 ? -1 : 1, across = i < 2 ? -1 : 1;
    for (int k = 0; k < 3; k++) o->corners[i][k] = middle[k] - above * normal[k] + along * u[k] + across * v[k];
  }
  o->count = 4;
}

static void unit_of(const double v[3], double unit[3]) {
  const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int k = 0; k < 3; k++) unit[k] = length > 0 ? v[k] / length : 0;
}

/* The part of a wall that is in the box and before all other walls. */
static void find_outline(outline *o, const graze_track *track, uint32_t wall, const graze_box *box) {
  double normal[3];
  const double slack = 1e-9 * (box->max[0] - box->min[0] + box->max[1] - box->min[1] + box->max[2] - box->min[2]);
  unit_of(track->walls[wall].normal, normal);
  begin_outline(o, box, track->walls[wall].point, normal);
  for (int side = 0; side < 6 && o->count > 0; side++) {
    const double inward[3] = {(side % 2 ? -1 : 1) * (side / 2 == 0), (side % 2 ? -1 : 1) * (side / 2 == 1),
                              (side % 2 ? -1 : 1) * (side / 2 == 2)};
    cut_outline(o, side % 2 ? box->max : box->min, inward, slack);
  }
  for (uint32_t i = 0; i < track->wall_count && o->count > 0; i++) {
    unit_of(track->walls[i].normal, normal);
    if (i != wall) cut_outline(o, track->walls[i].point, normal, slack);
  }
}

static const painter_mark edge_style = {.half_width = 0.8f, .hidden = 0.45f, .colour = {0.42f, 0.46f, 0.52f, 0.9f}};

static bool mark_outline(graze_painter *painter, const painter_view *view, const graze_track *track, uint32_t wall,
                         const outline *o) {
  painter_mark style = edge_style;
  if (track->chances.runs > 0) {
    style.half_width = 1.6f;
    gz_painter_chance_colour(track, track->balls + wall, style.colour);
  }
  for (size_t i = 0; i < o->count; i++) {
    if (!gz_painter_mark_line(painter, view, o->corners[i], o->corners[(i + 1) % o->count], &style)) return false;
  }
  return true;
}

/* The twelve edges of a box. */
static bool mark_box(graze_painter *painter, const painter_view *view, const graze_box *box) {
  if (gz_camera_box_empty(box)) return true;
  for (int corner = 0; corner < 8; corner++) {
    for (int axis = 0; axis < 3; axis++) {
      double ends[2][3];
      if (corner >> axis & 1) continue;
      for (int k = 0; k < 3; k++) {
        ends[0][k] = corner >> k & 1 ? box->max[k] : box->min[k];
        ends[1][k] = k == axis ? box->max[k] : ends[0][k];
      }
      if (!gz_painter_mark_line(painter, view, ends[0], ends[1], &edge_style)) return false;
    }
  }
  return true;
}

bool gz_painter_balls_walls(graze_painter *painter, const painter_view *view, const graze_track *track) {
  graze_box box = graze_track_get_info(track).bounds;
  const size_t most = (size_t)track->wall_count + 12;
  if (!mark_box(painter, view, &track->box)) return false;
  if (gz_camera_box_empty(&box) || track->wall_count == 0) return true;
  for (int k = 0; k < 3; k++) { /* as the page does, so that a wall which the balls just touch is in it */
    const double more = 0.02 * (box.max[k] - box.min[k]);
    box.min[k] -= more;
    box.max[k] += more;
  }
  outline o = {.corners = gz_new(painter->owner, most, sizeof *o.corners),
               .cut = gz_new(painter->owner, most, sizeof *o.cut)};
  bool good = o.corners != NULL && o.cut != NULL;
  if (!good) gz_painter_fail_memory(painter);
  for (uint32_t i = 0; i < track->wall_count && good; i++) {
    find_outline(&o, track, i, &box);
    good = mark_outline(painter, view, track, i, &o);
  }
  gz_free(o.corners);
  gz_free(o.cut);
  return good;
}

double gz_painter_balls_distance(const graze_track *track, const graze_camera *camera) {
  const graze_box box = graze_track_get_info(track).bounds;
  double depth = 0;
  for (int k = 0; k < 3 && !gz_camera_box_empty(&box); k++)
    depth += (box.min[k] / 2 + box.max[k] / 2 - camera->eye[k]) * camera->forward[k];
  return depth;
}
