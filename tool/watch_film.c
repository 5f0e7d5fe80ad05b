#include "watch.h"
void watch_write_film(const watch_options *watch, const session *run, const model *all, const rules *selection,
                      const graze_motion *motion, const watch_log *log) {
  (void)watch, (void)run, (void)all, (void)selection, (void)motion, (void)log;
}
