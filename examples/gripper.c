/* A gripper comes down on what lies on a table: a box is cast through a world of rigid bodies, which tells what it
 * would meet first, and how far it may go. */
#include <graze/rigid.h>
#include <stdio.h>

static graze_status add_table(graze_rigid *world) {
  static const double point[3] = {0, 0, 0}, up[3] = {0, 0, 1};
  const graze_rigid_material wood = graze_default_rigid_material();
  uint32_t material;
  graze_status status = graze_rigid_add_material(world, &wood, &material);
  return status == GRAZE_OK ? graze_rigid_add_wall(world, point, up, material) : status;
}

/* A can that lies along y, and a ball. */
static graze_status add_things(graze_rigid *world) {
  graze_rigid_body_def can = graze_default_rigid_body_def(), ball = can;
  uint32_t number;
  can.name = "can";
  can.shape = GRAZE_RIGID_CAPSULE;
  can.radius = 0.03;
  can.length = 0.08;
  can.density = 1000;
  can.position[2] = 0.03;
  can.orientation[1] = 1; /* a quarter turn about x */
  ball.name = "ball";
  ball.radius = 0.05;
  ball.density = 500;
  ball.position[0] = 0.125;
  ball.position[2] = 0.05;
  graze_status status = graze_rigid_add_body(world, &can, &number);
  return status == GRAZE_OK ? graze_rigid_add_body(world, &ball, &number) : status;
}

static graze_status lower_gripper(graze_rigid *world) {
  enum { PLACES = 4 };
  graze_rigid_shape_cast casts[PLACES];
  graze_rigid_shape_hit hits[PLACES];
  for (int i = 0; i < PLACES; i++) {
    casts[i] = (graze_rigid_shape_cast){.shape = graze_default_rigid_part(), .way = {0, 0, -0.5}};
    casts[i].shape.shape = GRAZE_RIGID_BOX;
    for (int k = 0; k < 3; k++) casts[i].shape.edges[k] = 0.05;
    casts[i].shape.place[0] = -0.0625 + 0.0625 * i;
    casts[i].shape.place[2] = 0.425;
  }
  const graze_status status = graze_rigid_cast_shapes(world, PLACES, casts, hits);
  for (int i = 0; status == GRAZE_OK && i < PLACES; i++) {
    graze_rigid_body_def body = graze_default_rigid_body_def();
    if (hits[i].member.kind == GRAZE_MEMBER_BODY) graze_rigid_get_body(world, hits[i].member.index, &body);
    printf("at x = %g: %s after %.4f m\n", casts[i].shape.place[0],
           hits[i].member.kind == GRAZE_MEMBER_BODY ? body.name : "the table", 0.5 * hits[i].lower);
  }
  return status;
}

int main(void) {
  const graze_rigid_def def = graze_default_rigid_def();
  graze_context *context = NULL;
  graze_rigid *world = NULL;
  graze_status status = graze_context_create(NULL, &context);
  if (status == GRAZE_OK) status = graze_rigid_create(context, &def, &world);
  if (status == GRAZE_OK) status = add_table(world);
  if (status == GRAZE_OK) status = add_things(world);
  if (status == GRAZE_OK) status = lower_gripper(world);
  if (status != GRAZE_OK) fprintf(stderr, "gripper: %s\n", graze_status_string(status));
  graze_rigid_destroy(world);
  graze_context_destroy(context);
  return status == GRAZE_OK ? 0 : 3;
}
