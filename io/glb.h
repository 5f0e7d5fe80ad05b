/* glb.h: the pieces of the GLB writer; private to io. */
#ifndef GRAZE_IO_GLB_H
#define GRAZE_IO_GLB_H

#include "base/owned.h"
#include "fault.h"

enum { GLB_NONE = UINT32_MAX };

/* A node of the tree that the objects' names make. */
typedef struct glb_node {
  const char *name; /* `length` bytes */
  size_t length;
  uint32_t parent, first_child, last_child, next; /* GLB_NONE: there is none */
  uint32_t object;                                /* GLB_NONE: only a part of names */
} glb_node;

typedef struct glb_tree {
  glb_node *nodes;
  uint32_t count;
  uint32_t first_root, last_root;
} glb_tree;

/* Every part of a name before a '/' is a node, made when it is first seen; an object is always a node of its own. */
bool gz_glb_tree_make(const graze_assembly *assembly, glb_tree *tree, io_fault *fault);
void gz_glb_tree_free(glb_tree *tree);

/* What is written must be what glTF can hold. */
bool gz_glb_check(const graze_assembly *assembly, io_fault *fault);

#endif
