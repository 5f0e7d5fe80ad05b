/* readers.h: what every reader gets and gives; private to io. */
#ifndef GRAZE_IO_READERS_H
#define GRAZE_IO_READERS_H

#include "base/owned.h"
#include "fault.h"

/* Vertices and triangles are numbered with 32 bits, and the last two numbers are kept back. */
#define IO_MOST_ELEMENTS (UINT32_MAX - 1)

typedef struct io_input {
  const char *text; /* all bytes of the file, unless: */
  bool stored;      /* they stay in the file, a GLB, and are read from `descriptor` */
  int descriptor;
  size_t size;
  size_t parts;     /* to cut a text into for the threads that are there */
  const char *name; /* the path, or what stands for it */
  bool from_file;   /* the bytes are those of the file of that name */
  bool is_repeated; /* another process reads the same and gives the warnings */
} io_input;

/* Each fills `geometry`, which is empty at the start, or notes a fault and returns false: what `geometry` then holds
 * is freed by the caller. */
bool gz_io_read_obj(const io_input *input, graze_geometry *geometry, io_fault *fault);
bool gz_io_read_stl(const io_input *input, graze_geometry *geometry, io_fault *fault);
bool gz_io_read_ply(const io_input *input, graze_geometry *geometry, io_fault *fault);
bool gz_io_read_off(const io_input *input, graze_geometry *geometry, io_fault *fault);

/* The format by content, then by the ending of `name`; GRAZE_FORMAT_AUTO when neither tells. */
graze_file_format gz_io_detect_format(const char *text, size_t size, const char *name);

/* The same of a file of which only the first bytes are here, `held` of `size`; AUTO, too, when these do not tell. */
graze_file_format gz_io_detect_head(const char *head, size_t held, uint64_t size, const char *name);

/* In letters of any size; `ending` is in small ones. */
bool gz_io_has_ending(const char *name, const char *ending);

/* True when the bytes are a binary STL file of exactly the size that its count asks for. */
bool gz_io_is_whole_binary_stl(const char *text, size_t size);

/* The same of a file of which only the first bytes are here, `held` of `size`. */
bool gz_io_heads_binary_stl(const char *head, size_t held, uint64_t size);

/* Facets of a binary STL file, which follow a header. */
enum { IO_STL_HEADER = 84, IO_STL_FACET = 50 };

/* Nine coordinates of each; returns the first facet with one that is not finite, or UINT64_MAX. */
uint64_t gz_stl_take_facets(const unsigned char *facets, uint64_t count, double *vertices);
bool gz_stl_fail_facet(const double *corners, uint64_t facet, io_fault *fault);

/* Whether so many can be numbered; `what`: "vertices". */
bool gz_io_check_elements(uint64_t count, const char *what, io_fault *fault);

/* Make room for that many, unfilled. */
bool gz_io_geometry_set_vertices(graze_geometry *geometry, uint64_t count, io_fault *fault);
bool gz_io_geometry_set_triangles(graze_geometry *geometry, uint64_t count, io_fault *fault);

/* A group while its file is being read. */
typedef struct io_name {
  const char *text; /* in the file */
  size_t length;
  uint64_t first_triangle;
  bool label; /* OBJ's `g` */
} io_name;

/* Puts the names of a part behind those of the parts before it, which have `triangles` triangles. False: no memory. */
bool gz_io_append_names(const graze_context *context, gz_array *names, const gz_array *part, uint64_t triangles);

/* Makes the groups: each runs to the next one or to the last triangle. */
bool gz_io_geometry_set_groups(graze_geometry *geometry, const io_name *names, size_t count, io_fault *fault);

/* Triangles 0, 1, 2 / 3, 4, 5 / ... */
void gz_io_geometry_number_soup(const graze_context *context, graze_geometry *geometry);

#endif
