/* A reduction for SimGrid's SMPI, which lets graze-mpi run there otherwise as it is: MPI_Iallreduce of one's own
 * operation by messages, up a binomial tree and down again. That of SimGrid 3.32 does not call operations of one's own
 * on derived types. Every rank has these variables for itself, as SMPI gives each a copy of the program's memory; one
 * reduction is under way at a time, as in the transport of src/mpi. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 30000, CHILDREN = 32 };

static struct {
  MPI_User_function *add;
  MPI_Comm comm;
  MPI_Datatype type;
  char *into, *arrived;
  int size, rank, parent, children[CHILDREN], child_count, stage;
  MPI_Request requests[CHILDREN];
  int request_count;
} at;

#undef MPI_Op_create
#undef MPI_Iallreduce
#undef MPI_Test

int MPI_Op_create(MPI_User_function *function, int commute, MPI_Op *op) {
  at.add = function;
  return PMPI_Op_create(function, commute, op);
}

static void family(int rank, int ranks) {
  at.child_count = 0;
  at.parent = -1;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if (rank & bit) {
      at.parent = rank - bit;
      break;
    }
    if (rank + bit < ranks) at.children[at.child_count++] = rank + bit;
  }
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
  int ranks;
  MPI_Aint low, extent;
  (void)op;
  PMPI_Comm_size(comm, &ranks);
  PMPI_Comm_rank(comm, &at.rank);
  PMPI_Type_get_extent(type, &low, &extent);
  at.comm = comm;
  at.type = type;
  at.size = (int)extent * count;
  at.into = recvbuf;
  memcpy(recvbuf, sendbuf, at.size);
  family(at.rank, ranks);
  at.arrived = realloc(at.arrived, (size_t)at.size * CHILDREN);
  for (int i = 0; i < at.child_count; i++)
    PMPI_Irecv(at.arrived + (size_t)i * at.size, at.size, MPI_BYTE, at.children[i], TAG, comm, &at.requests[i]);
  at.request_count = at.child_count;
  at.stage = 1;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

static void add_all(void) {
  int one = 1;
  for (int i = 0; i < at.child_count; i++) at.add(at.arrived + (size_t)i * at.size, at.into, &one, &at.type);
}

static void send_down(void) {
  for (int i = 0; i < at.child_count; i++)
    PMPI_Isend(at.into, at.size, MPI_BYTE, at.children[i], TAG + 1, at.comm, &at.requests[i]);
  at.request_count = at.child_count;
  at.stage = 4;
}

/* The next stage, when the messages of this one are through. */
static void go_on(void) {
  if (at.stage == 1) add_all();
  if (at.stage == 1 && at.parent >= 0) {
    PMPI_Isend(at.into, at.size, MPI_BYTE, at.parent, TAG, at.comm, &at.requests[0]);
    at.request_count = 1;
    at.stage = 2;
  } else if (at.stage == 2) {
    PMPI_Irecv(at.into, at.size, MPI_BYTE, at.parent, TAG + 1, at.comm, &at.requests[0]);
    at.request_count = 1;
    at.stage = 3;
  } else if (at.stage == 1 || at.stage == 3) {
    send_down();
  } else {
    at.stage = 0;
  }
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  if (at.stage == 0) return PMPI_Test(request, flag, status);
  int through = 1;
  if (at.request_count > 0) PMPI_Testall(at.request_count, at.requests, &through, MPI_STATUSES_IGNORE);
  if (through) go_on();
  *flag = at.stage == 0;
  return MPI_SUCCESS;
}
