/* The list of verbs: for the program and for what describes it. */
#include "verbs.h"

#include <stddef.h>
#include <string.h>

const verb verbs[] = {
    {"check", "which objects of a scene, an assembly or several files collide", &check_argp, NULL, command_check},
    {"watch", "which objects begin and cease to meet as they move, step by step", &watch_argp, NULL, command_watch},
    {"simulate", "move bodies and particles that bump into each other", &simulate_argp, "nothing was simulated",
     command_simulate},
    {"distance", "how far objects are from each other", &distance_argp, "no distance was found", command_distance},
    {"depth", "how far objects have to be moved out of each other", &depth_argp, "no depth was found", command_depth},
    {"decompose", "convex parts of solids, with a proved error", &decompose_argp, "not everything was decomposed",
     command_decompose},
    {"self", "where a mesh intersects itself", &self_argp, NULL, command_self},
    {"info", "facts about meshes: counts, holes, orientation, box", &info_argp, NULL, command_info},
    {"tritri", "test pairs of triangles given as text", &tritri_argp, NULL, command_tritri},
    {"ccd", "when moving vertices, faces and edges given as text first meet", &ccd_argp, NULL, command_ccd},
    {"convex", "distances and depths of convex sets given as text, and hulls of points", &convex_argp, NULL,
     command_convex},
    {"motion", "which features of a mesh meet from one frame to the next, and what particles hit", &motion_argp, NULL,
     command_motion},
    {"rays", "which triangles of a scene rays or segments meet", &rays_argp, NULL, command_rays},
    {"pairs", "which of many boxes meet, by any broad phase", &pairs_argp, NULL, command_pairs},
    {"cull", "which surfaces may meet, found by drawing them", &cull_argp, NULL, command_cull},
    {"make", "generate a model from a seed", &make_argp, "the model is not complete", command_make},
    {"devices", "devices that can take over work", &devices_argp, NULL, command_devices},
    {0}};

const char verbs_summary[] = "Finds every collision, exactly.";
const char verbs_exit[] =
    "0 everything was checked, nothing found; 1 everything was checked, something\n"
    "found; 2 usage error; 3 bad input, or not everything could be checked.\n";

const verb *verb_find(const char *name) {
  for (const verb *v = verbs; v->name; v++) {
    if (strcmp(v->name, name) == 0) return v;
  }
  return NULL;
}
