/* A whole clash check: reads a file (glTF, a scene, or OBJ with several objects), finds every pair of objects that
 * collides and writes a report into a folder: page, pictures, tables. usage: check FILE FOLDER */
#include <graze/check.h>
#include <stdio.h>

static void print(void *user, graze_log_level level, const char *message) {
  (void)user;
  fprintf(stderr, "check: %s%s\n", level == GRAZE_LOG_ERROR ? "error: " : "", message);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: check FILE FOLDER\n"), 2;
  graze_context *context = NULL;
  graze_context_def settings = graze_default_context_def();
  settings.log = print;
  graze_check *check = NULL;
  graze_check_def def = graze_default_check_def();
  def.files = (const char *const[]){argv[1]};
  def.file_count = 1;
  def.reading = GRAZE_READ_GROUPS;
  def.folder = argv[2];
  graze_status status = graze_context_create(&settings, &context);
  if (status == GRAZE_OK) status = graze_check_open(context, &def, &check);
  if (status == GRAZE_OK) status = graze_check_run(check);
  if (status == GRAZE_OK) status = graze_check_write_folder(check);
  uint32_t found = check ? graze_check_get_counts(check).open_clashes : 0;
  if (status == GRAZE_OK) printf("%u clashes, see %s/index.html\n", found, argv[2]);
  graze_check_destroy(check);
  graze_context_destroy(context);
  return status != GRAZE_OK ? 3 : found > 0;
}
