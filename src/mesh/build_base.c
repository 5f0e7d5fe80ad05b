/* Building for any processor. */
#define BUILD_NAME build_tree_base
#include "mesh/build_lanes.inc"
