/* page_parts.h: the page's fixed text, cut where html.c and film_page.c fill in: head TITLE body DATA tail. The bytes
 * come from page/ through embed.cmake. Private to report. */
#ifndef GRAZE_REPORT_PAGE_PARTS_H
#define GRAZE_REPORT_PAGE_PARTS_H

#include <stddef.h>

extern const unsigned char page_part_head[], page_part_body[], page_part_tail[];
extern const size_t page_part_head_size, page_part_body_size, page_part_tail_size;

/* Those of the film. */
extern const unsigned char film_part_head[], film_part_body[], film_part_tail[];
extern const size_t film_part_head_size, film_part_body_size, film_part_tail_size;

#endif
