/* visibility/bounds_end.h: undoes what bounds.h and bounds_lanes.h define for bounds.glsl. Read more than once. */
#undef STRUCT
#undef FUNCTION
#undef NUMBER
#undef REAL
#undef TRUTH
#undef UINT
#undef N
#undef SELECT
#undef AND
#undef OR
#undef BITS
#undef FROM_BITS
#undef TO_REAL
#undef TO_UINT
#undef ABS
#undef FLOOR
