/* Building for any processor. */
#define BUILD_NAME gz_build_tree_base
#include "mesh/build_lanes.inc"
