/* The rows of the list, and their order.
 *
 * A row is computed once for both balls (pass_kernels.c) and added to what they have so far. Rows by their lower
 * number, then by their higher one, add up for each ball in the order of its partners' numbers, so that no result
 * depends on places, blocks or when the list was made, and no ball needs to know where its rows are.
 */
#include <string.h>

#include "base/sort.h"
#include "dynamics/pass.h"

/* Rows of one lower number, from `keys` on, whose lower halves are rows: by the higher number. */
static void sort_group(const graze_world *world, uint32_t block, const block_rows *rows, uint64_t *keys,
                       uint64_t *spare, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t r = (uint32_t)keys[i];
    keys[i] = row_key(world, block, rows->first[r], rows->second[r]) << 32 | r;
  }
  gz_sort_keys(keys, spare, count);
}

/* From the worker's rows to those of the list. */
static void sort_rows(graze_world *world, uint32_t block, worker *w) {
  const list_block *b = &world->list.blocks[block];
  const block_rows *rows = &w->rows;
  uint64_t *keys = w->keys, *spare = keys + b->rows;
  memcpy(rows->first, world->list.first + b->row, b->rows * sizeof *rows->first);
  memcpy(rows->second, world->list.second + b->row, b->rows * sizeof *rows->second);
  for (uint32_t r = 0; r < b->rows; r++)
    keys[r] = row_key(world, block, rows->first[r], rows->second[r]) >> 32 << 32 | r;
  gz_sort_keys(keys, spare, b->rows);
  for (uint32_t from = 0, to; from < b->rows; from = to) {
    for (to = from + 1; to < b->rows && keys[to] >> 32 == keys[from] >> 32; to++) {
    }
    sort_group(world, block, rows, keys + from, spare, to - from);
  }
  for (uint32_t i = 0; i < b->rows; i++) {
    world->list.first[b->row + i] = rows->first[(uint32_t)keys[i]];
    world->list.second[b->row + i] = rows->second[(uint32_t)keys[i]];
  }
}

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

/* What the largest blocks have, and room for lanes that nobody needs. */
typedef struct block_sizes {
  size_t rows, obstacles;
} block_sizes;

static block_sizes survey_blocks(const graze_world *world) {
  const neighbour_list *list = &world->list;
  block_sizes most = {0, 0};
  uint64_t wall = 0, surface = 0;
  for (uint32_t block = 0; block < world_blocks(world); block++) {
    size_t obstacles = 0;
    for (; wall < list->wall_count && is_of_block(list->walls[wall].place, block); wall++) obstacles++;
    for (; surface < list->surface_count && is_of_block(list->surfaces[surface].place, block); surface++)
      obstacles += list->surfaces[surface].count;
    const uint32_t rows = rows_together(list->blocks[block].rows);
    most.rows = rows > most.rows ? rows : most.rows;
    most.obstacles = obstacles > most.obstacles ? obstacles : most.obstacles;
  }
  return (block_sizes){most.rows + 16, most.obstacles + 8};
}

/* With `memory` NULL: the bytes that it takes. */
static size_t divide(const graze_world *world, const block_sizes *most, void *memory, worker *w) {
  carving c = {memory, 0};
  w->sums = gz_carve(&c, (BLOCK_PLACES + 1) * sizeof *w->sums);
  w->obstacles.forces = gz_carve(&c, most->obstacles * sizeof(row));
  w->obstacles.torques = gz_carve(&c, most->obstacles * sizeof(row));
  w->obstacles.places = gz_carve(&c, most->obstacles * sizeof(uint32_t));
  w->found = gz_carve(&c, world->list.most_facets * sizeof(facet_contact));
  w->rows.first = gz_carve(&c, most->rows * sizeof(uint16_t));
  w->rows.second = gz_carve(&c, most->rows * sizeof(uint32_t));
  carving saved = c; /* none of these while there are keys */
  w->keys = gz_carve(&c, 2 * most->rows * sizeof(uint64_t));
  w->saved = gz_carve(&saved, world->remembers ? most->rows * sizeof(row_contact) : 0);
  c.used = saved.used > c.used ? saved.used : c.used;
  return c.used;
}

