/* Candidate pairs of triangles on a device, decided there as far as it goes, the rest by the processor. */
#ifndef GRAZE_SRC_GPU_DECIDE_H
#define GRAZE_SRC_GPU_DECIDE_H

#include "gpu/kernels/decide.h"
#include "gpu/primitives.h"
#include "graze/collide.h"

/* Candidates that are decided together, at most: 32 bytes of memory each. */
static const uint32_t GPU_DECIDE_MOST = 1u << 26;

/* Corners of triangles on the device, nine doubles each: `count` at each of `poses` poses, one pose after the other. */
typedef struct gpu_corners {
  const gpu_buffer *corners;
  uint32_t count;
} gpu_corners;

/* Gives the corners of a triangle, as the device has them. `triangle` counts over all poses. */
typedef void corners_function(const void *user, uint32_t triangle, double corners[9]);

/* One question: pairs of `a` (one pose) and `b` (any number). */
typedef struct decide_question {
  gpu_corners a, b;
  uint32_t poses;          /* of b */
  uint32_t ask;            /* ASK_.. */
  const gpu_buffer *thin;  /* with ASK_SELF: a bit a triangle */
  corners_function *get_a; /* for what the device leaves open */
  corners_function *get_b;
  const void *user_a, *user_b;
} decide_question;

/* The words of an answer but for its hash, which is one here. */
typedef struct decide_sums {
  uint64_t word[ANSWER_HASH_LOW], hash;
} decide_sums;

/* Memory that is kept from call to call; zero-initialised. */
typedef struct gpu_decide {
  gpu_scratch scratch;
  gpu_buffer pairs;  /* candidates: two numbers each */
  uint32_t room;     /* for so many of them */
  gpu_buffer answer; /* counters, and words for each pose */
  gpu_buffer open, left, hits, words, unused;
  uint32_t *answer_read; /* the device's answer */
  decide_sums *sums;     /* of the question so far, by pose */
  buffer answer_room, sum_room;
  buffer left_pairs, corners, results; /* for what the processor decides */
  buffer hit_keys;                     /* a << 32 | b, of the hits so far */
  buffer sort_room;
  uint64_t hit_count;
  uint64_t candidates, exact; /* of the question so far; of them, more than the first filter decided on the device */
} gpu_decide;

/* Begins a question: sums and answer are zero. */
graze_status gz_gpu_decide_begin(graze_gpu *gpu, gpu_decide *d, const decide_question *q);

/* Makes room for so many candidates. */
graze_status gz_gpu_decide_reserve(graze_gpu *gpu, gpu_decide *d, uint32_t candidates);

/* Sets the answer on the device to zero but for the counter of candidates: before each run but the first. */
graze_status gz_gpu_decide_reset(graze_gpu *gpu, gpu_decide *d, const decide_question *q, uint32_t candidates);

/* Decides the candidates in d->pairs, of which the device's counter tells how many there are, `most` or fewer, and
 * waits. Nothing is done when they had no room: *candidates is then more than d->room. With ASK_WORDS the words are in
 * d->words, those of open pairs WORD_OPEN. Errors: DEVICE, MEMORY; ARGUMENT, unreported: a posed corner is not finite.
 */
graze_status gz_gpu_decide_run(graze_gpu *gpu, gpu_decide *d, const decide_question *q, uint64_t most,
                               uint32_t *candidates);

/* The sums of a pose; with ASK_SELF the other one, of which `pairs` and `work` are left as they are. */
void gz_gpu_decide_counts(const gpu_decide *d, uint32_t pose, graze_counts *counts);
void gz_gpu_decide_self_counts(const gpu_decide *d, graze_self_result *collision);

/* The hits that were listed, sorted; valid until the next question. */
graze_status gz_gpu_decide_pairs(graze_gpu *gpu, gpu_decide *d, const graze_triangle_pair **pairs);

void gz_gpu_decide_release(graze_gpu *gpu, gpu_decide *d);

#endif
