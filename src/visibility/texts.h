/* texts.h: the texts of shaders, made from shaders/ by the build. */
#ifndef GRAZE_SRC_VISIBILITY_TEXTS_H
#define GRAZE_SRC_VISIBILITY_TEXTS_H

extern const char gz_visibility_text_bounds[], gz_visibility_text_entries[], gz_visibility_text_pixel[];
extern const char gz_visibility_text_put[], gz_visibility_text_test[], gz_visibility_text_behind[];
extern const char gz_visibility_text_small_comp[], gz_visibility_text_large_vert[], gz_visibility_text_large_frag[];
extern const char gz_visibility_text_centers_vert[], gz_visibility_text_centers_test_frag[],
    gz_visibility_text_nothing_frag[];

#endif