static graze_status reserve_scratch(graze_world *world) {
  const block_sizes most = survey_blocks(world);
  worker none;
  const size_t bytes = divide(world, &most, NULL, &none);
  for (uint32_t i = 0; i < world->worker_count; i++) {
    worker *w = &world->workers[i];
    if (!gz_buffer_reserve(world->context, &w->scratch, bytes, 0)) return gz_fail_memory(world->context, bytes);
    divide(world, &most, w->scratch.data, w);
  }
  return GRAZE_OK;
}

void gz_workers_release(graze_world *world) {
  for (uint32_t i = 0; i < world->worker_count; i++) {
    worker *w = &world->workers[i];
    gz_buffer_release(world->context, &w->scratch);
    gz_free(w->ended.data);
    gz_free(w->near.data);
    gz_free(w->cell_rows.data);
    gz_free(w->result.events.data);
  }
  gz_free(world->workers);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static graze_status add_workers(graze_world *world) {
  const uint32_t count = gz_workers(world->context);
  if (world->worker_count >= count) return GRAZE_OK;
  worker *workers = gz_new_zeroed(world->context, count, sizeof *workers);
  if (workers == NULL) return gz_fail_memory(world->context, count * sizeof *workers);
  if (world->worker_count > 0) memcpy(workers, world->workers, world->worker_count * sizeof *workers);
  gz_free(world->workers);
  world->workers = workers;
  world->worker_count = count;
  return GRAZE_OK;
}

graze_status gz_rows_begin(graze_world *world) {
  buffer *memory = &world->list.row_buffers[2];
  const size_t bytes = (world_blocks(world) + (size_t)1) * sizeof(list_block);
  if (!gz_buffer_reserve(world->context, memory, bytes, 0)) return gz_fail_memory(world->context, bytes);
  world->list.blocks = memory->data;
  memset(world->list.blocks, 0, bytes);
  return add_workers(world);
}

/* For the kernels that go on a little. What was there is of an older list. */
static void *reserve(graze_world *world, int array, uint64_t length, size_t size) {
  buffer *memory = &world->list.row_buffers[array];
  const size_t bytes = (length + ROWS_TOGETHER) * size;
  return gz_buffer_renew(world->context, memory, bytes) ? memory->data : NULL;
}

graze_status gz_rows_reserve(graze_world *world, uint64_t rows) {
  neighbour_list *list = &world->list;
  list->first = reserve(world, 0, rows, sizeof *list->first);
  list->second = reserve(world, 1, rows, sizeof *list->second);
  if (list->first != NULL && list->second != NULL) return GRAZE_OK;
  return gz_fail_memory(world->context, rows * sizeof *list->second);
}

graze_status gz_rows_lay_out(graze_world *world) {
  uint32_t rows = 0;
  for (uint32_t block = 0; block < world_blocks(world); block++) {
    list_block *b = &world->list.blocks[block];
    b->row = rows;
    rows += rows_together(b->rows);
    b->rows = 0;
  }
  world->list.blocks[world_blocks(world)] = (list_block){.row = rows};
  return gz_rows_reserve(world, rows);
}

static void finish_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  graze_world *world = argument;
  neighbour_list *list = &world->list;
  for (uint32_t block = begin; block < end; block++) {
    const list_block *b = &list->blocks[block];
    for (uint32_t r = b->row + b->rows; r < b->row + rows_together(b->rows); r++) { /* lanes that nobody needs */
      list->first[r] = 0;
      list->second[r] = block * BLOCK_PLACES * BALL_DOUBLES;
    }
    sort_rows(world, block, &world->workers[index]);
  }
}

graze_status gz_rows_finish(graze_world *world) {
  const graze_status status = reserve_scratch(world);
  if (status == GRAZE_OK) gz_parallel_for(world->context, world_blocks(world), 1, finish_blocks, world);
  return status;
}
