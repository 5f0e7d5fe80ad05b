/* The bounds of a mesh, as JSON and for people. */
#include "info_bounds.h"

#include <inttypes.h>
#include <stdio.h>

static const uint32_t planes[] = {6, 14, 18, 26};

static void write_json_sphere(gz_json *json, const char *key, const graze_sphere *sphere) {
  gz_json_open(json, key, '{');
  gz_json_doubles(json, "center", sphere->center, 3);
  gz_json_double(json, "radius", sphere->radius);
  gz_json_close(json);
}

static void write_json_smallest(gz_json *json, const graze_bounds *b) {
  gz_json_open(json, "sphere_smallest", '{');
  gz_json_doubles(json, "center", b->sphere_smallest.center, 3);
  gz_json_double(json, "radius", b->sphere_smallest.radius);
  gz_json_open(json, "support", '[');
  for (uint32_t i = 0; i < b->support_count; i++) gz_json_integer(json, NULL, b->support[i]);
  gz_json_close(json);
  gz_json_close(json);
}

static void write_json_obb(gz_json *json, const graze_obb *obb) {
  gz_json_open(json, "obb", '{');
  gz_json_doubles(json, "center", obb->center, 3);
  gz_json_open(json, "axes", '[');
  for (int k = 0; k < 3; k++) gz_json_doubles(json, NULL, obb->axes[k], 3);
  gz_json_close(json);
  gz_json_doubles(json, "half", obb->half, 3);
  gz_json_close(json);
}

static void write_json_slab(gz_json *json, const graze_kdop *kdop, uint32_t index) {
  int direction[3];
  graze_slab_direction(index, direction);
  const double numbers[3] = {direction[0], direction[1], direction[2]};
  gz_json_open(json, NULL, '{');
  gz_json_doubles(json, "direction", numbers, 3);
  gz_json_double(json, "min", kdop->min[index]);
  gz_json_double(json, "max", kdop->max[index]);
  gz_json_close(json);
}

void info_write_json_bounds(gz_json *json, const graze_bounds *b) {
  gz_json_open(json, "bounds", '{');
  gz_json_open(json, "box", '{');
  gz_json_doubles(json, "min", b->box.min, 3);
  gz_json_doubles(json, "max", b->box.max, 3);
  gz_json_close(json);
  write_json_sphere(json, "sphere_box", &b->sphere_box);
  write_json_sphere(json, "sphere_ritter", &b->sphere_ritter);
  write_json_smallest(json, b);
  write_json_obb(json, &b->obb);
  gz_json_open(json, "kdop", '{');
  for (int n = 0; n < 4; n++) {
    char key[12];
    snprintf(key, sizeof key, "%" PRIu32, planes[n]);
    gz_json_open(json, key, '[');
    for (uint32_t i = 0; i < GRAZE_SLABS; i++) {
      if (graze_kdop_has(planes[n], i)) write_json_slab(json, &b->kdop, i);
    }
    gz_json_close(json);
  }
  gz_json_close(json);
  gz_json_close(json);
}

static void put_numbers(output *out, const double *numbers, int count) {
  for (int k = 0; k < count; k++) {
    gz_put_text(out, k == 0 ? "(" : ", ");
    gz_put_double(out, numbers[k]);
  }
  gz_put_text(out, ")");
}

static void put_sphere(output *out, const char *name, const graze_sphere *sphere) {
  output_print(out, "  %-18s radius ", name);
  gz_put_double(out, sphere->radius);
  gz_put_text(out, " around ");
  put_numbers(out, sphere->center, 3);
}

void info_write_text_bounds(output *out, const graze_bounds *b) {
  put_sphere(out, "sphere of the box", &b->sphere_box);
  gz_put_text(out, "\n");
  put_sphere(out, "Ritter's sphere", &b->sphere_ritter);
  gz_put_text(out, "\n");
  put_sphere(out, "smallest sphere", &b->sphere_smallest);
  gz_put_text(out, ", through vertices");
  for (uint32_t i = 0; i < b->support_count; i++) output_print(out, " %" PRIu64, b->support[i]);
  gz_put_text(out, "\n  oriented box       half ");
  put_numbers(out, b->obb.half, 3);
  gz_put_text(out, " around ");
  put_numbers(out, b->obb.center, 3);
  gz_put_text(out, "\n");
  for (int k = 0; k < 3; k++) {
    output_print(out, "  %-18s ", k == 0 ? "  axes" : "");
    put_numbers(out, b->obb.axes[k], 3);
    gz_put_text(out, "\n");
  }
  for (uint32_t i = 0; i < GRAZE_SLABS; i++) {
    int d[3];
    graze_slab_direction(i, d);
    output_print(out, "  %-10s(%d, %d, %d)", i == 0 ? "slabs" : "", d[0], d[1], d[2]);
    gz_put_text(out, "  ");
    gz_put_double(out, b->kdop.min[i]);
    gz_put_text(out, " .. ");
    gz_put_double(out, b->kdop.max[i]);
    gz_put_text(out, "\n");
  }
}
