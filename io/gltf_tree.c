/* gltf_tree.c: the tree of nodes and what stands in it (chapters 3.5.1 and 3.5.2).
 *
 * The scene is the default one, else the first, else all nodes that have no parent. Objects come in the order of a
 * depth-first walk. A node's pose in the world is its parent's times its own, from the root down. How deep a tree may
 * be follows from the longest path of names, which bounds the recursion.
 *
 * Where the file's numbers are floats, the rounding of every node that places a single object is summed up on the way
 * back. Nodes above several objects move all of them alike, and say nothing about where these are to each other.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gltf.h"

/* Marks; scenes use their number, counted from 1. */
#define REACHED UINT32_MAX
#define PLACED  (UINT32_MAX - 1)

typedef struct tree {
  gltf_file *file;
  gltf_node *nodes;
} tree;

/* What a node places: how many objects and, if it is one, its number and its pose relative to the node above. */
typedef struct branch {
  uint32_t count, object;
  graze_pose below;
} branch;

static gltf_place place_of_node(const tree *t, uint32_t index) {
  gltf_place place = gz_gltf_place_of("node", index);
  const char *name = t->nodes[index].name;
  size_t used = strlen(place.text);
  if (name != NULL && *name) {
    snprintf(place.text + used, sizeof place.text - used, " (\"%s\")", gz_io_quote(name, name + strlen(name)).text);
  }
  return place;
}

/* ---- the tree is one ---- */

static bool set_parent(const tree *t, uint32_t parent, uint32_t child) {
  gltf_node *node = &t->nodes[child];
  if (node->parent != GLTF_NONE) {
    return gz_gltf_fail(t->file, GRAZE_ERROR_FORMAT, place_of_node(t, child).text,
                        "it is a child of node %lu and of node %lu", (unsigned long)node->parent,
                        (unsigned long)parent);
  }
  node->parent = parent;
  return true;
}

static uint32_t child_of(const gltf_node *node, size_t i) {
  return (uint32_t)json_number_value(json_array_get(node->children, i));
}

static bool set_parents(const tree *t) {
  for (uint32_t i = 0; i < t->file->node_count; i++) {
    for (size_t k = 0; k < json_array_size(t->nodes[i].children); k++) {
      if (!set_parent(t, i, child_of(&t->nodes[i], k))) return false;
    }
  }
  return true;
}

/* Every node has at most one parent, so whatever cannot be reached from above hangs on a cycle. Going up from there
 * as many steps as there are nodes ends within it. */
static bool check_cycles(const tree *t) {
  uint32_t count = t->file->node_count, done = 0, listed = 0;
  uint32_t *list = gz_new(t->file->fault->context, count, sizeof *list);
  if (list == NULL) return gz_io_fail_memory(t->file->fault);
  for (uint32_t i = 0; i < count; i++) {
    if (t->nodes[i].parent == GLTF_NONE) list[listed++] = i;
  }
  for (; done < listed; done++) {
    gltf_node *node = &t->nodes[list[done]];
    node->mark = REACHED;
    for (size_t k = 0; k < json_array_size(node->children); k++) list[listed++] = child_of(node, k);
  }
  gz_free(list);
  if (done == count) return true;
  uint32_t at = 0;
  while (t->nodes[at].mark == REACHED) at++;
  for (uint32_t i = 0; i < count; i++) at = t->nodes[at].parent;
  return gz_gltf_fail(t->file, GRAZE_ERROR_FORMAT, place_of_node(t, at).text, "it is below itself");
}

/* ---- scenes ---- */

