/* The film of a simulation: a track that takes the frames as they come, and in the end a page. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "diagnostics.h"
#include "simulate.h"

enum { CURVES = 7 };

struct simulate_film {
  graze_track *track;
  const simulate_balls *balls;
  uint32_t *member_of_object, *first_of_set; /* numbers in the track */
  bool *touching;
  double *orientations, *spins; /* of all balls at the last frame; NULL: nothing is drawn as a mesh */
  double time;                  /* of that frame */
  graze_report_object *objects; /* those that are no balls */
  graze_pose *poses;
  uint32_t *bodies, object_count; /* which of the scene's they are */
};

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

static void *new_array(size_t count, size_t size) {
  void *array = calloc(count + 1, size);
  if (!array) fail_out_of_memory();
  return array;
}

static void find_poses(simulate_film *film, const simulate_run *run) {
  for (uint32_t i = 0; i < film->object_count; i++) {
    graze_body_def body;
    simulate_get_body(run, film->bodies[i], &body);
    film->poses[i] = graze_pose_from_quaternion(body.orientation, body.position);
  }
}

/* Objects that are meshes; rigid bodies that move freely are drawn in place of balls. */
static void list_objects(simulate_film *film, const simulate_run *run) {
  const uint32_t count = run->file.object_count;
  film->objects = new_array(count, sizeof *film->objects);
  film->poses = new_array(count, sizeof *film->poses);
  film->bodies = new_array(count, sizeof *film->bodies);
  for (uint32_t i = 0; i < count; i++) {
    graze_body_def body;
    simulate_get_body(run, i, &body);
    if (body.mesh == NULL || (run->rigid && body.type == GRAZE_BODY_DYNAMIC)) continue;
    film->objects[film->object_count] = (graze_report_object){
        .name = run->file.objects[i].name, .layer = "", .file = "", .mesh = body.mesh, .label = NULL};
    film->bodies[film->object_count++] = i;
  }
  find_poses(film, run);
  for (uint32_t i = 0; i < film->object_count; i++) film->objects[i].pose = film->poses[i];
}

/* Balls, walls, objects. */
static void number_members(simulate_film *film, const simulate_run *run) {
  const simulate_balls *balls = film->balls;
  const uint32_t walls = simulate_get_wall_count(run);
  film->member_of_object = new_array(run->file.object_count, sizeof *film->member_of_object);
  film->first_of_set = new_array(run->file.particle_set_count, sizeof *film->first_of_set);
  film->touching = new_array((size_t)balls->count, sizeof *film->touching);
  for (uint32_t i = 0; i < balls->object_count; i++) film->member_of_object[balls->objects[i]] = i;
  for (uint32_t i = 0; i < film->object_count; i++)
    film->member_of_object[film->bodies[i]] = (uint32_t)balls->count + walls + i;
  uint32_t next = balls->object_count;
  for (uint32_t i = 0; i < run->file.particle_set_count; i++) {
    film->first_of_set[i] = next;
    next += graze_world_get_particle_count(run->world, i);
  }
}

static uint32_t number_of(const simulate_film *film, const graze_member *member) {
  if (member->kind == GRAZE_MEMBER_BODY) return film->member_of_object[member->index];
  if (member->kind == GRAZE_MEMBER_PARTICLE) return film->first_of_set[member->set] + member->index;
  return (uint32_t)film->balls->count + member->index;
}

static void create_track(simulate_film *film, const simulate_run *run) {
  static const graze_track_curve curves[CURVES] = {{"kinetic", "J"},        {"rotational", "J"}, {"potential", "J"},
                                                   {"elastic", "J"},        {"dissipated", "J"}, {"contacts", ""},
                                                   {"deepest overlap", "m"}};
  const uint32_t wall_count = simulate_get_wall_count(run);
  graze_track_wall *walls = calloc((size_t)wall_count + 1, sizeof *walls);
  if (!walls) fail_out_of_memory();
  for (uint32_t i = 0; i < wall_count; i++) simulate_get_wall(run, i, walls[i].point, walls[i].normal);
  graze_track_def def = graze_default_track_def();
  graze_world_def world = {0};
  if (run->world) must(run->session.context, graze_world_get_def(run->world, &world));
  if (world.periodic[0] || world.periodic[1] || world.periodic[2]) def.box = world.bounds;
  def.sets = film->balls->sets;
  def.set_count = film->balls->set_count;
  def.radii = film->balls->radii;
  def.walls = walls;
  def.wall_count = wall_count;
  def.curves = curves;
  def.curve_count = run->check ? CURVES : CURVES - 1; /* the last is of the check */
  def.object_count = film->object_count;
  def.colour = run->asked->colour;
  def.colliding = run->asked->show == show_colliding;
  must(run->session.context, graze_track_create(run->session.context, &def, &film->track));
  free(walls);
}

