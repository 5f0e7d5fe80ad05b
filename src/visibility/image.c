/* Pictures of passes: depth, and who is nearest. A device keeps no owners, so everybody is drawn alone and the pictures
 * are laid over each other here: slow, and for the eye only. */
#include "visibility/image.h"

#include <math.h>

typedef struct mosaic {
  uint32_t columns, side; /* of one picture, and a pixel beside it */
  float *depth, *lo, *hi;
  uint32_t *owner;
} mosaic;

static bool make_mosaic(graze_visibility *v, uint32_t count, graze_visibility_image *image, mosaic *m) {
  const uint64_t side = v->def->resolution;
  m->columns = (uint32_t)ceil(sqrt((double)count));
  const uint64_t rows = (count + m->columns - 1) / m->columns, cell = m->side = (uint32_t)side + 1;
  image->width = (uint32_t)(m->columns * cell - 1);
  image->height = (uint32_t)(rows * cell - 1);
  const uint64_t pixels = (uint64_t)image->width * image->height;
  m->depth = gz_visibility_room(v, ROOM_IMAGE, 2 * pixels + 2 * side * side, sizeof *m->depth, 0);
  if (!m->depth) return false;
  m->owner = (uint32_t *)(m->depth + pixels);
  m->lo = m->depth + 2 * pixels;
  m->hi = m->lo + side * side;
  for (uint64_t i = 0; i < pixels; i++) {
    m->depth[i] = INFINITY;
    m->owner[i] = UINT32_MAX;
  }
  image->depth = m->depth;
  image->owner = m->owner;
  return true;
}

static void lay_over(const mosaic *m, const graze_visibility_image *image, const visibility_picture *picture,
                     const visibility_part *part) {
  const uint32_t left = part->draw.picture % m->columns * m->side, bottom = part->draw.picture / m->columns * m->side;
  for (uint32_t y = 0; y < picture->height; y++) {
    for (uint32_t x = 0; x < picture->width; x++) {
      const uint64_t at = (uint64_t)(bottom + y) * image->width + left + x;
      const float lo = m->lo[(uint64_t)y * picture->width + x];
      if (!(lo < m->depth[at])) continue;
      m->depth[at] = lo;
      m->owner[at] = part->owner;
    }
  }
}

/* By the rule of the mode. */
static graze_status draw_part(const graze_visibility *v, const visibility_picture *picture, const visibility_draw *draw,
                              const uint32_t *list, const mosaic *m) {
  visibility_device *d = v->device;
  const visibility_draw alone = {0, 0, draw->count};
  if (v->def->mode == GRAZE_VISIBILITY_CULLIDE || v->def->mode == GRAZE_VISIBILITY_QCULLIDE)
    return d->centers(d, picture, list + draw->first, draw->count, m->lo);
  graze_status status = d->begin(d, picture, 1);
  if (status == GRAZE_OK) status = d->put(d, &alone, 1, list + draw->first, draw->count);
  return status == GRAZE_OK ? d->read(d, 0, m->lo, m->hi) : status;
}

graze_status gz_visibility_show(graze_visibility *v, const graze_visibility_pass *pass,
                                const visibility_picture *pictures, uint32_t picture_count,
                                const visibility_part *parts, uint32_t part_count, const uint32_t *list) {
  graze_visibility_image image = {.pass = pass};
  mosaic m;
  if (!v->def->image || v->blind) return GRAZE_OK;
  if (!make_mosaic(v, picture_count, &image, &m)) return GRAZE_ERROR_MEMORY;
  for (uint32_t i = 0; i < part_count; i++) {
    const visibility_picture *picture = &pictures[parts[i].draw.picture];
    graze_status status = draw_part(v, picture, &parts[i].draw, list, &m);
    if (status != GRAZE_OK) return status;
    lay_over(&m, &image, picture, &parts[i]);
  }
  v->blind = !v->def->image(v->def->image_user, &image);
  return GRAZE_OK;
}
