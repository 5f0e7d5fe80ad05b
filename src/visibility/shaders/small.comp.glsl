/* Visits the pixels of triangles that have few: set-up and a loop, which takes less than what a rasteriser does for each
 * triangle. The others are left to it. */
layout(local_size_x = 64) in;
layout(location = 0) uniform uint first; /* of the region's entries */
layout(location = 1) uniform uint count;
layout(location = 3) uniform uint most;    /* pixels of a rectangle that is visited here */
layout(location = 4) uniform uint command; /* the region's */

struct draw_command {
  uint count, instances, first, base;
};
layout(std430, binding = 1) buffer Commands { draw_command commands[]; };
layout(std430, binding = 2) writeonly buffer Order { uint chosen[]; };

void main() {
  uint e = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (e >= count) return;
  e += first;
  uvec4 entry = texelFetch(entries, int(e));
  picture_fields picture = picture_of(entry.y);
  visibility_setup s = setup_of(entry.x, picture);
  visibility_rectangle r = visibility_pixels(s, picture.width, picture.height);
  uint width = r.right - r.left, height = r.top - r.bottom;
  if (r.left >= r.right || r.bottom >= r.top) return;
  if (width > most || height > most || width * height > most) {
    chosen[first + atomicAdd(commands[command].count, 6u) / 6u] = e;
    return;
  }
  uint x = r.left, y = r.bottom;
  bool inside = false; /* a triangle's pixels in a row follow each other */
  for (;;) {
    uint pixel = 0u;
    uvec3 old = uvec3(0u);
    bool found = false;
    while (!found && y < r.top) { /* apart, so that threads wait for each other before what takes long */
      bool meets = visibility_meets(s, x, y);
      pixel = picture.base + y * picture.width + x;
      old = words_of(pixel);
      found = meets && may_matter(s, old);
      if (found) break;
      bool next_row = (inside && !meets) || x + 1u == r.right;
      inside = meets && !next_row;
      x = next_row ? r.left : x + 1u;
      y += next_row ? 1u : 0u;
    }
    if (!found || visit(visibility_depth(s, x, y), pixel, old, entry.z)) break;
    bool last = x + 1u == r.right;
    inside = !last;
    x = last ? r.left : x + 1u;
    y += last ? 1u : 0u;
  }
}
