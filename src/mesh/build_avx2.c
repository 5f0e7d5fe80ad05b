/* Building for processors with AVX2. */
#define BUILD_NAME gz_build_tree_avx2
#include "mesh/build_lanes.inc"
