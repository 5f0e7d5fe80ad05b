/* page_curve.h: intersection curves for the page. Private to report. */
#ifndef GRAZE_REPORT_PAGE_CURVE_H
#define GRAZE_REPORT_PAGE_CURVE_H

#include "base/json.h"
#include "graze/report.h"

/* Writes the clash's curve as the JSON object "curve": box, starts of the polylines, and the points as base64 of 16-bit
 * coordinates in that box, little-endian. Points that lie within 1/8192 of the curve's size of their neighbours' line
 * are left out: on a screen nobody sees them. Nothing is written when there is no curve. */
void gz_page_put_curve(gz_json *json, const graze_report_clash *clash);

#endif