/* As they are before the first frame, from which nothing turns. */
static void begin_orientations(simulate_film *film, const simulate_run *run) {
  const simulate_balls *balls = film->balls;
  bool any = false;
  for (uint32_t i = 0; i < balls->set_count; i++) any = any || balls->sets[i].mesh;
  if (!any) return;
  film->orientations = new_array(4 * (size_t)balls->count, sizeof *film->orientations);
  film->spins = new_array(3 * (size_t)balls->count, sizeof *film->spins);
  memcpy(film->orientations, balls->orientations, 4 * (size_t)balls->count * sizeof(double));
  film->time = simulate_get_time(run);
}

/* A replay does not know how long it is. */
static void warn_of_size(const simulate_film *film, const simulate_run *run) {
  const simulate_options *asked = run->asked;
  const uint64_t frames = asked->replay ? 0 : asked->steps / asked->every, most = UINT64_C(30000000);
  if ((double)frames * (double)film->balls->count > (double)most)
    note("--report: %" PRIu64 " frames of %" PRIu64 " balls are a large page; a larger --every makes it smaller",
         frames, film->balls->count);
}

simulate_film *simulate_film_open(const simulate_run *run, const simulate_balls *balls) {
  simulate_film *film = calloc(1, sizeof *film);
  if (!film) fail_out_of_memory();
  film->balls = balls;
  list_objects(film, run);
  number_members(film, run);
  create_track(film, run);
  begin_orientations(film, run);
  warn_of_size(film, run);
  must(run->session.context, graze_report_claim_folder(run->session.context, run->asked->report));
  must(run->session.context, graze_report_begin_page(run->session.context, run->asked->report));
  return film;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* a b, of quaternions. */
static void multiply(const double a[4], const double b[4], double out[4]) {
  for (int k = 1; k < 4; k++) {
    const int i = k % 3 + 1, j = i % 3 + 1;
    out[k] = a[0] * b[k] + a[k] * b[0] + a[i] * b[j] - a[j] * b[i];
  }
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
}

/* Turns by a vector: an angle about an axis. */
static void turn_by(const double vector[3], double q[4]) {
  const double angle = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
  const double part = angle > 0 ? sin(angle / 2) / angle : 0, before[4] = {q[0], q[1], q[2], q[3]};
  const double turn[4] = {cos(angle / 2), part * vector[0], part * vector[1], part * vector[2]};
  multiply(turn, before, q);
  const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int k = 0; k < 4; k++) q[k] /= length;
}

/* Bodies have an orientation. Particles have a spin only, of which a frame knows no more than what it was at its
 * beginning and is now: they turn by the mean of the two, which is right as long as nothing touches them. */
static void find_orientations(simulate_film *film, double time) {
  const simulate_balls *balls = film->balls;
  if (!film->orientations) return;
  memcpy(film->orientations, balls->orientations, 4 * (size_t)balls->object_count * sizeof(double));
  for (uint64_t i = balls->object_count; i < balls->count; i++) {
    double vector[3];
    for (int k = 0; k < 3; k++)
      vector[k] = (film->spins[3 * i + k] + balls->spins[3 * i + k]) / 2 * (time - film->time);
    turn_by(vector, film->orientations + 4 * i);
  }
  memcpy(film->spins, balls->spins, 3 * (size_t)balls->count * sizeof(double));
  film->time = time;
}

static void take_touching(simulate_film *film, const simulate_run *run) {
  bool *all = new_array(run->file.object_count, sizeof *all);
  graze_rigid_find_touching(run->rigid, all);
  for (uint32_t i = 0; i < film->balls->object_count; i++) film->touching[i] = all[film->balls->objects[i]];
  free(all);
}

static void find_touching(simulate_film *film, const simulate_run *run) {
  const graze_contact *contacts;
  uint64_t count;
  memset(film->touching, 0, (size_t)film->balls->count * sizeof *film->touching);
  if (run->rigid) {
    take_touching(film, run);
    return;
  }
  must(run->session.context, graze_world_find_contacts(run->world, &contacts, &count));
  for (uint64_t i = 0; i < count; i++) {
    const uint32_t b = number_of(film, &contacts[i].b);
    film->touching[number_of(film, &contacts[i].a)] = true;
    if (b < film->balls->count) film->touching[b] = true;
  }
}

void simulate_film_add(simulate_film *film, const simulate_run *run) {
  const graze_world_sums *sums = &run->end;
  const double values[CURVES] = {sums->kinetic,
                                 sums->rotational,
                                 sums->potential,
                                 sums->elastic,
                                 sums->dissipated,
                                 (double)sums->contacts,
                                 simulate_check_depth(run->check)};
  const graze_track_frame frame = {.step = simulate_get_step(run),
                                   .time = simulate_get_time(run),
                                   .positions = film->balls->positions,
                                   .velocities = film->balls->velocities,
                                   .orientations = film->orientations,
                                   .poses = film->poses,
                                   .touching = film->touching,
                                   .values = values};
  find_touching(film, run);
  find_orientations(film, frame.time);
  find_poses(film, run);
  must(run->session.context, graze_track_add_frame(film->track, &frame));
}

