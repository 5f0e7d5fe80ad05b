/* Lists of pairs, piece by piece: count, scan, write, sort, and the way back. */
#include "gpu/pairs.h"

#include "base/sort.h"

enum { GROUP = 256 };

static const uint64_t MOST_PAIRS = 1u << 25; /* written together: some 32 bytes of memory each */

uint32_t gz_gpu_bits_for(uint64_t values) {
  uint32_t bits = 0;
  while (bits < 64 && (uint64_t)1 << bits < values) bits++;
  return bits;
}

void gz_gpu_pairs_begin(gpu_pairs *p) {
  p->found = 0;
  p->pieces = 0;
  p->upload = p->compute = p->download = 0;
}

static graze_status count_piece(graze_gpu *gpu, gpu_scratch *scratch, gpu_pairs *p, const gpu_pair_work *w,
                                uint32_t begin, uint32_t some, uint64_t *total) {
  graze_status status = gz_gpu_reserve(gpu, &p->counts, some * sizeof(uint32_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &p->places, (some + (size_t)1) * sizeof(uint32_t));
  if (status == GRAZE_OK) status = w->count(gpu, w->user, begin, some, &p->counts);
  if (status == GRAZE_OK) status = gz_gpu_scan(gpu, scratch, &p->counts, &p->places, some);
  return status != GRAZE_OK ? status : gz_gpu_scan_total(gpu, scratch, total);
}

static graze_status write_piece(graze_gpu *gpu, gpu_scratch *scratch, gpu_pairs *p, const gpu_pair_work *w,
                                uint32_t begin, uint32_t some, uint32_t total) {
  graze_status status = gz_gpu_reserve(gpu, &p->packed, total * sizeof(uint64_t));
  if (status == GRAZE_OK) status = gz_gpu_reserve(gpu, &p->pairs, total * sizeof(graze_box_pair));
  if (status == GRAZE_OK) status = w->write(gpu, w->user, begin, some, &p->places, &p->packed);
  if (status == GRAZE_OK && !w->unsorted) {
    status = gz_gpu_reserve(gpu, &p->unused, total * sizeof(uint32_t));
    if (status == GRAZE_OK) {
      status = gz_gpu_sort(gpu, scratch, &p->packed, &p->unused, total, sizeof(uint64_t), 2 * w->pack + w->flags);
    }
  }
  const gpu_argument unpack[] = {GPU_BUFFER(&p->packed), GPU_BUFFER(&p->pairs), GPU_VALUE(total), GPU_VALUE(w->pack),
                                 GPU_VALUE(w->flags)};
  if (status == GRAZE_OK) status = gz_gpu_run(gpu, "pairs", "pair_unpack", gpu_groups(total, GROUP), unpack, 5);
  return status != GRAZE_OK ? status : gz_gpu_finish(gpu);
}

/* Pairs of the items [begin, begin + some), halved until what they give has room. */
static graze_status find_piece(graze_gpu *gpu, gpu_scratch *scratch, gpu_pairs *p, const gpu_pair_work *w,
                               uint32_t begin, uint32_t some) {
  uint64_t total;
  double start = clock_now();
  graze_status status = count_piece(gpu, scratch, p, w, begin, some, &total);
  p->compute += clock_now() - start;
  if (status != GRAZE_OK || total == 0) return status;
  if (total > MOST_PAIRS && some > 1) {
    status = find_piece(gpu, scratch, p, w, begin, some / 2);
    return status != GRAZE_OK ? status : find_piece(gpu, scratch, p, w, begin + some / 2, some - some / 2);
  }
  size_t had = p->found * sizeof(graze_box_pair), more = total * sizeof(graze_box_pair);
  if (!gz_buffer_reserve(gpu->context, &p->result, had + more, had)) return gz_fail_memory(gpu->context, had + more);
  start = clock_now();
  status = write_piece(gpu, scratch, p, w, begin, some, (uint32_t)total);
  double written = clock_now();
  graze_box_pair *fresh = (graze_box_pair *)p->result.data + p->found;
  if (status == GRAZE_OK) status = gz_gpu_read(gpu, fresh, &p->pairs, 0, more);
  p->compute += written - start;
  p->download += clock_now() - written;
  if (status != GRAZE_OK) return status;
  p->found += w->keep != NULL ? w->keep(w->user, fresh, total) : total;
  p->pieces++;
  return GRAZE_OK;
}

graze_status gz_gpu_pairs_find(graze_gpu *gpu, gpu_scratch *scratch, gpu_pairs *p, const gpu_pair_work *work) {
  graze_status status = GRAZE_OK;
  for (uint32_t begin = 0, some = 0; begin < work->items && status == GRAZE_OK; begin += some) {
    some = work->items - begin < work->most ? work->items - begin : work->most;
    status = find_piece(gpu, scratch, p, work, begin, some);
  }
  return status;
}

graze_status gz_gpu_pairs_end(graze_gpu *gpu, gpu_pairs *p, bool unsorted) {
  if (unsorted || p->pieces < 2) return GRAZE_OK;
  size_t bytes = 2 * p->found * sizeof(uint64_t);
  graze_box_pair *pairs = p->result.data;
  if (!gz_buffer_reserve(gpu->context, &p->sort_room, bytes, 0)) return gz_fail_memory(gpu->context, bytes);
  uint64_t *keys = p->sort_room.data;
  for (uint64_t i = 0; i < p->found; i++) keys[i] = (uint64_t)pairs[i].a << 32 | pairs[i].b;
  gz_sort_keys(keys, keys + p->found, p->found);
  for (uint64_t i = 0; i < p->found; i++) pairs[i] = (graze_box_pair){(uint32_t)(keys[i] >> 32), (uint32_t)keys[i]};
  return GRAZE_OK;
}

void gz_gpu_pairs_release(graze_gpu *gpu, gpu_pairs *p) {
  gpu_buffer *all[] = {&p->counts, &p->places, &p->packed, &p->unused, &p->pairs};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) gz_gpu_release(gpu, all[i]);
  gz_buffer_release(gpu->context, &p->result);
  gz_buffer_release(gpu->context, &p->sort_room);
}
