/* Words of the record. */
#include "graze/report.h"

const char *graze_report_state_string(graze_report_state state) {
  static const char *const words[] = {"", "new", "active", "resolved"};
  return (unsigned)state < sizeof words / sizeof words[0] ? words[state] : "";
}
