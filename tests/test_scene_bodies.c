/* What a scene file says of bodies, particles and what they are made of; and that every fault names its place. */
#include <math.h>
#include <string.h>

#include "graze/io.h"
#include "support.h"

static graze_status parse(const char *text, graze_scene_file *scene) {
  return graze_parse_scene(shared_context(1), text, strlen(text), "folder/s.json", scene);
}

static void reads_everything(void **unused) {
  (void)unused;
  graze_scene_file s;
  const char *text =
      "{\"graze\":1, \"objects\":["
      "{\"name\":\"a\",\"shape\":{\"sphere\":0.5},\"pose\":[1,0,0,7,0,1,0,8,0,0,1,9],\"layer\":\"l\","
      "\"body\":{\"mass\":2,\"velocity\":[1,2,3],\"spin\":[4,5,6],\"material\":\"steel\"}},"
      "{\"name\":\"b\",\"shape\":{\"sphere\":3},\"draw\":\"gems/b.obj\"},"
      "{\"name\":\"c\",\"mesh\":\"c.obj\",\"body\":{\"type\":\"kinematic\",\"density\":10}}],"
      "\"simulation\":{\"model\":\"dem\",\"gravity\":[0.5,0,-1],\"integrator\":\"euler\",\"bounds\":[-1,-2,-3,1,2,3],"
      "\"periodic\":[1,0,1],"
      "\"materials\":{\"steel\":{\"k_n\":1,\"eta_n\":2,\"k_t\":3,\"eta_t\":4,\"friction\":5,\"rolling\":6,\"spinning\":"
      "7,"
      "\"surface_speed\":[8,9,10],\"ends\":\"force\",\"tangential\":\"full\"},"
      "\"air\":{\"law\":\"hertz\",\"young\":1,\"poisson\":2,\"restitution\":3,\"gamma_n\":4,\"gamma_t\":5}},"
      "\"pairs\":[[\"air\",\"steel\",{\"k_n\":77}]],"
      "\"walls\":[{\"point\":[1,2,3],\"normal\":[4,5,6],\"material\":\"air\"},{\"point\":[0,0,0],\"normal\":[0,0,1]}]},"
      "\"particles\":[{\"name\":\"p\",\"file\":\"p.csv\",\"radius\":0.25,\"mass\":4,\"material\":\"air\","
      "\"layer\":\"k\",\"drag\":[1,2],\"draw\":\"/p.obj\","
      "\"blast\":{\"center\":[1,2,3],\"speed\":[4,5],\"spin\":6}},{\"name\":\"q\",\"file\":\"/q.gzp\",\"density\":5}]}";
  assert_int_equal(parse(text, &s), GRAZE_OK);
  const graze_scene_file_object *o = s.objects;
  assert_int_equal(s.object_count, 3);
  assert_true(o[0].shape == GRAZE_SHAPE_SPHERE && o[0].radius == 0.5 && o[0].pose.m[11] == 9 && o[0].mesh[0] == 0);
  assert_true(o[0].body.type == GRAZE_BODY_DYNAMIC && o[0].body.mass == 2 && isnan(o[0].body.density));
  assert_true(o[0].body.velocity[2] == 3 && o[0].body.spin[0] == 4);
  assert_string_equal(o[0].draw, "");
  assert_string_equal(o[1].draw, "folder/gems/b.obj");
  assert_true(o[1].body.type == GRAZE_BODY_STATIC && o[1].body.material == GRAZE_NO_MATERIAL);
  assert_true(o[2].shape == GRAZE_SHAPE_MESH && o[2].body.type == GRAZE_BODY_KINEMATIC && o[2].body.density == 10);
  assert_string_equal(o[2].mesh, "folder/c.obj");
  const graze_scene_file_simulation *sim = &s.simulation;
  assert_true(sim->given && sim->gravity[0] == 0.5 && sim->integrator == GRAZE_EULER);
  assert_true(sim->bounds.min[1] == -2 && sim->bounds.max[2] == 3);
  assert_true(sim->periodic[0] && !sim->periodic[1] && sim->periodic[2]);
  assert_int_equal(sim->material_count, 2);
  uint32_t steel = o[0].body.material, air = 1 - steel;
  const graze_material *m = &sim->materials[steel].material;
  assert_string_equal(sim->materials[steel].name, "steel");
  assert_true(m->law == GRAZE_HOOKE && m->k_n == 1 && m->eta_n == 2 && m->k_t == 3 && m->eta_t == 4 &&
              m->friction == 5);
  assert_true(m->rolling == 6 && m->spinning == 7 && m->surface_speed[2] == 10 && m->ends == GRAZE_END_FORCE);
  assert_true(m->tangential == GRAZE_TANGENTIAL_FULL && isnan(m->restitution) && isnan(m->gamma_t));
  m = &sim->materials[air].material;
  assert_true(m->law == GRAZE_HERTZ && m->young == 1 && m->poisson == 2 && m->restitution == 3 && m->gamma_n == 4);
  assert_true(m->gamma_t == 5 && m->ends == GRAZE_END_OVERLAP && m->tangential == GRAZE_TANGENTIAL_NONE);
  assert_true(sim->pair_count == 1 && sim->pairs[0].first == air && sim->pairs[0].second == steel);
  assert_true(sim->pairs[0].material.k_n == 77);
  assert_true(sim->wall_count == 2 && sim->walls[0].normal[1] == 5 && sim->walls[0].material == air);
  assert_int_equal(sim->walls[1].material, GRAZE_NO_MATERIAL);
  assert_int_equal(s.particle_set_count, 2);
  const graze_scene_file_particles *p = s.particles;
  assert_string_equal(p[0].file, "folder/p.csv");
  assert_string_equal(p[1].file, "/q.gzp");
  assert_true(p[0].radius == 0.25 && p[0].mass == 4 && isnan(p[0].density) && p[0].material == air &&
              p[0].drag[1] == 2);
  assert_true(p[0].blast.given && p[0].blast.center[2] == 3 && p[0].blast.speed[1] == 5 && p[0].blast.spin == 6);
  assert_false(p[1].blast.given);
  assert_string_equal(p[0].draw, "/p.obj");
  assert_string_equal(p[1].draw, "");
  assert_true(isnan(p[1].radius) && p[1].density == 5 && p[1].drag[0] == 0 && p[1].layer[0] == 0);
  graze_scene_file_free(&s);
}

