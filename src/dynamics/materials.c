/* Materials, and the laws between them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/world.h"

enum { MATERIAL_COOKIE = 0x4d415431 };

graze_material graze_default_material(void) {
  const double none = (double)NAN;
  return (graze_material){.k_n = none,
                          .young = none,
                          .poisson = none,
                          .restitution = none,
                          .eta_n = none,
                          .gamma_n = none,
                          .k_t = none,
                          .eta_t = none,
                          .gamma_t = none,
                          .cookie = MATERIAL_COOKIE};
}

static bool is_given(double x) {
  return !isnan(x);
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

typedef struct field {
  const char *name;
  double value;
  bool positive; /* above 0, not only at least 0 */
  bool optional; /* NaN: not given */
} field;

static graze_status check_fields(const graze_context *context, const char *who, const graze_material *m) {
  const field fields[] = {{"k_n", m->k_n, true, true},
                          {"young", m->young, true, true},
                          {"restitution", m->restitution, true, true},
                          {"eta_n", m->eta_n, false, true},
                          {"gamma_n", m->gamma_n, false, true},
                          {"k_t", m->k_t, false, true},
                          {"eta_t", m->eta_t, false, true},
                          {"gamma_t", m->gamma_t, false, true},
                          {"friction", m->friction, false, false},
                          {"rolling", m->rolling, false, false},
                          {"spinning", m->spinning, false, false}};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    const field *f = &fields[i];
    if (isnan(f->value) && f->optional) continue;
    if (isfinite(f->value) && (f->positive ? f->value > 0 : f->value >= 0)) continue;
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: %s is %.17g: it must be finite and %s", who, f->name, f->value,
                   f->positive ? "above 0" : "at least 0");
  }
  for (int k = 0; k < 3; k++) {
    if (!isfinite(m->surface_speed[k]))
      return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: surface_speed is not finite", who);
  }
  return GRAZE_OK;
}

static graze_status check_together(const graze_context *context, const char *who, const graze_material *m) {
  bool hertz = m->law == GRAZE_HERTZ;
  const char *wrong = NULL;
  if (!hertz && !is_given(m->k_n)) wrong = "k_n is missing";
  if (!hertz && (is_given(m->young) || is_given(m->poisson))) wrong = "young and poisson are for the law hertz";
  if (hertz && is_given(m->k_n)) wrong = "k_n is for the law hooke";
  if (hertz && !(is_given(m->young) && is_given(m->poisson))) wrong = "hertz needs young and poisson";
  if (hertz && is_given(m->poisson) && !(m->poisson > -1 && m->poisson <= 0.5)) wrong = "poisson must be in (-1, 0.5]";
  if (is_given(m->restitution) + is_given(m->eta_n) + is_given(m->gamma_n) > 1)
    wrong = "only one of restitution, eta_n and gamma_n can be given";
  if (is_given(m->restitution) && m->restitution > 1) wrong = "restitution must be in (0, 1]";
  if (hertz && is_given(m->restitution) && m->ends == GRAZE_END_FORCE)
    wrong = "restitution of hertz is known for ends overlap only: give eta_n or gamma_n";
  if (is_given(m->eta_t) && is_given(m->gamma_t)) wrong = "only one of eta_t and gamma_t can be given";
  return wrong == NULL ? GRAZE_OK : gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: %s", who, wrong);
}

static graze_status check_material(const graze_context *context, const char *who, const graze_material *m) {
  if (m == NULL || m->cookie != MATERIAL_COOKIE)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: the material is not initialised", who);
  if ((unsigned)m->law > GRAZE_HERTZ || (unsigned)m->ends > GRAZE_END_FORCE ||
      (unsigned)m->tangential > GRAZE_TANGENTIAL_FULL)
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: unknown law, ends or tangential", who);
  graze_status status = check_fields(context, who, m);
  return status == GRAZE_OK ? check_together(context, who, m) : status;
}

static ball_name material_words(const char *name) {
  ball_name words;
  gz_quoted quoted = gz_quote(name, name + strlen(name), 64);
  snprintf(words.text, sizeof words.text, "material '%s'", quoted.text);
  return words;
}

