/* info_bounds.h: `graze info --bounds`. */
#ifndef TOOL_INFO_BOUNDS_H
#define TOOL_INFO_BOUNDS_H

#include "base/json.h"
#include "graze/bounds.h"
#include "output.h"

void info_write_json_bounds(gz_json *writer, const graze_bounds *bounds);
void info_write_text_bounds(output *out, const graze_bounds *bounds);

#endif