static bool check_scene(const tree *t, const json_t *scene, uint32_t index) {
  gltf_place place = gz_gltf_place_of("scene", index);
  json_t *nodes;
  if (!gz_gltf_get_array(t->file, place.text, scene, "nodes", &nodes)) return false;
  size_t count = json_array_size(nodes);
  bool good = true;
  for (size_t i = 0; good && i < count; i++) {
    uint32_t node;
    if (!gz_gltf_index_of(t->file, place.text, "nodes", json_array_get(nodes, i), t->file->node_count, &node))
      return false;
    if (t->nodes[node].parent != GLTF_NONE || t->nodes[node].mark == index + 1) {
      good = gz_gltf_fail(t->file, GRAZE_ERROR_FORMAT, place.text, "node %lu %s", (unsigned long)node,
                          t->nodes[node].mark == index + 1 ? "is listed twice" : "is a child of another node");
    }
    t->nodes[node].mark = index + 1;
  }
  return good;
}

/* The nodes of the scene to be read; NULL when it has none. */
static bool find_scene(const tree *t, bool *has_scene, const json_t **roots) {
  const gltf_file *file = t->file;
  json_t *scenes;
  uint32_t count, scene;
  if (!gz_gltf_get_table(file, "scenes", &scenes, &count) ||
      !gz_gltf_get_index(file, "", file->root, "scene", count, false, &scene)) {
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!check_scene(t, json_array_get(scenes, i), i)) return false;
  }
  *has_scene = count > 0;
  *roots = json_object_get(json_array_get(scenes, scene != GLTF_NONE ? scene : 0), "nodes");
  return true;
}

/* ---- the walk ---- */

static bool is_finite(const graze_pose *pose) {
  double sum = 0;
  for (int k = 0; k < 12; k++) sum += pose->m[k] * 0;
  return isfinite(sum);
}

static bool check_pose(const tree *t, uint32_t index, const graze_pose *pose) {
  return is_finite(pose) ||
         gz_gltf_fail(t->file, GRAZE_ERROR_POSE, place_of_node(t, index).text, "its pose in the world is not finite");
}

/* 22 digits of IFC's base 64, of which the first is 0 to 3. */
static bool is_global_id(const char *name) {
  static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$";
  return strspn(name, digits) == 22 && name[22] == 0 && *name >= '0' && *name <= '3';
}

static bool add_object(const tree *t, const gltf_node *node, const char *name, const char *parent,
                       const graze_pose *pose) {
  io_assembly *assembly = &t->file->assembly;
  if (!gz_io_assembly_add_object(assembly, name, parent, node->mesh, pose, t->file->fault)) return false;
  const char *label = node->label;
  if (label == NULL && is_global_id(node->name)) label = assembly->result.meshes[node->mesh].name;
  if (label == NULL || *label == 0 || strcmp(label, node->name) == 0) return true;
  char *kept = gz_io_names_keep(&assembly->names, label, strlen(label));
  assembly->result.objects[assembly->result.object_count - 1].label = kept;
  return kept != NULL || gz_io_fail_memory(t->file->fault);
}

static bool add_instances(const tree *t, uint32_t index, const char *parent, const graze_pose *world) {
  gltf_file *file = t->file;
  const gltf_node *node = &t->nodes[index];
  graze_pose *poses;
  uint64_t count;
  gltf_place place = place_of_node(t, index);
  bool good = gz_gltf_read_instances(file, place.text, node->instances, &poses, &count);
  for (uint64_t i = 0; good && i < count; i++) {
    graze_pose pose = graze_pose_multiply(world, &poses[i]);
    const char *name = gz_io_assembly_add_path(&file->assembly, parent, node->name, index, file->fault);
    good = name != NULL && check_pose(t, index, &pose) && add_object(t, node, name, parent, &pose);
  }
  gz_free(poses);
  return good;
}

static bool has_triangles(const tree *t, const gltf_node *node) {
  return node->mesh != GLTF_NONE && t->file->meshes[node->mesh].triangle_count > 0;
}

/* Objects are counted up to two. */
static void join_branch(branch *b, const branch *other) {
  if (b->count == 0) {
    *b = *other;
  } else if (other->count > 0) {
    b->count = 2;
  }
}