static void defaults(void **unused) {
  (void)unused;
  graze_scene_file s;
  assert_int_equal(parse("{\"graze\":1,\"objects\":[],\"simulation\":{\"model\":\"dem\"}}", &s), GRAZE_OK);
  assert_true(s.simulation.gravity[2] == -9.81 && s.simulation.integrator == GRAZE_LEAPFROG);
  assert_true(graze_box_is_empty(&s.simulation.bounds) && !s.simulation.periodic[0]);
  graze_scene_file_free(&s);
  assert_int_equal(parse("{\"graze\":1,\"particles\":[]}", &s), GRAZE_OK);
  assert_false(s.simulation.given);
  graze_scene_file_free(&s);
}

static void compounds(void **unused) {
  (void)unused;
  graze_scene_file s;
  assert_int_equal(parse("{\"graze\":1,\"objects\":[{\"name\":\"a\",\"shape\":{\"compound\":[{\"capsule\":[1,2],"
                         "\"pose\":[1,0,0,5,0,1,0,6,0,0,1,7]},{\"hull\":\"h.obj\",\"density\":3}]}}]}",
                         &s),
                   GRAZE_OK);
  const graze_scene_file_object *o = &s.objects[0];
  assert_true(o->shape == GRAZE_SHAPE_COMPOUND && o->part_count == 2);
  assert_string_equal(o->mesh, "");
  assert_true(o->parts[0].shape == GRAZE_SHAPE_CAPSULE && o->parts[0].radius == 1 && o->parts[0].length == 2);
  assert_true(o->parts[0].pose.m[3] == 5 && o->parts[0].pose.m[11] == 7 && isnan(o->parts[0].density));
  assert_true(o->parts[1].shape == GRAZE_SHAPE_HULL && o->parts[1].pose.m[0] == 1 && o->parts[1].density == 3);
  assert_string_equal(o->parts[1].mesh, "folder/h.obj");
  assert_string_equal(graze_shape_name(o->shape), "compound");
  graze_scene_file_free(&s);
}

