/* robot.h: the plan of the robot cell: how its solids are made of boxes, and where they are at a step. robot.c builds
 * the scene from it, robot_truth.c finds out what meets. Private to scenes. */
#ifndef SCENES_ROBOT_H
#define SCENES_ROBOT_H

#include "scenes.h"

enum { ROBOT_CYCLE = 128, ROBOT_TAIL = 48 }; /* steps of a cycle, and after the last one */

/* Boxes with level tops and upright sides, in the object's own axes. */
typedef struct robot_box {
  double low[3], high[3];
} robot_box;

/* Where an object is: turned about z, then moved. */
typedef struct robot_place {
  double cosine, sine, at[3];
} robot_place;

/* An object made of boxes. Others are out of reach of everything, or in a slab of their own of the arm: they are never
 * asked about. */
typedef struct robot_body {
  uint32_t object;
  const robot_box *boxes;
  uint32_t box_count;
  robot_place place;
} robot_body;

/* Adds what meets at the step to the scene's meetings. False: out of memory. */
bool robot_find_meetings(scenes_scene *scene, const robot_body *bodies, uint32_t count, uint32_t step);

#endif
