/* The rows of the list, and where a ball finds its own.
 *
 * A row is computed once for both balls (pass_kernels.c), in whatever order rows are; each ball then adds up its own in
 * the order of its partners' numbers, so that no result depends on places, blocks or when the list was made.
 */
#include <string.h>

#include "base/sort.h"
#include "dynamics/pass.h"

/* Whether both balls of a row of the block, of which this is the second, have it there. */
static bool has_both(const graze_world *world, uint32_t block, uint32_t second) {
  return is_of_block(second, block) && world->number[second] < world->dynamic;
}

static void sort_many(uint64_t *keys, uint64_t *spare, uint32_t count, uint32_t *refs) {
  gz_sort_keys(keys, spare, count);
  for (uint32_t i = 0; i < count; i++) refs[i] = (uint32_t)keys[i];
}

/* Counts, deals and sorts. `keys` has room for two of each row, and as many again. */
static void make_refs(graze_world *world, uint32_t block, uint64_t *keys) {
  neighbour_list *list = &world->list;
  const list_block *b = &list->blocks[block];
  const uint32_t *first = list->first + b->row, *second = list->second + b->row, *number = world->number;
  const uint32_t begin = block * BLOCK_PLACES, places = block_end(world, block) - begin;
  uint32_t at[BLOCK_PLACES + 1] = {0};
  for (uint32_t r = 0; r < b->rows; r++) {
    at[row_place(first[r]) - begin + 1]++;
    if (has_both(world, block, row_place(second[r]))) at[row_place(second[r]) - begin + 1]++;
  }
  for (uint32_t i = 0; i < places; i++) at[i + 1] += at[i];
  const uint32_t total = at[places];
  for (uint32_t r = 0; r < b->rows; r++) {
    const uint32_t p = row_place(first[r]), q = row_place(second[r]);
    keys[at[p - begin]++] = (uint64_t)number[q] << 32 | 2 * r;
    if (has_both(world, block, q)) keys[at[q - begin]++] = (uint64_t)number[p] << 32 | (2 * r + 1);
  }
  CPU_KERNEL(gz_refs_sort)(keys, at, places, list->refs + b->ref);
  for (uint32_t i = 0, from = 0; i < places; from = at[i++]) {
    const uint32_t count = at[i] - from;
    if (count > REFS_FEW) sort_many(keys + from, keys + total, count, list->refs + b->ref + from);
    list->ref_end[begin + i] = b->ref + at[i];
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
  w->rows.forces = gz_carve(&c, 2 * most->rows * sizeof(row));
  w->rows.torques = gz_carve(&c, 2 * most->rows * sizeof(row));
  w->slots = gz_carve(&c, most->rows * sizeof(uint32_t));
  w->obstacles.forces = gz_carve(&c, most->obstacles * sizeof(row));
  w->obstacles.torques = gz_carve(&c, most->obstacles * sizeof(row));
  w->obstacles.places = gz_carve(&c, most->obstacles * sizeof(uint32_t));
  w->found = gz_carve(&c, world->list.most_facets * sizeof(facet_contact));
  w->keys = gz_carve(&c, 4 * most->rows * sizeof(uint64_t));
  w->saved = gz_carve(&c, world->remembers ? most->rows * sizeof(row_contact) : 0);
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
  buffer *memory = &world->list.row_buffers[4];
  const size_t bytes = (world_blocks(world) + (size_t)1) * sizeof(list_block);
  if (!gz_buffer_reserve(world->context, memory, bytes, 0)) return gz_fail_memory(world->context, bytes);
  world->list.blocks = memory->data;
  memset(world->list.blocks, 0, bytes);
  return add_workers(world);
}

/* For the kernels that go on a little. */
static graze_status reserve(graze_world *world, int array, uint64_t length, uint32_t **data) {
  const size_t bytes = (length + ROWS_TOGETHER) * sizeof(uint32_t);
  if (!gz_buffer_reserve(world->context, &world->list.row_buffers[array], bytes, 0))
    return gz_fail_memory(world->context, bytes);
  *data = world->list.row_buffers[array].data;
  return GRAZE_OK;
}

graze_status gz_rows_reserve(graze_world *world, uint64_t rows) {
  const graze_status status = reserve(world, 0, rows, &world->list.first);
  return status == GRAZE_OK ? reserve(world, 1, rows, &world->list.second) : status;
}

graze_status gz_rows_lay_out_refs(graze_world *world, uint32_t rows) {
  neighbour_list *list = &world->list;
  uint32_t refs = 0;
  for (uint32_t block = 0; block < world_blocks(world); block++) {
    const uint32_t count = list->blocks[block].ref;
    list->blocks[block].ref = refs;
    refs += count;
  }
  list->blocks[world_blocks(world)] = (list_block){.row = rows, .ref = refs};
  const graze_status status = reserve(world, 2, refs, &list->refs);
  return status == GRAZE_OK ? reserve(world, 3, world->count, &list->ref_end) : status;
}

graze_status gz_rows_lay_out(graze_world *world) {
  uint32_t rows = 0;
  for (uint32_t block = 0; block < world_blocks(world); block++) {
    list_block *b = &world->list.blocks[block];
    b->row = rows;
    rows += rows_together(b->rows);
    b->rows = 0;
  }
  const graze_status status = gz_rows_reserve(world, rows);
  return status == GRAZE_OK ? gz_rows_lay_out_refs(world, rows) : status;
}

static void finish_blocks(void *argument, uint32_t begin, uint32_t end, uint32_t index) {
  graze_world *world = argument;
  neighbour_list *list = &world->list;
  for (uint32_t block = begin; block < end; block++) {
    const list_block *b = &list->blocks[block];
    for (uint32_t r = b->row + b->rows; r < b->row + rows_together(b->rows); r++)
      list->first[r] = list->second[r] = block * BLOCK_PLACES * BALL_DOUBLES; /* lanes that nobody needs */
    make_refs(world, block, world->workers[index].keys);
  }
}

graze_status gz_rows_finish(graze_world *world) {
  const graze_status status = reserve_scratch(world);
  if (status == GRAZE_OK) gz_parallel_for(world->context, world_blocks(world), 1, finish_blocks, world);
  return status;
}
