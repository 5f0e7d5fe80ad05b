/* What the kernels of worlds and the host agree on: a world's tables are rows of doubles, a ball's facts two whole
 * numbers. */

#define FRAME_DT      0
#define FRAME_GRAVITY 1
#define FRAME_PERIOD  4 /* 0: the axis is not periodic */
#define FRAME_LOW     7 /* bounds */
#define FRAME_HIGH    10
#define FRAME_SKIN    13
#define FRAME_MOST2   14 /* the square of a way that the list does not bear */
#define FRAME_CORNER  15 /* of the grids */
#define FRAME_MARK    18 /* the unit of marks along each axis, */
#define FRAME_MARKS   21 /* and 1 / it */
#define FRAME_REACH   24 /* how much farther than touching triangles near balls are listed */
#define FRAME_FIELDS  25

/* Where a ball was when the list was made is kept as a mark, a multiple of a unit modulo 2^32: of a small part of the
 * skin, or along a periodic axis of 2^-32 of the period, so that going around it changes nothing. */
#define MARK_MOST 0x1p50 /* units: beyond, roundings of places are no longer small against one */
#define MARK_LEAP 0x1p30 /* a way that could be mistaken for one around all marks */

/* A grid for balls of like sizes; finer ones come first. */
#define LEVEL_INVERSE 0  /* 1 / the edge of a cell */
#define LEVEL_BITS    3  /* of the number of a cell */
#define LEVEL_CELLS   6  /* along a periodic axis; 0: the axis is not periodic */
#define LEVEL_FIRST   9  /* the key of its first cell */
#define LEVEL_RADIUS  10 /* the largest */
#define LEVEL_FIELDS  11

#define LAW_K_N      0 /* graze_contact_law */
#define LAW_HERTZ    2
#define LAW_ETA_N    3
#define LAW_GAMMA_N  4
#define LAW_ZETA_N   5
#define LAW_LEAST    6
#define LAW_K_T      7
#define LAW_MINDLIN  8
#define LAW_ETA_T    9
#define LAW_GAMMA_T  10
#define LAW_SHARE_T  11
#define LAW_SPRING   12
#define LAW_ARM      13
#define LAW_FRICTION 14
#define LAW_ROLLING  15
#define LAW_SPINNING 16
#define LAW_SURFACE  17
#define LAW_FIELDS   20

/* A ball's row, as graze_ball_rows has it. */
#define ROW_POSITION 0 /* and radius */
#define ROW_VELOCITY 4 /* and 1 / mass */
#define ROW_SPIN     8 /* and 1 / moment of inertia */
#define ROW_FIELDS   12

#define FACT_NUMBER 0
#define FACT_KIND   1
#define FACTS       2

#define KIND_DRAG     0
#define KIND_MATERIAL 2
#define KIND_BODY     3 /* number of its orientation + 1; 0: it has none */
#define KIND_FIELDS   4

#define WALL_POINT    0
#define WALL_NORMAL   3
#define WALL_MATERIAL 6
#define WALL_FIELDS   7

#define FEATURE_SIMPLE     1u /* one law for all balls, its constants as they are */
#define FEATURE_TANGENTIAL 2u
#define FEATURE_SPRINGS    4u
#define FEATURE_EVENTS     8u
#define FEATURE_DRAG       16u
#define FEATURE_BOUNDS     32u
#define FEATURE_SURFACES   64u
#define FEATURE_REMEMBERS  (FEATURE_SPRINGS | FEATURE_EVENTS) /* contacts do */

#define FLAG_MOVED      1u /* somebody has moved, or may have, farther than the list bears */
#define FLAG_NOT_FINITE 2u
#define FLAG_FAR        4u /* a ball is too far away for cells */

#define EVENT_BEGAN  0u
#define EVENT_HIT    1u
#define EVENT_ENDED  2u
#define EVENT_FIELDS 14

#define EVENT_WITH_BALL    0u /* graze_partner */
#define EVENT_WITH_WALL    1u
#define EVENT_WITH_SURFACE 2u

/* What a contact remembers: the spring, with springs, then speed of approach and impulse, with events. How many numbers
 * are springs, and how many there are. */
#define KEPT_SPRINGS(features) (((features)&FEATURE_SPRINGS) != 0 ? 3u : 0u)
#define KEPT_FIELDS(features)  (KEPT_SPRINGS(features) + (((features)&FEATURE_EVENTS) != 0 ? 2u : 0u))

/* A contact that waits while a list is made: what the ball of the lower number remembers, and the key of the other one,
 * which a double holds. */
#define WAITING_KEY(features)    KEPT_FIELDS(features)
#define WAITING_FIELDS(features) (KEPT_FIELDS(features) + 1u)

/* A surface: a mesh that no force moves. Its triangles and its tree begin at rows of the arrays of all. */
#define SURFACE_POSITION    0
#define SURFACE_VELOCITY    3
#define SURFACE_SPIN        6
#define SURFACE_ROTATION    9
#define SURFACE_CENTER      18
#define SURFACE_ORIENTATION 21
#define SURFACE_MATERIAL    25
#define SURFACE_MOVES       26
#define SURFACE_REACH       27
#define SURFACE_TRIANGLES   28
#define SURFACE_TREE        29
#define SURFACE_TREE_END    30
#define SURFACE_FIELDS      31

/* A triangle: corners, unit normal and triangle_shape. */
#define TRIANGLE_NORMAL 9
#define TRIANGLE_SHAPE  12
#define TRIANGLE_FIELDS 13
#define SHAPE_LINE      0
#define SHAPE_SLIVER    1

/* The tree of a mesh in depth-first order: a box as the bits of floats; where the next box is that is not below it,
 * from the tree's beginning; and the triangle, or that there is none. */
#define NODE_SKIP     6
#define NODE_TRIANGLE 7
#define NODE_FIELDS   8
#define NODE_INNER    0xffffffffu

/* A triangle that a ball may touch: those of a surface side by side. What is remembered of contacts with it is in the
 * first places, as many as there are, and the normals of these contacts behind what other contacts remember. */
#define FACET_SURFACE  0 /* and FACET_TOUCHES */
#define FACET_TRIANGLE 1
#define FACET_IMAGE    2 /* how many periods it is away, along each axis */
#define FACET_FIELDS   5
#define FACET_TOUCHES  0x80000000u

#define FACET_KEPT_NORMAL(features) KEPT_FIELDS(features)
#define FACET_KEPT_FIELDS(features) (KEPT_FIELDS(features) + 3u)

/* What a pass finds of triangles that a ball meets, nearest first, and then makes of it: of each place of the list what
 * acts on the ball, and the energy of a spring that is lost. */
#define MET_NORMAL     0
#define MET_DISTANCE   3
#define MET_AT         4
#define MET_TRIANGLE   7
#define MET_RIM        8
#define MET_LEAST      9
#define MET_SLOT       10 /* below 0: it begins */
#define MET_STRAIN     11
#define MET_HIT        14
#define MET_FORCE      0
#define MET_TORQUE     3
#define MET_DISSIPATED 6
#define MET_LOST       16
#define MET_FIELDS     17

/* A partner of a list: the place of a ball, or the number of a wall. */
#define PARTNER_IS_WALL 0x80000000u
#define PARTNER_TOUCHES 0x40000000u /* there is a contact that remembers */

/* What a new list finds besides neighbours. */
#define FOUND_FAR    0 /* not 0: a ball is too far away for cells */
#define FOUND_LARGE  1 /* how many balls have more partners than one item is to add up */
#define FOUND_NEAR   2 /* how many balls may touch triangles */
#define FOUND_FIELDS 3
