/* XML VTK files: the head is text that says where the arrays begin in what follows, which is binary. Processors are
 * taken to be little-endian. */
#include "vtk.h"

#include <inttypes.h>

static vtk_array integers(const char *name, const int64_t *data, uint64_t count) {
  return (vtk_array){name, "Int64", 1, data, (size_t)count * sizeof *data};
}

static void name_array(output *out, const vtk_array *array, size_t *offset) {
  output_print(out,
               "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%zu\"/>\n",
               array->type, array->name, array->components, *offset);
  *offset += sizeof(uint64_t) + array->bytes;
}

static void name_cells(output *out, const char *kind, const vtk_array cells[2], size_t *offset) {
  output_print(out, "<%s>\n", kind);
  for (int i = 0; i < 2; i++) name_array(out, &cells[i], offset);
  output_print(out, "</%s>\n", kind);
}

static void put_array(output *out, const vtk_array *array) {
  const uint64_t bytes = array->bytes;
  gz_put_bytes(out, &bytes, sizeof bytes);
  gz_put_bytes(out, array->data, array->bytes);
}

static void put_head(output *out, const vtk_frame *f) {
  gz_put_text(out,
              "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
              "header_type=\"UInt64\">\n<PolyData>\n<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" "
              "NumberOfTuples=\"1\" format=\"ascii\">");
  gz_put_double(out, f->time);
  output_print(out,
               "</DataArray></FieldData>\n<Piece NumberOfPoints=\"%" PRIu64 "\" NumberOfVerts=\"%" PRIu64
               "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"%" PRIu64 "\">\n",
               f->point_count, f->vert_count, f->polygon_count);
}

void vtk_write(output *out, const vtk_frame *f) {
  const vtk_array points = {"position", "Float64", 3, f->points, 3 * (size_t)f->point_count * sizeof(double)};
  const vtk_array verts[2] = {integers("connectivity", f->numbers, f->vert_count),
                              integers("offsets", f->numbers + 1, f->vert_count)};
  const vtk_array polygons[2] = {integers("connectivity", f->corners, f->corner_count),
                                 integers("offsets", f->ends, f->polygon_count)};
  size_t offset = 0;
  put_head(out, f);
  gz_put_text(out, "<PointData Scalars=\"speed\" Vectors=\"velocity\">\n");
  for (int i = 0; i < f->array_count; i++) name_array(out, &f->arrays[i], &offset);
  gz_put_text(out, "</PointData>\n<Points>\n");
  name_array(out, &points, &offset);
  gz_put_text(out, "</Points>\n");
  name_cells(out, "Verts", verts, &offset);
  if (f->polygon_count > 0) name_cells(out, "Polys", polygons, &offset);
  gz_put_text(out, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
  for (int i = 0; i < f->array_count; i++) put_array(out, &f->arrays[i]);
  put_array(out, &points);
  for (int i = 0; i < 2; i++) put_array(out, &verts[i]);
  for (int i = 0; i < 2 && f->polygon_count > 0; i++) put_array(out, &polygons[i]);
  gz_put_text(out, "\n</AppendedData>\n</VTKFile>\n");
}
