/* Profiles are extruded, round parts are rings that join on to each other, and everything is put on the grid of
 * 2^-18 m in the end. That moves no flat face, because measures are multiples of 2^-10 m, it leaves mirror images
 * alike, and it is far finer than the thinnest wall. */
#include "solids.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "circle.h"
#include "shapes.h"

/* ---- flat parts -------------------------------------------------------------------------------------------- */

/* A polygon in (y, z), anticlockwise seen from +x, drawn along x; `cap` is its triangulation. */
static void add_extruded(builder *build, uint32_t count, const double (*polygon)[2], uint32_t cap_count,
                         const uint8_t (*cap)[3], double length) {
  uint32_t first = (uint32_t)build->mesh.vertex_count;
  for (uint32_t end = 0; end < 2; end++) {
    for (uint32_t i = 0; i < count; i++)
      builder_vertex(build, (const double[3]){end ? length : 0, polygon[i][0], polygon[i][1]});
  }
  for (uint32_t t = 0; t < cap_count; t++) {
    builder_triangle(build, first + cap[t][0], first + cap[t][2], first + cap[t][1]);
    builder_triangle(build, first + count + cap[t][0], first + count + cap[t][1], first + count + cap[t][2]);
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t next = (i + 1) % count;
    builder_quad(build, first + i, first + next, first + count + next, first + count + i);
  }
}

static void add_box(builder *build, const double low[3], const double high[3]) {
  shape_box(build, low, high, (const uint32_t[3]){1, 1, 1});
}

/* Each face starts at another corner than shape_box's does, so that it is cut along its other diagonal. */
static void add_other_box(builder *build, const double size[3]) {
  static const uint8_t faces[6][4] = {{2, 0, 4, 6}, {3, 7, 5, 1}, {4, 0, 1, 5},
                                      {6, 7, 3, 2}, {1, 0, 2, 3}, {5, 7, 6, 4}};
  uint32_t first = (uint32_t)build->mesh.vertex_count;
  for (int corner = 0; corner < 8; corner++) {
    double point[3];
    for (int k = 0; k < 3; k++) point[k] = corner >> k & 1 ? size[k] : 0;
    builder_vertex(build, point);
  }
  for (int f = 0; f < 6; f++)
    builder_quad(build, first + faces[f][0], first + faces[f][1], first + faces[f][2], first + faces[f][3]);
}

static void add_beam(builder *build, double width, double height, double length) {
  static const uint8_t cap[10][3] = {{0, 1, 2},  {0, 2, 3}, {0, 3, 10}, {0, 10, 11}, {3, 4, 9},
                                     {3, 9, 10}, {6, 7, 8}, {6, 8, 9},  {6, 9, 4},   {6, 4, 5}};
  const double y = width / 2, flange = 0.015625, web = 0.00390625, z = height;
  const double polygon[12][2] = {{-y, 0},         {y, 0},      {y, flange}, {web, flange},    {web, z - flange},
                                 {y, z - flange}, {y, z},      {-y, z},     {-y, z - flange}, {-web, z - flange},
                                 {-web, flange},  {-y, flange}};
  add_extruded(build, 12, polygon, 10, cap, length);
}

static void add_channel(builder *build, double width, double height, double thickness, double length) {
  static const uint8_t cap[6][3] = {{1, 2, 3}, {1, 3, 4}, {0, 1, 4}, {0, 4, 5}, {0, 5, 6}, {0, 6, 7}};
  const double y = width / 2, in = y - thickness;
  const double polygon[8][2] = {{-y, 0},         {y, 0},           {y, height},   {in, height},
                                {in, thickness}, {-in, thickness}, {-in, height}, {-y, height}};
  add_extruded(build, 8, polygon, 6, cap, length);
}

static void add_angle(builder *build, double width, double thickness, double length) {
  static const uint8_t cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
  const double polygon[6][2] = {{0, 0},    {width, 0}, {width, thickness}, {thickness, thickness}, {thickness, width},
                                {0, width}};
  add_extruded(build, 6, polygon, 4, cap, length);
}