graze_status graze_world_add_material(graze_world *world, const char *name, const graze_material *material,
                                      uint32_t *number) {
  if (world == NULL || name == NULL || number == NULL) return gz_fail_null(world != NULL ? world->context : NULL);
  graze_status status = gz_world_check_not_begun(world);
  if (status == GRAZE_OK) status = check_material(world->context, material_words(name).text, material);
  if (status != GRAZE_OK) return status;
  char *copy = gz_new_text(world->context, name);
  if (copy == NULL || !array_reserve(world->context, &world->materials, 1, sizeof(dem_material))) {
    gz_free(copy);
    return gz_fail_memory(world->context, sizeof(dem_material));
  }
  *number = (uint32_t)world->materials.count++;
  *WORLD_AT(world->materials, dem_material, *number) = (dem_material){copy, *material};
  world->has_laws = false;
  return GRAZE_OK;
}

graze_status graze_world_set_pair(graze_world *world, uint32_t first, uint32_t second, const graze_material *material) {
  if (world == NULL) return gz_fail_null(NULL);
  if (first >= world->materials.count || second >= world->materials.count)
    return gz_fail(world->context, GRAZE_ERROR_ARGUMENT, "no material %u", first > second ? first : second);
  char who[160];
  snprintf(who, sizeof who, "pair of %.60s and %.60s", WORLD_AT(world->materials, dem_material, first)->name,
           WORLD_AT(world->materials, dem_material, second)->name);
  graze_status status = gz_world_check_not_begun(world);
  if (status == GRAZE_OK) status = check_material(world->context, who, material);
  if (status != GRAZE_OK) return status;
  if (!array_reserve(world->context, &world->pairs, 1, sizeof(material_pair)))
    return gz_fail_memory(world->context, sizeof(material_pair));
  *WORLD_AT(world->pairs, material_pair, world->pairs.count++) = (material_pair){first, second, *material};
  world->has_laws = false;
  return GRAZE_OK;
}

/* ---- restitution ----------------------------------------------------------------------------------------------- */

/* Of a linear contact that ends when the force would pull, by its damping ratio: T. Schwager and T. Poeschel,
 * "Coefficient of restitution and linear-dashpot model revisited" (2007). */
static double restitution_of(double zeta) {
  if (zeta == 0) return 1;
  if (zeta < 1) {
    double root = sqrt(1 - zeta * zeta);
    double turn = atan2(2 * zeta * root, 1 - 2 * zeta * zeta);
    return exp(-zeta / root * (acos(-1) - turn));
  }
  if (zeta == 1) return exp(-2);
  double root = sqrt(zeta * zeta - 1);
  return exp(-zeta / root * log((zeta + root) / (zeta - root)));
}

/* The damping ratio eta / (2 sqrt(k m)) that gives the restitution. A contact that ends with the overlap has
 * e = exp(-pi zeta / sqrt(1 - zeta^2)), a Hertz contact too (D. Antypov and J. A. Elliott, "On an
 * analytical solution for the damped Hertzian spring", 2011). */