/* The node places what is in the branch, below `above`. */
static void leave_node(const tree *t, const gltf_node *node, const graze_pose *above, branch *b) {
  if (b->count != 1 || t->file->digits.doubles || !t->file->digits.floats) return;
  graze_assembly_object *object = &t->file->assembly.result.objects[b->object];
  const graze_pose identity = graze_pose_identity();
  gz_gltf_add_rounding(above != NULL ? above : &identity, &node->rounding, &b->below, &object->rounding);
  b->below = graze_pose_multiply(&node->pose, &b->below);
}

static bool walk_node(const tree *t, uint32_t index, const char *parent, const graze_pose *above, branch *b) {
  gltf_file *file = t->file;
  const gltf_node *node = &t->nodes[index];
  bool has_object = has_triangles(t, node);
  t->nodes[index].mark = PLACED;
  graze_pose world = above != NULL ? graze_pose_multiply(above, &node->pose) : node->pose;
  if (!check_pose(t, index, &world)) return false;
  const char *path = gz_io_assembly_add_path(&file->assembly, parent, node->name, index, file->fault);
  if (path == NULL) return false;
  if (node->mesh != GLTF_NONE && !has_object && !file->meshes[node->mesh].is_thin &&
      file->assembly.result.hollow == NULL)
    file->assembly.result.hollow = path;
  bool is_instanced = has_object && node->instances != NULL;
  if (is_instanced && !add_instances(t, index, path, &world)) return false;
  if (has_object && !is_instanced && !add_object(t, node, path, parent, &world)) {
    return false;
  }
  *b = (branch){is_instanced ? 2 : has_object, file->assembly.result.object_count - 1, graze_pose_identity()};
  for (size_t i = 0; i < json_array_size(node->children); i++) {
    branch child;
    if (!walk_node(t, child_of(node, i), path, &world, &child)) return false;
    join_branch(b, &child);
  }
  leave_node(t, node, above, b);
  return true;
}

static bool walk(const tree *t, const json_t *roots) {
  for (size_t i = 0; i < json_array_size(roots); i++) {
    if (!walk_node(t, (uint32_t)json_number_value(json_array_get(roots, i)), "", NULL, &(branch){0})) return false;
  }
  return true;
}

static bool walk_all(const tree *t) {
  for (uint32_t i = 0; i < t->file->node_count; i++) {
    if (t->nodes[i].parent == GLTF_NONE && !walk_node(t, i, "", NULL, &(branch){0})) return false;
  }
  return true;
}

/* What stands in another scene, or in none, is not read, which nobody would see. */
static void warn_of_others(const tree *t) {
  uint32_t count = 0, first = 0;
  for (uint32_t i = 0; i < t->file->node_count; i++) {
    if (t->nodes[i].mark == PLACED || !has_triangles(t, &t->nodes[i])) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0 || t->file->input->is_repeated) return;
  char more[48] = "";
  if (count > 1) snprintf(more, sizeof more, " (%lu such nodes)", (unsigned long)count);
  gz_warn_named(t->file->fault->context, t->file->input->name, "",
                "%s is left out: it is not in the scene that is read%s", place_of_node(t, first).text, more);
}

bool gz_gltf_read_tree(gltf_file *file) {
  json_t *table;
  if (!gz_gltf_get_table(file, "nodes", &table, &file->node_count)) return false;
  tree t = {file, gz_new_zeroed(file->fault->context, (size_t)file->node_count + 1, sizeof t.nodes[0])};
  if (t.nodes == NULL) return gz_io_fail_memory(file->fault);
  bool good = true;
  for (uint32_t i = 0; good && i < file->node_count; i++) {
    good = gz_gltf_read_node(file, json_array_get(table, i), gz_gltf_place_of("node", i).text, &t.nodes[i]);
  }
  const json_t *roots = NULL;
  bool has_scene = false;
  good = good && set_parents(&t) && check_cycles(&t) && find_scene(&t, &has_scene, &roots);
  if (good) good = has_scene ? walk(&t, roots) : walk_all(&t);
  if (good) warn_of_others(&t);
  gz_free(t.nodes);
  return good;
}