static void add_ridge(builder *build, double width, double height, double length) {
  static const uint8_t cap[1][3] = {{0, 1, 2}};
  const double polygon[3][2] = {{-width / 2, 0}, {width / 2, 0}, {0, height}};
  add_extruded(build, 3, polygon, 1, cap, length);
}

static void add_pyramid(builder *build, double side, double height) {
  uint32_t first = (uint32_t)build->mesh.vertex_count;
  const double h = side / 2, points[5][3] = {{-h, -h, 0}, {h, -h, 0}, {h, h, 0}, {-h, h, 0}, {0, 0, height}};
  for (int i = 0; i < 5; i++) builder_vertex(build, points[i]);
  builder_quad(build, first, first + 3, first + 2, first + 1);
  for (uint32_t i = 0; i < 4; i++) builder_triangle(build, first + i, first + (i + 1) % 4, first + 4);
}

/* ---- round parts -------------------------------------------------------------------------------------------- */

static void add_duct(builder *build, double side, double wall, double length) {
  static const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  double rings[16][3];
  for (int r = 0; r < 4; r++) {
    double half = r < 2 ? side / 2 : side / 2 - wall;
    for (int i = 0; i < 4; i++) {
      rings[4 * r + i][0] = r == 1 || r == 2 ? length : 0;
      rings[4 * r + i][1] = half * corner[i][0];
      rings[4 * r + i][2] = half * corner[i][1];
    }
  }
  shape_closed_rings(build, 4, 4, (const double(*)[3])rings);
}

/* A ring of a pipe that has turned from +x by the angle of (cosine, sine) towards +y, about (0, bend, 0). */
static void set_bent_ring(double (*ring)[3], uint32_t corners, double radius, double bend, double cosine, double sine) {
  for (uint32_t i = 0; i < corners; i++) {
    double c, s;
    circle_point(i, corners, &c, &s);
    ring[i][0] = bend * sine - radius * c * sine;
    ring[i][1] = bend * (1 - cosine) + radius * c * cosine;
    ring[i][2] = radius * s;
  }
}

static void set_ring(double (*ring)[3], uint32_t corners, double radius, double x) {
  for (uint32_t i = 0; i < corners; i++) {
    double c, s;
    circle_point(i, corners, &c, &s);
    ring[i][0] = x;
    ring[i][1] = radius * c;
    ring[i][2] = radius * s;
  }
}

static double (*new_rings(builder *build, uint32_t count, uint32_t corners))[3] {
  double(*rings)[3] = malloc((size_t)count * corners * sizeof *rings);
  if (!rings) build->failed = true;
  return rings;
}

/* Up the outside and back down the bore. `cuts`: pieces of the length. */
static void add_pipe(builder *build, double radius, double bore, double length, uint32_t cuts, uint32_t corners) {
  uint32_t count = 2 * (cuts + 1);
  double(*rings)[3] = new_rings(build, count, corners);
  if (!rings) return;
  for (uint32_t r = 0; r <= cuts; r++) {
    set_ring(rings + (size_t)r * corners, corners, radius, length * r / cuts);
    set_ring(rings + (size_t)(count - 1 - r) * corners, corners, bore, length * r / cuts);
  }
  shape_closed_rings(build, count, corners, (const double(*)[3])rings);
  free(rings);
}

static void add_elbow(builder *build, double radius, double bore, double bend, uint32_t steps, uint32_t corners) {
  uint32_t count = 2 * (steps + 1);
  double(*rings)[3] = new_rings(build, count, corners);
  if (!rings) return;
  for (uint32_t r = 0; r <= steps; r++) {
    double c, s;
    circle_point(r, 4 * steps, &c, &s);
    set_bent_ring(rings + (size_t)r * corners, corners, radius, bend, c, s);
    set_bent_ring(rings + (size_t)(count - 1 - r) * corners, corners, bore, bend, c, s);
  }
  shape_closed_rings(build, count, corners, (const double(*)[3])rings);
  free(rings);
}

