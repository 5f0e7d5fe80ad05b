/* The table of methods. A new one is a file, a line here and a name in graze/broadphase.h. */
#include <stddef.h>
#include <string.h>

#include "broad/broad.h"

static const broad_method automatic = {
    .info = {"auto", "picks one of the others from sizes, density and motion, and from what they cost",
             "that of the method it picks", true}};

static const broad_method *const table[GRAZE_BROAD_METHODS] = {
    [GRAZE_BROAD_AUTO] = &automatic,
    [GRAZE_BROAD_BRUTE] = &gz_broad_brute,
    [GRAZE_BROAD_SWEEP] = &gz_broad_sweep,
    [GRAZE_BROAD_SAP] = &gz_broad_sap,
    [GRAZE_BROAD_GRID] = &gz_broad_grid,
    [GRAZE_BROAD_HGRID] = &gz_broad_hgrid,
    [GRAZE_BROAD_HASH] = &gz_broad_hash,
    [GRAZE_BROAD_TREE] = &gz_broad_tree,
    [GRAZE_BROAD_BVH] = &gz_broad_bvh,
    [GRAZE_BROAD_OCTREE] = &gz_broad_octree,
    [GRAZE_BROAD_KDTREE] = &gz_broad_kdtree,
    [GRAZE_BROAD_BSP] = &gz_broad_bsp,
    [GRAZE_BROAD_SUBDIVISION] = &gz_broad_subdivision,
    [GRAZE_BROAD_VERLET] = &gz_broad_verlet,
};

const broad_method *gz_broad_method_of(graze_broad_method method) {
  return (unsigned)method < GRAZE_BROAD_METHODS ? table[method] : NULL;
}

const graze_broad_method_info *graze_broad_method_describe(graze_broad_method method) {
  const broad_method *m = gz_broad_method_of(method);
  return m != NULL ? &m->info : NULL;
}

bool graze_broad_method_named(const char *name, graze_broad_method *method) {
  if (name == NULL || method == NULL) return false;
  for (int m = 0; m < GRAZE_BROAD_METHODS; m++) {
    if (table[m] == NULL || strcmp(table[m]->info.name, name) != 0) continue;
    *method = (graze_broad_method)m;
    return true;
  }
  return false;
}
