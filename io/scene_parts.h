/* scene_parts.h: the parts of a scene file that are for simulations; private to io. */
#ifndef GRAZE_IO_SCENE_PARTS_H
#define GRAZE_IO_SCENE_PARTS_H

#include "scene_value.h"

/* "simulation". `materials`, empty at the start, gets the names. */
bool gz_scene_read_simulation(json_t *value, graze_scene_file_simulation *simulation, scene_names *materials,
                              io_fault *fault);
/* "joints" of it, once the objects that they name are known. */
bool gz_scene_read_joints(const json_t *array, const scene_names *objects, graze_scene_file_simulation *simulation,
                          io_fault *fault);
void gz_scene_free_simulation(graze_scene_file_simulation *simulation);

/* The number of the material that object[key] names; without the key, GRAZE_NO_MATERIAL. */
bool gz_scene_read_material(const json_t *object, const char *place, const scene_names *materials, uint32_t *number,
                            io_fault *fault);

/* "shape" of an object, and its "body". */
bool gz_scene_read_shape(json_t *value, const char *place, const char *scene_path, graze_scene_file_object *object,
                         io_fault *fault);
void gz_scene_free_parts(graze_scene_file_object *object);
bool gz_scene_read_body(json_t *value, const char *place, const scene_names *materials, graze_scene_file_body *body,
                        io_fault *fault);

/* "draw", the path of a mesh: "" without it. */
bool gz_scene_read_draw(const json_t *object, const char *place, const char *scene_path, char **path, io_fault *fault);

/* "particles". `objects`: the names that are taken. */
bool gz_scene_read_particles(const json_t *array, const char *scene_path, const scene_names *materials,
                             const scene_names *objects, graze_scene_file *scene, io_fault *fault);

#endif