static void add_rod(builder *build, double radius, double length, uint32_t corners) {
  double(*rings)[3] = new_rings(build, 2, corners);
  if (!rings) return;
  set_ring(rings, corners, radius, 0);
  set_ring(rings + corners, corners, radius, length);
  shape_rings(build, 2, corners, (const double(*)[3])rings, (const double[3]){0, 0, 0},
              (const double[3]){length, 0, 0});
  free(rings);
}

static const shape_frame upright = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* The cavity is turned from the top down, so that its surface faces inwards. Its roof is steeper than the outer one
 * and starts lower: 2 walls below at the top, more than one wall at the shell. */
static void add_tank(builder *build, const double size[4], bool filled, uint32_t corners) {
  const double radius = size[0], height = size[1], wall = size[2], eye = radius / 8;
  const double outside[3][2] = {{radius, 0}, {radius, height}, {eye, height + eye}};
  const double inside[3][2] = {{eye, height + eye - 2 * wall}, {radius - wall, height - wall}, {radius - wall, wall}};
  shape_turned(build, &upright, 3, outside, corners);
  if (!filled) shape_turned(build, &upright, 3, inside, corners);
}

/* Heads are half ellipsoids; each ends in a small flat disc. */
static void add_vessel(builder *build, double radius, double height, uint32_t steps, uint32_t corners) {
  double(*profile)[2] = malloc(2 * (size_t)steps * sizeof *profile);
  if (!profile) {
    build->failed = true;
    return;
  }
  for (uint32_t j = 0; j < steps; j++) {
    double c, s;
    circle_point(j, 4 * steps, &c, &s);
    profile[steps - 1 - j][0] = profile[steps + j][0] = radius * c;
    profile[steps - 1 - j][1] = -radius / 2 * s;
    profile[steps + j][1] = height + radius / 2 * s;
  }
  shape_turned(build, &upright, 2 * steps, (const double(*)[2])profile, corners);
  free(profile);
}

/* The lower quarter of a 32-cornered ring, filled down to z = 0, in columns. */
static void add_saddle(builder *build, double radius, double height, double thickness) {
  enum { columns = 8, points = 2 * (columns + 1) };
  double polygon[points][2];
  uint8_t cap[2 * columns][3];
  for (uint32_t i = 0; i <= columns; i++) {
    double c, s;
    circle_point(20 + i, 32, &c, &s);
    polygon[i][0] = polygon[points - 1 - i][0] = radius * c;
    polygon[i][1] = 0;
    polygon[points - 1 - i][1] = height + radius * s;
  }
  for (uint32_t i = 0; i < columns; i++) {
    const uint8_t a = (uint8_t)i, b = (uint8_t)(i + 1), c = (uint8_t)(points - 2 - i), d = (uint8_t)(points - 1 - i);
    const uint8_t two[2][3] = {{a, b, c}, {a, c, d}};
    for (int k = 0; k < 6; k++) cap[2 * i + k / 3][k % 3] = two[k / 3][k % 3];
  }
  add_extruded(build, points, (const double(*)[2])polygon, 2 * columns, (const uint8_t(*)[3])cap, thickness);
  for (uint64_t v = 0; v < build->mesh.vertex_count; v++) /* half of it on each side of x = 0 */
    build->mesh.vertices[3 * v] -= thickness / 2;
}

/* ---- parts of many pieces ----------------------------------------------------------------------------------- */

static const double grating_pitch = 0.125, grating_bar = 0.015625, grating_thickness = 0.03125;

/* Line i of a grating: bars lie between lines 2 k and 2 k + 1, holes between 2 k + 1 and 2 k + 2. */
static double grating_line(int64_t i) {
  return (double)(i / 2) * grating_pitch + (i & 1 ? grating_bar : 0);
}

static bool grating_is_solid(int64_t i, int64_t j, int64_t cells_x, int64_t cells_y) {
  return i >= 0 && j >= 0 && i < cells_x && j < cells_y && !(i & 1 && j & 1);
}

