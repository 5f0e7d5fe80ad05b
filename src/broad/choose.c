/* AUTO: which method, and why. */
#include "broad/choose.h"

graze_broad_method choose_method(broad_choice *choice, const broad_view *view, uint32_t edits) {
  (void)view;
  (void)edits;
  choice->method = GRAZE_BROAD_BRUTE;
  choice->reason = "the only one";
  return choice->method;
}

void choose_learn(broad_choice *choice, uint32_t edits, uint32_t live, double seconds) {
  (void)choice;
  (void)edits;
  (void)live;
  (void)seconds;
}