#define SCENE(rest)      "{\"graze\":1,\"objects\":[]," rest "}"
#define SIMULATION(rest) SCENE("\"simulation\":{\"model\":\"dem\"," rest "}")
#define OBJECT(rest)     "{\"graze\":1,\"objects\":[{\"name\":\"a\"," rest "}]}"
#define BODY(rest)       OBJECT("\"shape\":{\"sphere\":1},\"body\":{" rest "}")
#define PARTICLES(rest)  SCENE("\"particles\":[{\"name\":\"p\",\"file\":\"f\"" rest "}]")
#define MATERIAL(rest)   SIMULATION("\"materials\":{\"glass\":{" rest "}}")
#define WITH_GLASS(rest) SIMULATION("\"materials\":{\"glass\":{\"k_n\":1}}," rest)

static void faults(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    graze_status status;
    const char *message; /* behind "folder/s.json: " */
  } cases[] = {
      {SCENE("\"simulation\":3"), GRAZE_ERROR_FORMAT, "\"simulation\" is not an object"},
      {SCENE("\"simulation\":{}"), GRAZE_ERROR_FORMAT, "simulation: \"model\" is missing"},
      {SCENE("\"simulation\":{\"model\":\"ridig\"}"), GRAZE_ERROR_FORMAT,
       "simulation: \"model\" is \"ridig\", none of \"dem\", \"rigid\""},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"integrator\":\"euler\"}"), GRAZE_ERROR_FORMAT,
       "simulation: unknown key \"integrator\""},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"joints\":[{\"type\":\"ball\",\"a\":\"x\",\"point\":[0,0,0]}]}"),
       GRAZE_ERROR_FORMAT, "simulation.joints[0]: no object has the name \"x\""},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"joints\":[{\"type\":\"glue\",\"point\":[0,0,0]}]}"),
       GRAZE_ERROR_FORMAT,
       "simulation.joints[0]: \"type\" is \"glue\", none of \"ball\", \"hinge\", \"slider\", \"fixed\", \"distance\""},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"joints\":[{\"type\":\"ball\",\"a\":3,\"point\":[0,0,0]}]}"),
       GRAZE_ERROR_FORMAT, "simulation.joints[0]: \"a\" is not the name of an object"},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"joints\":[{\"type\":\"ball\"}]}"), GRAZE_ERROR_FORMAT,
       "simulation.joints[0]: \"point\" is missing"},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"joints\":[{\"type\":\"ball\",\"knot\":1}]}"), GRAZE_ERROR_FORMAT,
       "simulation.joints[0]: unknown key \"knot\""},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"substeps\":0}"), GRAZE_ERROR_FORMAT,
       "simulation: \"substeps\" is not a whole number from 1 to 1000"},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"substeps\":1.5}"), GRAZE_ERROR_FORMAT,
       "simulation: \"substeps\" is not a whole number from 1 to 1000"},
      {SCENE("\"simulation\":{\"model\":\"rigid\",\"materials\":{\"m\":{\"k_n\":1}}}"), GRAZE_ERROR_FORMAT,
       "simulation.materials (\"m\"): unknown key \"k_n\""},
      {OBJECT("\"shape\":{\"capsule\":[1]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"capsule\" is not an array of 2 numbers"},
      {BODY("\"inertia\":[1,1,1]"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").body: \"inertia\" is not an array of 6 numbers"},
      {SIMULATION("\"gravitiy\":[0,0,0]"), GRAZE_ERROR_FORMAT,
       "simulation: unknown key \"gravitiy\"; did you mean \"gravity\"?"},
      {SIMULATION("\"substeps\":4"), GRAZE_ERROR_UNSUPPORTED, "simulation: \"substeps\" cannot be simulated yet"},
      {SIMULATION("\"joints\":[]"), GRAZE_ERROR_UNSUPPORTED, "simulation: \"joints\" cannot be simulated yet"},
      {SIMULATION("\"gravity\":9.81"), GRAZE_ERROR_FORMAT, "simulation: \"gravity\" is not an array of 3 numbers"},
      {SIMULATION("\"gravity\":[0,0,\"1\"]"), GRAZE_ERROR_FORMAT, "simulation: \"gravity\"[2] is not a number"},
      {SIMULATION("\"integrator\":\"rk4\""), GRAZE_ERROR_FORMAT,
       "simulation: \"integrator\" is \"rk4\", none of \"leapfrog\", \"euler\""},
      {SIMULATION("\"bounds\":[0,0,0,1,1,-1]"), GRAZE_ERROR_FORMAT,
       "simulation: \"bounds\" is empty: min x, y, z and max x, y, z are wanted"},
      {SIMULATION("\"periodic\":[0,2,0]"), GRAZE_ERROR_FORMAT, "simulation: \"periodic\"[1] is neither 0 nor 1"},
      {SIMULATION("\"materials\":[]"), GRAZE_ERROR_FORMAT, "simulation.materials: not an object"},
      {SIMULATION("\"materials\":{\"glass\":1}"), GRAZE_ERROR_FORMAT,
       "simulation.materials (\"glass\"): not an object"},
      {SIMULATION("\"materials\":{\"\":{}}"), GRAZE_ERROR_FORMAT, "simulation.materials: a name is empty"},
      {MATERIAL("\"kn\":1"), GRAZE_ERROR_FORMAT,
       "simulation.materials (\"glass\"): unknown key \"kn\"; did you mean \"k_n\""},
      {MATERIAL("\"friction\":\"1\""), GRAZE_ERROR_FORMAT,
       "simulation.materials (\"glass\"): \"friction\" is not a number"},
      {MATERIAL("\"law\":1"), GRAZE_ERROR_FORMAT, "simulation.materials (\"glass\"): \"law\" is not a string"},
      {MATERIAL("\"tangential\":\"all\""), GRAZE_ERROR_FORMAT,
       "simulation.materials (\"glass\"): \"tangential\" is \"all\", none of \"none\", \"dashpot\", \"spring\", "
       "\"full\""},
      {WITH_GLASS("\"pairs\":{}"), GRAZE_ERROR_FORMAT, "simulation: \"pairs\" is not an array"},
      {WITH_GLASS("\"pairs\":[[\"glass\",\"glass\"]]"), GRAZE_ERROR_FORMAT,
       "simulation.pairs[0]: not the names of two materials and an object"},
      {WITH_GLASS("\"pairs\":[[\"glass\",\"glas\",{}]]"), GRAZE_ERROR_FORMAT,
       "simulation.pairs[0]: no material has the name \"glas\"; did you mean \"glass\"?"},
      {WITH_GLASS("\"pairs\":[[\"glass\",\"glass\",{\"stiff\":1}]]"), GRAZE_ERROR_FORMAT,
       "simulation.pairs[0]: unknown key \"stiff\""},
      {SIMULATION("\"materials\":{\"a\":{},\"b\":{}},\"pairs\":[[\"a\",\"b\",{}],[\"a\",\"a\",{}],[\"b\",\"a\",{}]]"),
       GRAZE_ERROR_FORMAT, "simulation.pairs[2]: the two materials are those of simulation.pairs[0] already"},
      {WITH_GLASS("\"walls\":[{\"point\":[0,0,0]}]"), GRAZE_ERROR_FORMAT, "simulation.walls[0]: \"normal\" is missing"},
      {WITH_GLASS("\"walls\":[{\"normal\":[0,0,1]}]"), GRAZE_ERROR_FORMAT, "simulation.walls[0]: \"point\" is missing"},
      {WITH_GLASS("\"walls\":[{\"point\":[0,0],\"normal\":[0,0,1]}]"), GRAZE_ERROR_FORMAT,
       "simulation.walls[0]: \"point\" is not an array of 3 numbers"},
      {WITH_GLASS("\"walls\":[{\"point\":[0,0,0],\"normal\":[0,0,1],\"material\":\"ice\"}]"), GRAZE_ERROR_FORMAT,
       "simulation.walls[0]: no material has the name \"ice\""},
      {WITH_GLASS("\"walls\":[0]"), GRAZE_ERROR_FORMAT, "simulation.walls[0]: not an object"},
      {OBJECT("\"shape\":{\"parts\":\"f\"}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"error\" is missing: by how much convex parts may stick out of the mesh"},
      {OBJECT("\"shape\":{\"error\":1}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"parts\", a mesh file, is missing"},
      {OBJECT("\"shape\":{\"parts\":1,\"error\":1}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"parts\" is not a string"},
      {OBJECT("\"shape\":{\"parts\":\"f\",\"error\":0}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"error\" is 0: it must be above 0"},
      {OBJECT("\"shape\":{\"parts\":\"f\",\"error\":\"1mm\"}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"error\" is not a number"},
      {OBJECT("\"shape\":{\"parts\":\"f\",\"error\":1,\"most_parts\":0}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"most_parts\" is 0: it must be a whole number from 1 to 65536"},
      {OBJECT("\"shape\":{\"parts\":\"f\",\"error\":1,\"most_parts\":2.5}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"most_parts\" is 2.5: it must be a whole number from 1 to 65536"},
      {OBJECT("\"shape\":{\"parts\":\"f\",\"eror\":1}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: unknown key \"eror\"; did you mean \"error\"?"},
      {OBJECT("\"shape\":{\"parts\":\"f\",\"error\":1,\"box\":[1,1,1]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: unknown key \"box\""},
      {OBJECT("\"shape\":{\"compound\":[{\"parts\":\"f\",\"error\":1}]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape.compound[0]: unknown key \"parts\""},
      {OBJECT("\"shape\":{\"compound\":1}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"compound\" is not an array"},
      {OBJECT("\"shape\":{\"compound\":[]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"compound\" has no parts"},
      {OBJECT("\"shape\":{\"compound\":[1]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape.compound[0]: not an object such as"},
      {OBJECT("\"shape\":{\"compound\":[{\"sphere\":1},{\"pose\":[1]}]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape.compound[1]: no shape"},
      {OBJECT("\"shape\":{\"compound\":[{\"sphere\":1,\"box\":[1,1,1]}]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape.compound[0]: several shapes"},
      {OBJECT("\"shape\":{\"compound\":[{\"sphere\":1,\"pos\":[1]}]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape.compound[0]: unknown key \"pos\"; did you mean \"pose\"?"},
      {OBJECT("\"shape\":{\"compound\":[{\"sphere\":1,\"pose\":[1]}]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape.compound[0]: \"pose\" is not an array of 12 numbers"},
      {OBJECT("\"shape\":{\"compound\":[{\"hull\":1}]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape.compound[0]: \"hull\" is not a string"},
      {OBJECT("\"shape\":{\"compound\":[{\"box\":[1,1,1],\"density\":\"x\"}]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape.compound[0]: \"density\" is not a number"},
      {OBJECT("\"shape\":{\"hull\":1}"), GRAZE_ERROR_FORMAT, "objects[0] (\"a\").shape: \"hull\" is not a string"},
      {OBJECT("\"shape\":{\"box\":[1,1]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"box\" is not an array of 3"},
      {OBJECT("\"shape\":{\"box\":[1,1,1],\"sphere\":1}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\"): \"shape\" has several"},
      {OBJECT("\"shape\":{\"ball\":1}"), GRAZE_ERROR_FORMAT, "objects[0] (\"a\").shape: unknown key \"ball\""},
      {OBJECT("\"shape\":{}"), GRAZE_ERROR_FORMAT, "objects[0] (\"a\"): \"shape\" is not an object such as"},
      {OBJECT("\"shape\":{\"sphere\":[1]}"), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").shape: \"sphere\" is not a number"},
      {OBJECT("\"shape\":{\"sphere\":1},\"mesh\":\"m\""), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\"): \"mesh\" and \"shape\": one of the two"},
      {BODY("\"sensor\":1"), GRAZE_ERROR_FORMAT, "objects[0] (\"a\").body: \"sensor\" is not true or false"},
      {BODY("\"mas\":1"), GRAZE_ERROR_FORMAT, "objects[0] (\"a\").body: unknown key \"mas\"; did you mean \"mass\"?"},
      {BODY("\"mass\":null"), GRAZE_ERROR_FORMAT, "objects[0] (\"a\").body: \"mass\" is not a number"},
      {BODY("\"type\":\"fixed\""), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").body: \"type\" is \"fixed\", none of \"dynamic\", \"static\", \"kinematic\""},
      {BODY("\"material\":\"glass\""), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\").body: no material has the name \"glass\""},
      {BODY("\"material\":1"), GRAZE_ERROR_FORMAT, "objects[0] (\"a\").body: \"material\" is not a string"},
      {OBJECT("\"mesh\":\"m\",\"body\":1"), GRAZE_ERROR_FORMAT, "objects[0] (\"a\"): \"body\" is not an object"},
      {SCENE("\"particles\":{}"), GRAZE_ERROR_FORMAT, "\"particles\" is not an array"},
      {SCENE("\"particles\":[1]"), GRAZE_ERROR_FORMAT, "particles[0]: not an object"},
      {SCENE("\"particles\":[{\"name\":\"p\"}]"), GRAZE_ERROR_FORMAT, "particles[0] (\"p\"): \"file\" is missing"},
      {SCENE("\"particles\":[{\"file\":\"p\"}]"), GRAZE_ERROR_FORMAT, "particles[0]: \"name\" is missing"},
      {PARTICLES(",\"draw\":1"), GRAZE_ERROR_FORMAT, "particles[0] (\"p\"): \"draw\" is not a string"},
      {OBJECT("\"shape\":{\"box\":[1,1,1]},\"draw\":\"m\""), GRAZE_ERROR_FORMAT,
       "objects[0] (\"a\"): \"draw\" is for balls: the object is no sphere"},
      {PARTICLES(",\"blast\":1"), GRAZE_ERROR_FORMAT, "particles[0] (\"p\"): \"blast\" is not an object"},
      {PARTICLES(",\"blast\":{\"center\":[0,0,0]}"), GRAZE_ERROR_FORMAT,
       "particles[0] (\"p\").blast: \"speed\" is missing"},
      {PARTICLES(",\"blast\":{\"center\":[0,0,0],\"speed\":[1]}"), GRAZE_ERROR_FORMAT,
       "particles[0] (\"p\").blast: \"speed\" is not an array of 2 numbers"},
      {PARTICLES(",\"blast\":{\"center\":[0,0,0],\"speed\":[1,2],\"spins\":1}"), GRAZE_ERROR_FORMAT,
       "particles[0] (\"p\").blast: unknown key \"spins\"; did you mean \"spin\"?"},
      {PARTICLES(",\"drag\":[1]"), GRAZE_ERROR_FORMAT, "particles[0] (\"p\"): \"drag\" is not an array of 2 numbers"},
      {PARTICLES("},{\"name\":\"p\",\"file\":\"g\""), GRAZE_ERROR_FORMAT,
       "particles[1]: the name \"p\" is particles[0]'s already"},
      {"{\"graze\":1,\"objects\":[{\"name\":\"p\",\"mesh\":\"m\"}],\"particles\":[{\"name\":\"p\",\"file\":\"g\"}]}",
       GRAZE_ERROR_FORMAT, "particles[0]: the name \"p\" is objects[0]'s already"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graze_scene_file scene;
    graze_status status = parse(cases[i].text, &scene);
    const char *message = shared_error()->message, *prefix = "folder/s.json: ";
    bool named = strncmp(message, prefix, strlen(prefix)) == 0 &&
                 strncmp(message + strlen(prefix), cases[i].message, strlen(cases[i].message)) == 0;
    if (status != cases[i].status || !named) fail_msg("%d \"%s\" from %s", status, message, cases[i].text);
    assert_null(scene.objects);
    assert_null(scene.particles);
    assert_null(scene.simulation.materials);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_everything), cmocka_unit_test(defaults),
                                     cmocka_unit_test(compounds), cmocka_unit_test(faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