static void add_corner_quad(builder *build, const double corners[4][3]) {
  uint32_t v[4];
  for (int c = 0; c < 4; c++) v[c] = builder_vertex(build, corners[c]);
  builder_quad(build, v[0], v[1], v[2], v[3]);
}

/* A square of bars: floor and top, and a wall wherever the neighbour is a hole or the outside. */
static void add_grating(builder *build, int64_t holes_x, int64_t holes_y) {
  const int64_t nx = 2 * holes_x + 1, ny = 2 * holes_y + 1;
  const double top = grating_thickness;
  for (int64_t j = 0; j < ny; j++) {
    for (int64_t i = 0; i < nx; i++) {
      if (!grating_is_solid(i, j, nx, ny)) continue;
      const double x0 = grating_line(i), x1 = grating_line(i + 1), y0 = grating_line(j), y1 = grating_line(j + 1);
      const double quads[6][4][3] = {
          {{x0, y0, top}, {x1, y0, top}, {x1, y1, top}, {x0, y1, top}},
          {{x0, y0, 0}, {x0, y1, 0}, {x1, y1, 0}, {x1, y0, 0}},
          {{x0, y0, 0}, {x0, y0, top}, {x0, y1, top}, {x0, y1, 0}},
          {{x1, y0, 0}, {x1, y1, 0}, {x1, y1, top}, {x1, y0, top}},
          {{x0, y0, 0}, {x1, y0, 0}, {x1, y0, top}, {x0, y0, top}},
          {{x0, y1, 0}, {x0, y1, top}, {x1, y1, top}, {x1, y1, 0}},
      };
      add_corner_quad(build, quads[0]);
      add_corner_quad(build, quads[1]);
      if (!grating_is_solid(i - 1, j, nx, ny)) add_corner_quad(build, quads[2]);
      if (!grating_is_solid(i + 1, j, nx, ny)) add_corner_quad(build, quads[3]);
      if (!grating_is_solid(i, j - 1, nx, ny)) add_corner_quad(build, quads[4]);
      if (!grating_is_solid(i, j + 1, nx, ny)) add_corner_quad(build, quads[5]);
    }
  }
}

/* Rungs end 1/256 m before the stringers. */
static void add_ladder(builder *build, double height) {
  const double gap = 0.00390625;
  add_box(build, (const double[3]){0, -0.25, 0}, (const double[3]){0.0625, -0.21875, height});
  add_box(build, (const double[3]){0, 0.21875, 0}, (const double[3]){0.0625, 0.25, height});
  for (int rung = 1; 0.25 * rung < height; rung++) {
    const double z = 0.25 * rung;
    add_box(build, (const double[3]){0.015625, -0.21875 + gap, z - 0.03125},
            (const double[3]){0.046875, 0.21875 - gap, z});
  }
}

