/* What the host and the kernels of decide.cl both know. */

/* Kinds as in graze/collide.h, and the word of a pair. */
#define KIND_NONE     0
#define KIND_POINT    1
#define KIND_SEGMENT  2
#define KIND_AREA     3
#define WORD_COPLANAR 4u
#define WORD_THIN_A   8u
#define WORD_THIN_B   16u
#define WORD_OPEN     32u /* not decided */

/* An answer begins with counters: candidates that there are, also those that had no room; what the filter, and what
 * all, left open; hits that are listed; posed triangles that are not finite. */
#define COUNT_CANDIDATES 0
#define COUNT_OPEN       1
#define COUNT_LEFT       2
#define COUNT_HITS       3
#define COUNT_BAD        4
#define COUNTERS         8

/* Then come words for each pose. Of two models: */
#define ANSWER_POINTS    0
#define ANSWER_SEGMENTS  1
#define ANSWER_AREAS     2
#define ANSWER_THIN      3
#define ANSWER_COPLANAR  4
#define ANSWER_HASH_LOW  5
#define ANSWER_HASH_HIGH 6
#define ANSWER_WORDS     8
/* Of a model with itself: */
#define ANSWER_DISJOINT  0
#define ANSWER_VERTEX    1
#define ANSWER_EDGE      2
#define ANSWER_DUPLICATE 4

/* What is asked. */
#define ASK_SELF  1u /* pairs of one model, which may share corners */
#define ASK_LIST  2u /* hits are listed */
#define ASK_WORDS 4u /* pair i is triangle i of both, and gets its word */
