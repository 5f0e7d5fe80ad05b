/* page_parts.h: the page's fixed text, cut where html.c fills in: head TITLE body DATA tail. The bytes come from page/
 * through embed.cmake. Private to report. */
#ifndef GRAZE_REPORT_PAGE_PARTS_H
#define GRAZE_REPORT_PAGE_PARTS_H

#include <stddef.h>

extern const unsigned char page_part_head[], page_part_body[], page_part_tail[];
extern const size_t page_part_head_size, page_part_body_size, page_part_tail_size;

#endif