/* Posts a metre apart, knee rails between them, the hand rail above; 1/256 m between the pieces. */
static void add_rail(builder *build, double length) {
  const double gap = 0.00390625, thick = 0.046875;
  for (int post = 0; post <= length; post++) {
    double left = post < length ? post : length - thick;
    add_box(build, (const double[3]){left, 0, 0}, (const double[3]){left + thick, thick, 1});
    if (post >= length) break;
    double right = post + 1 < length ? post + 1 : length - thick;
    add_box(build, (const double[3]){left + thick + gap, 0, 0.5}, (const double[3]){right - gap, thick, 0.546875});
  }
  add_box(build, (const double[3]){0, 0, 1 + gap}, (const double[3]){length, thick, 1 + gap + thick});
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

static void snap(builder *build) {
  const double cells = 0x1p18;
  if (build->failed) return;
  for (uint64_t i = 0; i < 3 * build->mesh.vertex_count; i++) {
    double value = build->mesh.vertices[i];
    double whole = floor(fabs(value) * cells + 0.5) / cells; /* the same for both signs */
    build->mesh.vertices[i] = value < 0 && whole > 0 ? -whole : whole;
  }
}

static void add_solid(builder *build, const solid *what, uint32_t detail) {
  const uint32_t corners = 32 * detail, steps = 8 * detail;
  const double *s = what->size;
  switch (what->kind) {
    case solid_box:
      add_box(build, (const double[3]){0, 0, 0}, s);
      break;
    case solid_other_box:
      add_other_box(build, s);
      break;
    case solid_cut_box:
      shape_box(build, (const double[3]){0, 0, 0}, s,
                (const uint32_t[3]){(uint32_t)s[3], (uint32_t)s[3], (uint32_t)s[3]});
      break;
    case solid_beam:
      add_beam(build, s[0], s[1], s[2]);
      break;
    case solid_channel:
      add_channel(build, s[0], s[1], s[2], s[3]);
      break;
    case solid_angle:
      add_angle(build, s[0], s[1], s[2]);
      break;
    case solid_ridge:
      add_ridge(build, s[0], s[1], s[2]);
      break;
    case solid_pyramid:
      add_pyramid(build, s[0], s[1]);
      break;
    case solid_duct:
      add_duct(build, s[0], s[1], s[2]);
      break;
    case solid_pipe:
      add_pipe(build, s[0], s[1], s[2], 1, corners);
      break;
    case solid_cut_pipe:
      add_pipe(build, s[0], s[1], s[2], 2, corners);
      break;
    case solid_rod:
      add_rod(build, s[0], s[1], corners);
      break;
    case solid_elbow:
      add_elbow(build, s[0], s[1], s[2], steps, corners);
      break;
    case solid_tank:
      add_tank(build, s, false, corners);
      break;
    case solid_filled_tank:
      add_tank(build, s, true, corners);
      break;
    case solid_vessel:
      add_vessel(build, s[0], s[1], steps, corners);
      break;
    case solid_saddle:
      add_saddle(build, s[0], s[1], s[2]);
      break;
    case solid_grating:
      add_grating(build, (int64_t)s[0], (int64_t)s[1]);
      break;
    case solid_ladder:
      add_ladder(build, s[0]);
      break;
    case solid_rail:
      add_rail(build, s[0]);
      break;
    case solid_wheel:
      shape_torus(build, &upright, s[0], s[1], corners, 8 * detail);
      break;
  }
}

void solid_build(builder *build, const solid *what, uint32_t detail) {
  add_solid(build, what, detail);
  snap(build);
  builder_weld(build);
}

void solid_name(const solid *what, char name[32]) {
  static const struct {
    const char *name;
    int lengths, counts; /* how many sizes of which sort it has */
  } words[] = {
      [solid_box] = {"box", 3, 0},
      [solid_other_box] = {"other_box", 3, 0},
      [solid_cut_box] = {"cut_box", 3, 1},
      [solid_beam] = {"beam", 3, 0},
      [solid_channel] = {"channel", 4, 0},
      [solid_angle] = {"angle", 3, 0},
      [solid_ridge] = {"ridge", 3, 0},
      [solid_pyramid] = {"pyramid", 2, 0},
      [solid_duct] = {"duct", 3, 0},
      [solid_pipe] = {"pipe", 3, 0},
      [solid_cut_pipe] = {"cut_pipe", 3, 0},
      [solid_rod] = {"rod", 2, 0},
      [solid_elbow] = {"elbow", 3, 0},
      [solid_tank] = {"tank", 3, 0},
      [solid_filled_tank] = {"filled_tank", 3, 0},
      [solid_vessel] = {"vessel", 2, 0},
      [solid_saddle] = {"saddle", 3, 0},
      [solid_grating] = {"grating", 0, 2},
      [solid_ladder] = {"ladder", 1, 0},
      [solid_rail] = {"rail", 1, 0},
      [solid_wheel] = {"wheel", 2, 0},
  };
  int lengths = words[what->kind].lengths, all = lengths + words[what->kind].counts;
  int used = snprintf(name, 32, "%s", words[what->kind].name);
  for (int k = 0; k < all; k++)
    used += snprintf(name + used, 32 - (size_t)used, "_%d", (int)(what->size[k] * (k < lengths ? 1024 : 1)));
}
