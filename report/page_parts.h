/* page_parts.h: the page's fixed text, cut where html.c, film_page.c and track_page.c fill in: head TITLE body DATA
 * tail. The bytes come from page/ through embed.cmake. Private to report. */
#ifndef GRAZE_REPORT_PAGE_PARTS_H
#define GRAZE_REPORT_PAGE_PARTS_H

#include <stddef.h>

extern const unsigned char gz_page_part_head[], gz_page_part_body[], gz_page_part_tail[];
extern const size_t gz_page_part_head_size, gz_page_part_body_size, gz_page_part_tail_size;

/* Those of the film. */
extern const unsigned char gz_film_part_head[], gz_film_part_body[], gz_film_part_tail[];
extern const size_t gz_film_part_head_size, gz_film_part_body_size, gz_film_part_tail_size;

/* Those of a film of balls. */
extern const unsigned char gz_balls_part_head[], gz_balls_part_body[], gz_balls_part_tail[];
extern const size_t gz_balls_part_head_size, gz_balls_part_body_size, gz_balls_part_tail_size;

#endif
