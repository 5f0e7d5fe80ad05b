/* Files that all ranks read; see files.h. */
#include "mpi/files.h"

#include <stdio.h>
#include <string.h>

#include "base/file_print.h"

void files_compare(const job *j, const char *path) {
  char words[400];
  const file_print mine = gz_file_print_of(path);
  file_print first = mine;
  int opened = mine.error == 0, anywhere = 0;
  MPI_Allreduce(&opened, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  snprintf(words, sizeof words, "%s: cannot open: %s", path, strerror((int)mine.error));
  job_agree(j, anywhere && !opened ? words : NULL, true);
  MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
  snprintf(words, sizeof words, "%s: is another file than that of rank 0", path);
  job_agree(j, memcmp(&first, &mine, sizeof first) != 0 && opened ? words : NULL, true);
}

bool job_all(bool mine) {
  int is = mine, result = 0;
  MPI_Allreduce(&is, &result, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return result != 0;
}