static double ratio_for(double restitution, graze_contact_end ends) {
  double pi = acos(-1), log_e = log(restitution);
  if (ends == GRAZE_END_OVERLAP) return -log_e / sqrt(pi * pi + log_e * log_e);
  double low = 0, high = 1;
  while (restitution_of(high) > restitution && high < 0x1p300) high *= 2;
  for (int i = 0; i < 200 && low < high; i++) {
    double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    if (restitution_of(middle) > restitution)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

/* ---- two materials --------------------------------------------------------------------------------------------- */

/* 2 x y / (x + y), 0 for two zeros. */
static double harmonic(double x, double y) {
  return x + y > 0 ? 2 * (x * (y / (x + y))) : 0;
}

/* The same where a number may not be given: then its default stands in. */
static double mixed(double x, double x_default, double y, double y_default) {
  if (!is_given(x) && !is_given(y)) return (double)NAN;
  return harmonic(is_given(x) ? x : x_default, is_given(y) ? y : y_default);
}

/* The same where the default depends on the contact: then the one that is given holds. */
static double mixed_given(double x, double y) {
  return is_given(x) && is_given(y) ? harmonic(x, y) : is_given(x) ? x : y;
}

typedef enum damping { DAMPING_NONE, DAMPING_RESTITUTION, DAMPING_ETA, DAMPING_GAMMA } damping;

static damping damping_of(const graze_material *m) {
  return is_given(m->restitution) ? DAMPING_RESTITUTION
         : is_given(m->eta_n)     ? DAMPING_ETA
         : is_given(m->gamma_n)   ? DAMPING_GAMMA
                                  : DAMPING_NONE;
}

/* What stands between two materials, as if it were one of its own. NULL, or why they do not go together. */
static const char *combine(const graze_material *a, const graze_material *b, graze_material *m) {
  damping da = damping_of(a), db = damping_of(b);
  bool full = a->tangential == GRAZE_TANGENTIAL_FULL || b->tangential == GRAZE_TANGENTIAL_FULL;
  *m = *a;
  if (a->law != b->law) return "one is hooke, the other hertz";
  if (da != db && da != DAMPING_NONE && db != DAMPING_NONE) return "their damping is given in different ways";
  if (full && a->tangential != b->tangential) return "only one is tangential full";
  if ((is_given(a->eta_t) && is_given(b->gamma_t)) || (is_given(a->gamma_t) && is_given(b->eta_t)))
    return "one has eta_t, the other gamma_t";
  m->ends = a->ends > b->ends ? a->ends : b->ends;
  m->tangential = a->tangential > b->tangential ? a->tangential : b->tangential;
  m->k_n = harmonic(a->k_n, b->k_n);
  if (da == DAMPING_RESTITUTION || db == DAMPING_RESTITUTION)
    m->restitution =
        sqrt((is_given(a->restitution) ? a->restitution : 1) * (is_given(b->restitution) ? b->restitution : 1));
  m->eta_n = mixed(a->eta_n, 0, b->eta_n, 0);
  m->gamma_n = mixed(a->gamma_n, 0, b->gamma_n, 0);
  m->k_t = mixed(a->k_t, 2 * a->k_n / 7, b->k_t, 2 * b->k_n / 7);
  m->eta_t = mixed_given(a->eta_t, b->eta_t);
  m->gamma_t = mixed_given(a->gamma_t, b->gamma_t);
  m->friction = sqrt(a->friction * b->friction);
  m->rolling = sqrt(a->rolling * b->rolling);
  m->spinning = sqrt(a->spinning * b->spinning);
  if (m->law == GRAZE_HERTZ && is_given(m->k_t) && (!is_given(a->k_t) || !is_given(b->k_t)))
    return "only one of them has k_t";
  return NULL;
}

/* Stiffness of a Hertz contact: 4/3 E* and Mindlin's 8 G*. */
static void set_hertz(law *l, const graze_material *a, const graze_material *b) {
  double soft = (1 - a->poisson * a->poisson) / a->young + (1 - b->poisson * b->poisson) / b->young;
  double shear =
      2 * (2 - a->poisson) * (1 + a->poisson) / a->young + 2 * (2 - b->poisson) * (1 + b->poisson) / b->young;
  l->hertz = 1;
  l->k_n = 4.0 / 3 / soft;
  l->elastic = 0.4;
  l->mindlin = 8 / shear;
}

static void set_across(law *l, const graze_material *m) {
  bool full = m->tangential == GRAZE_TANGENTIAL_FULL;
  if (m->tangential == GRAZE_TANGENTIAL_NONE) return;
  l->eta_t = is_given(m->eta_t) ? m->eta_t : 0;
  l->gamma_t = is_given(m->gamma_t) ? m->gamma_t : 0;
  l->share_t = full ? 1 : is_given(m->eta_t) || is_given(m->gamma_t) ? 0 : 0.5;
  l->friction = full ? (double)INFINITY : m->friction;
  l->arm = full ? 0 : 1;
  if (full) l->eta_t = l->gamma_t = 0;
  if (m->tangential != GRAZE_TANGENTIAL_SPRING) return;
  l->spring = 1;
  if (is_given(m->k_t)) l->mindlin = 0;
  if (is_given(m->k_t) || m->law == GRAZE_HOOKE) l->k_t = is_given(m->k_t) ? m->k_t : 2 * m->k_n / 7;
}

/* `m` holds between a and b, of which Hertz's law wants both. */
static law law_of(const graze_material *m, const graze_material *a, const graze_material *b) {
  law l = {.k_n = m->k_n, .elastic = 0.5, .arm = 1, .rolling = m->rolling, .spinning = m->spinning};
  l.least = m->ends == GRAZE_END_FORCE ? 0 : -(double)INFINITY;
  l.eta_n = is_given(m->eta_n) ? m->eta_n : 0;
  l.gamma_n = is_given(m->gamma_n) ? m->gamma_n : 0;
  if (is_given(m->restitution)) l.zeta_n = (m->law == GRAZE_HERTZ ? sqrt(5) : 2) * ratio_for(m->restitution, m->ends);
  if (m->law == GRAZE_HERTZ) set_hertz(&l, a, b);
  set_across(&l, m);
  if (l.spring == 0) l.mindlin = 0;
  return l;
}

static const material_pair *said_pair(const graze_world *world, uint32_t a, uint32_t b) {
  const material_pair *found = NULL;
  for (size_t i = 0; i < world->pairs.count; i++) {
    const material_pair *p = WORLD_AT(world->pairs, material_pair, i);
    if ((p->first == a && p->second == b) || (p->first == b && p->second == a)) found = p;
  }
  return found;
}

/* ---- laws ------------------------------------------------------------------------------------------------------ */

static graze_status make_law(graze_world *world, uint32_t a, uint32_t b) {
  const dem_material *first = WORLD_AT(world->materials, dem_material, a);
  const dem_material *second = WORLD_AT(world->materials, dem_material, b);
  const material_pair *said = said_pair(world, a, b);
  law *l = &world->laws[a * world->materials.count + b];
  graze_material m;
  if (said != NULL) {
    *l = law_of(&said->m, &said->m, &said->m);
  } else {
    /* In one order, so that both sides of a contact see the same numbers. */
    const char *wrong = a <= b ? combine(&first->m, &second->m, &m) : combine(&second->m, &first->m, &m);
    if (wrong != NULL)
      return gz_fail(world->context, GRAZE_ERROR_ARGUMENT,
                     "materials '%.60s' and '%.60s': %s: say what holds between them", first->name, second->name,
                     wrong);
    *l = a <= b ? law_of(&m, &first->m, &second->m) : law_of(&m, &second->m, &first->m);
  }
  for (int k = 0; k < 3; k++) l->surface[k] = second->m.surface_speed[k];
  return GRAZE_OK;
}

graze_status gz_world_make_laws(graze_world *world) {
  uint32_t n = (uint32_t)world->materials.count;
  if (world->has_laws) return GRAZE_OK;
  size_t bytes = (size_t)n * n * sizeof(law);
  if (!gz_buffer_reserve(world->context, &world->law_memory, bytes, 0)) return gz_fail_memory(world->context, bytes);
  world->laws = world->law_memory.data;
  world->has_springs = world->has_limits = false;
  for (uint32_t i = 0; i < n * n; i++) {
    graze_status status = make_law(world, i / n, i % n);
    if (status != GRAZE_OK) return status;
    world->has_springs |= world->laws[i].spring != 0;
  }
  world->remembers = world->has_springs || world->def.events;
  world->is_listed = world->is_accelerated = false; /* a list has memory for what the laws want */
  world->has_laws = true;
  return GRAZE_OK;
}

/* ---- one law for all balls ------------------------------------------------------------------------------------- */

/* Of the dynamic balls of a material: the smallest and the second smallest mass, and of which ball radius / mass is
 * largest; and whether a wall or a ball that no force moves has it. */
typedef struct lightest {
  double mass[2], heaviest;
  double sharpest, sharpest_mass; /* radius / mass */
  bool fixed;
} lightest;

static void add_ball(lightest *of, double mass, double radius) {
  if (mass < of->mass[0]) {
    of->mass[1] = of->mass[0];
    of->mass[0] = mass;
  } else if (mass < of->mass[1]) {
    of->mass[1] = mass;
  }
  if (mass > of->heaviest) of->heaviest = mass;
  if (!(radius / mass > of->sharpest)) return;
  of->sharpest = radius / mass;
  of->sharpest_mass = mass;
}

static void survey(const graze_world *world, lightest *of) {
  const double inf = (double)INFINITY;
  for (size_t i = 0; i < world->materials.count; i++) of[i] = (lightest){.mass = {inf, inf}};
  for (uint32_t i = 0; i < world->count; i++) {
    const uint32_t material = material_of(world, i);
    if (world->now[i].velocity[3] == 0)
      of[material].fixed = true;
    else
      add_ball(&of[material], 1 / world->now[i].velocity[3], world->now[i].position[3]);
  }
  for (size_t i = 0; i < world->walls.count; i++) of[WORLD_AT(world->walls, dem_wall, i)->material].fixed = true;
  for (size_t i = 0; i < world->surfaces.count; i++)
    of[WORLD_AT(world->surfaces, dem_surface, i)->material].fixed = true;
}

static bool has_surface_speed(const law *l) {
  return l->surface[0] != 0 || l->surface[1] != 0 || l->surface[2] != 0;
}

/* Whether one law of Hooke's with constants alone holds between all balls: then it is world->simple. */
static bool simplify(graze_world *world, const lightest *of) {
  law l = world->laws[0];
  bool by_mass = l.gamma_n != 0 || l.gamma_t != 0 || l.zeta_n != 0;
  if (world->materials.count != 1 || l.hertz != 0 || l.rolling != 0 || l.spinning != 0 || l.arm == 0) return false;
  if (has_surface_speed(&l) || world->def.periodic[0] || world->def.periodic[1] || world->def.periodic[2]) return false;
  if (by_mass && (of->mass[0] != of->heaviest || world->dynamic != world->count)) return false;
  double inverse = world->count > 0 ? world->now[0].velocity[3] : 1, m = 1 / (inverse + inverse);
  if (by_mass) { /* m is finite then */
    l.eta_n = l.eta_n + l.gamma_n * m + l.zeta_n * sqrt(l.k_n * m);
    l.eta_t = l.eta_t + l.gamma_t * m;
  }
  l.eta_t = l.eta_t + l.share_t * l.eta_n;
  world->simple = l;
  return true;
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

static void add_limit(graze_step_limits *limits, const law *l, double m, double k, double k_t) {
  double eta = l->eta_n + l->gamma_n * m + l->zeta_n * sqrt(k * m);
  if (l->spring != 0 && 3.5 * k_t > k * (1 + 1e-12)) k = 3.5 * k_t; /* a ball's surface yields by spin as well */
  double omega = sqrt(k / m), zeta = eta / (2 * sqrt(k * m));
  limits->longest = fmin(limits->longest, 2 / omega);
  limits->duration = fmin(limits->duration, acos(-1) / omega);
  limits->damped = fmin(limits->damped, 2 / omega * (sqrt(1 + zeta * zeta) - zeta));
}

/* Of a Hertz contact at an overlap of a hundredth of R*, k / m is 0.15 k_n R* (1/m_1 + 1/m_2), which is at most 0.15
 * k_n times the larger radius / mass: reached with a partner of the same size, and with what is flat. */
static void add_hertz_limit(graze_step_limits *limits, const law *l, const lightest *a, const lightest *b) {
  const lightest *of = a->sharpest >= b->sharpest ? a : b;
  double m = of->sharpest_mass, reach = of->sharpest * m * 0.1;
  add_limit(limits, l, m, 1.5 * l->k_n * reach, l->k_t + l->mindlin * reach);
}

static void limits_of(const graze_world *world, const lightest *of, graze_step_limits *limits) {
  uint32_t n = (uint32_t)world->materials.count;
  for (uint32_t a = 0; a < n; a++) {
    for (uint32_t b = 0; b < n; b++) {
      const law *l = &world->laws[a * n + b];
      double other = a == b ? of[b].mass[1] : of[b].mass[0];
      if (isinf(of[a].mass[0]) || (isinf(other) && !of[b].fixed)) continue;
      if (l->hertz != 0)
        add_hertz_limit(limits, l, &of[a], &of[b]);
      else if (!isinf(other))
        add_limit(limits, l, 1 / (1 / of[a].mass[0] + 1 / other), l->k_n, l->k_t);
      if (l->hertz == 0 && of[b].fixed) add_limit(limits, l, of[a].mass[0], l->k_n, l->k_t);
    }
  }
}

graze_status gz_world_survey(graze_world *world, graze_step_limits *limits) {
  const double inf = (double)INFINITY;
  *limits = (graze_step_limits){inf, inf, inf};
  graze_status status = gz_world_make_laws(world);
  if (status != GRAZE_OK || world->materials.count == 0) return status;
  if (world->has_limits) {
    *limits = world->limits;
    return GRAZE_OK;
  }
  lightest *of = gz_new(world->context, world->materials.count, sizeof *of);
  if (of == NULL) return gz_fail_memory(world->context, world->materials.count * sizeof *of);
  survey(world, of);
  limits_of(world, of, limits);
  world->is_simple = simplify(world, of);
  world->limits = *limits;
  world->has_limits = true;
  gz_free(of);
  return GRAZE_OK;
}