void simulate_film_take_events(simulate_film *film, const simulate_run *run, const graze_contact_event *events,
                               uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    const graze_contact_event *from = &events[i];
    const graze_track_event event = {.step = from->step,
                                     .time = (double)from->step * run->dt,
                                     .kind = from->kind,
                                     .a = number_of(film, &from->a),
                                     .b = number_of(film, &from->b),
                                     .speed = from->speed,
                                     .impulse = from->impulse};
    must(run->session.context, graze_track_add_event(film->track, &event));
  }
}

void simulate_film_take_hits(simulate_film *film, const simulate_run *run) {
  const uint32_t objects = run->file.object_count;
  uint32_t count;
  if (run->over == 0) return; /* stopped in the first run */
  graze_track_chance *chances = simulate_hits_list(run, &count);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t member = chances[i].member;
    chances[i].member =
        member < objects ? film->member_of_object[member] : (uint32_t)film->balls->count + member - objects;
  }
  const graze_track_chances all = {
      .chances = chances, .count = count, .runs = run->over, .asked = run->asked->seeds, .seed = run->asked->seed};
  must(run->session.context, graze_track_set_chances(film->track, &all));
  free(chances);
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* That of the scene or the record; of "tower/scene.json", which says nothing, the folder's. free() it. */
static char *make_title(const simulate_run *run) {
  char folder[PATH_MAX];
  const char *path = run->asked->replay ? run->asked->replay : run->asked->files.names[0], *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  const char *dot = strrchr(name, '.');
  if (strcmp(name, "scene.json") == 0 && realpath(path, folder)) {
    *strrchr(folder, '/') = 0;
    if (*folder) name = strrchr(folder, '/') + 1;
    dot = NULL;
  }
  char *title = dot && dot > name ? strndup(name, (size_t)(dot - name)) : strdup(name);
  if (!title) fail_out_of_memory();
  return title;
}

/* SOURCE_DATE_EPOCH stands for the clock: nothing takes time then. */
static graze_report head_of(const simulate_film *film, const simulate_run *run, const char *title, char created[32]) {
  const char *fixed = getenv("SOURCE_DATE_EPOCH");
  const bool stopped = fixed && *fixed;
  const time_t now = stopped ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
  struct tm parts;
  if (!gmtime_r(&now, &parts) || strftime(created, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) *created = 0;
  return (graze_report){.title = title,
                        .created = created,
                        .units = "m",
                        .up = GRAZE_UP_Z,
                        .engine = simulate_engine(run),
                        .exactness = "",
                        .objects = film->objects,
                        .object_count = film->object_count,
                        .complete = !run->stopped,
                        .load_seconds = stopped ? 0 : run->session.load_seconds,
                        .query_seconds = stopped ? 0 : run->session.query_seconds};
}

/* What this machine cannot draw is left out. */
static void write_pictures(const simulate_film *film, const simulate_run *run, const graze_report *head) {
  const simulate_options *asked = run->asked;
  graze_context *context = run->session.context;
  const uint32_t frames = graze_track_get_info(film->track).frames;
  const uint32_t count = asked->pictures < frames ? asked->pictures : frames;
  graze_status status = graze_track_write_pictures(context, asked->report, film->track, head, count);
  if (status == GRAZE_ERROR_UNSUPPORTED) {
    note("left out: %s", graze_last_error(context)->message);
  } else {
    must(context, status);
    if (count == 1) note("1 frame: %s/frames/0001.png, %s/film.png", asked->report, asked->report);
    if (count > 1)
      note("%" PRIu32 " frames: %s/frames/0001.png to %04" PRIu32 ".png, %s/film.png", count, asked->report, count,
           asked->report);
  }
}

void simulate_film_close(simulate_film *film, const simulate_run *run) {
  const simulate_options *asked = run->asked;
  const double start = clock_now();
  char created[32], *page = NULL, *title = asked->title ? strdup(asked->title) : make_title(run);
  if (!title || asprintf(&page, "%s/index.html", asked->report) < 0) fail_out_of_memory();
  const graze_report head = head_of(film, run, title, created);
  write_pictures(film, run, &head);
  must(run->session.context, graze_track_write_html(run->session.context, page, film->track, &head));
  note("film: %s", page);
  note("written in %.1f s", clock_now() - start);
  free(page);
  free(title);
  graze_track_destroy(film->track);
  free(film->member_of_object);
  free(film->objects);
  free(film->poses);
  free(film->bodies);
  free(film->first_of_set);
  free(film->touching);
  free(film->orientations);
  free(film->spins);
  free(film);
}
