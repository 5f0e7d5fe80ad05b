/* Blasts. What flies draws from a stream of its own: the numbers splitmix64(key + j), where its key is
 * splitmix64(splitmix64(seed) + i) and i its number among all particles, or bodies. Only + - * / and square roots are
 * used. */
#include "scene/blast.h"

#include <math.h>

#include "base/context.h"
#include "base/hash.h"

enum { BLAST_COOKIE = 0x424c5331 };

graze_blast graze_default_blast(void) {
  return (graze_blast){.seed = 1, .cookie = BLAST_COOKIE};
}

typedef struct stream {
  uint64_t key, drawn;
} stream;

/* In [0, 1), a multiple of 2^-53. */
static double draw(stream *s) {
  return (double)(splitmix64(s->key + s->drawn++) >> 11) * 0x1p-53;
}

/* In the open unit ball, and not its centre. */
static void draw_in_ball(stream *s, double p[3]) {
  double length2;
  do {
    for (int k = 0; k < 3; k++) p[k] = 2 * draw(s) - 1;
    length2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
  } while (!(length2 > 0 && length2 < 1));
}

/* Of length 1. Divided by the largest first, so that no square leaves the range of numbers. */
static void make_unit(double d[3]) {
  const double largest = fmax(fabs(d[0]), fmax(fabs(d[1]), fabs(d[2])));
  for (int k = 0; k < 3; k++) d[k] /= largest;
  const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  for (int k = 0; k < 3; k++) d[k] /= length;
}

void gz_blast_throw(const graze_blast *blast, uint64_t number, const double at[3], double velocity[3], double spin[3]) {
  stream s = {splitmix64(splitmix64(blast->seed) + number), 0};
  const double least = blast->speed[0], most = blast->speed[1];
  const double speed = fmin(least + (most - least) * draw(&s), most);
  double away[3];
  draw_in_ball(&s, spin);
  for (int k = 0; k < 3; k++) spin[k] *= blast->spin;
  for (int k = 0; k < 3; k++) away[k] = at[k] - blast->center[k];
  if (away[0] == 0 && away[1] == 0 && away[2] == 0) draw_in_ball(&s, away);
  make_unit(away);
  for (int k = 0; k < 3; k++) velocity[k] = speed * away[k];
}

graze_status gz_blast_check(const graze_context *context, const graze_blast *blast, const char *who) {
  if (blast->cookie != BLAST_COOKIE) return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s is not initialised", who);
  for (int k = 0; k < 3; k++) {
    if (!isfinite(blast->center[k]))
      return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "%s: center %c is %g", who, "xyz"[k], blast -> center[k]);
  }
  if (!(isfinite(blast->speed[0]) && isfinite(blast->speed[1]) && isfinite(blast->spin)))
    return gz_fail(context, GRAZE_ERROR_NOT_FINITE, "%s: speed or spin is not finite", who);
  if (!(blast->speed[0] >= 0 && blast->speed[1] >= blast->speed[0]))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: speed is %.17g to %.17g: least and most are wanted, at least 0",
                   who, blast->speed[0], blast->speed[1]);
  if (!(blast->spin >= 0))
    return gz_fail(context, GRAZE_ERROR_ARGUMENT, "%s: spin is %.17g: it must be at least 0", who, blast->spin);
  return GRAZE_OK;
}
