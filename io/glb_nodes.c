/* glb_nodes.c: the tree of nodes for names such as "pipe 3/elbow 1". Parts are found again through a hash table of
 * (parent, part). */
#include <stdlib.h>
#include <string.h>

#include "glb.h"

typedef struct tree_table {
  glb_tree *tree;
  uint32_t *slots; /* nodes without an object, or GLB_NONE */
  uint64_t mask;
} tree_table;

static uint64_t hash_part(uint32_t parent, const char *name, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u ^ parent; /* FNV-1a */
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

static uint32_t add_node(glb_tree *tree, uint32_t parent, const char *name, size_t length, uint32_t object) {
  uint32_t number = tree->count++;
  tree->nodes[number] = (glb_node){name, length, parent, GLB_NONE, GLB_NONE, GLB_NONE, object};
  uint32_t *first = parent == GLB_NONE ? &tree->first_root : &tree->nodes[parent].first_child;
  uint32_t *last = parent == GLB_NONE ? &tree->last_root : &tree->nodes[parent].last_child;
  if (*last == GLB_NONE) {
    *first = number;
  } else {
    tree->nodes[*last].next = number;
  }
  *last = number;
  return number;
}

static uint32_t find_part(tree_table *table, uint32_t parent, const char *name, size_t length) {
  uint64_t slot = hash_part(parent, name, length) & table->mask;
  for (; table->slots[slot] != GLB_NONE; slot = (slot + 1) & table->mask) {
    const glb_node *node = &table->tree->nodes[table->slots[slot]];
    if (node->parent == parent && node->length == length && memcmp(node->name, name, length) == 0)
      return table->slots[slot];
  }
  return table->slots[slot] = add_node(table->tree, parent, name, length, GLB_NONE);
}

static const char *name_of(const graze_assembly_object *object) {
  return object->name != NULL ? object->name : "";
}

static void add_object(tree_table *table, const graze_assembly *assembly, uint32_t object) {
  const char *part = name_of(&assembly->objects[object]), *slash;
  uint32_t parent = GLB_NONE;
  for (; (slash = strchr(part, '/')) != NULL; part = slash + 1)
    parent = find_part(table, parent, part, (size_t)(slash - part));
  add_node(table->tree, parent, part, strlen(part), object);
}

/* As many nodes as there can be. */
static uint64_t count_parts(const graze_assembly *assembly) {
  uint64_t count = assembly->object_count;
  for (uint32_t i = 0; i < assembly->object_count; i++) {
    for (const char *p = name_of(&assembly->objects[i]); *p; p++) count += *p == '/';
  }
  return count;
}

bool gz_glb_tree_make(const graze_assembly *assembly, glb_tree *tree, io_fault *fault) {
  uint64_t most = count_parts(assembly), slots = 64;
  *tree = (glb_tree){.first_root = GLB_NONE, .last_root = GLB_NONE};
  if (most >= GLB_NONE)
    return gz_io_fail(fault, GRAZE_ERROR_LIMIT, IO_WHOLE_FILE, 0, "the objects' names have more than 2^32 parts");
  while (slots < 2 * most) slots *= 2;
  tree_table table = {tree, gz_new(fault->context, slots, sizeof *table.slots), slots - 1};
  tree->nodes = gz_new(fault->context, most + 1, sizeof *tree->nodes);
  bool done = table.slots != NULL && tree->nodes != NULL;
  if (done) {
    memset(table.slots, 0xff, slots * sizeof *table.slots);
    for (uint32_t i = 0; i < assembly->object_count; i++) add_object(&table, assembly, i);
  } else {
    gz_glb_tree_free(tree);
    gz_io_fail_memory(fault);
  }
  gz_free(table.slots);
  return done;
}

void gz_glb_tree_free(glb_tree *tree) {
  gz_free(tree->nodes);
  tree->nodes = NULL;
}
