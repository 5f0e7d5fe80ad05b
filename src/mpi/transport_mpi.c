/* The transport over MPI. Messages are sent in synchronous mode and found by probing; errors are returned, never fatal.
 *
 * The communicator is duplicated again after many rounds: the duplicate is begun in one
 * round without waiting, and all ranks change over in the next one, when all must have begun it. */
#include "mpi/transport_mpi.h"

#include "base/context.h"
#include "base/memory.h"
#include "base/owned.h"

typedef struct over_mpi {
  mpi_transport transport;     /* first */
  MPI_Comm comm, next, parent; /* the last one serves duplication alone: Open MPI's
                                    mixes with other collectives on the way */
  MPI_Request renewal, collective;
  MPI_Op totals_op;
  MPI_Datatype totals_type;
  gz_array requests; /* MPI_Request: of what is being sent */
  uint32_t rounds, renew_after;
  mpi_totals totals; /* those that go in */
} over_mpi;

static over_mpi *over(mpi_transport *t) {
  return (over_mpi *)(void *)t;
}

static graze_status check(const mpi_transport *t, int code, const char *call) {
  if (code == MPI_SUCCESS) return GRAZE_OK;
  char text[MPI_MAX_ERROR_STRING + 1] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return gz_fail(t->context, GRAZE_ERROR_RANK, "rank %u: %s: %s", t->rank, call, text);
}

/* ---- rounds and their communicator ---- */

static graze_status renew(over_mpi *m) {
  int code = MPI_Wait(&m->renewal, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) code = MPI_Comm_free(&m->comm);
  if (code != MPI_SUCCESS) return check(&m->transport, code, "MPI_Comm_idup");
  m->comm = m->next;
  m->next = MPI_COMM_NULL;
  m->rounds = 0;
  return check(&m->transport, MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

static graze_status over_round(mpi_transport *t) {
  over_mpi *m = over(t);
  m->rounds++;
  if (m->rounds == m->renew_after) {
    return check(t, MPI_Comm_idup(m->parent, &m->next, &m->renewal), "MPI_Comm_idup");
  }
  return m->rounds > m->renew_after ? renew(m) : GRAZE_OK;
}

/* ---- messages ---- */

static graze_status over_send(mpi_transport *t, uint32_t to, uint32_t channel, const void *bytes, size_t size) {
  over_mpi *m = over(t);
  if (!array_reserve(t->context, &m->requests, 1, sizeof(MPI_Request)))
    return gz_fail(t->context, GRAZE_ERROR_RANK, "rank %u: out of memory: a request was refused", t->rank);
  MPI_Request *request = (MPI_Request *)m->requests.data + m->requests.count;
  int code = MPI_Issend(bytes, (int)size, MPI_BYTE, (int)to, (int)channel, m->comm, request);
  if (code == MPI_SUCCESS) m->requests.count++;
  return check(t, code, "MPI_Issend");
}

static graze_status over_sent(mpi_transport *t, bool *done) {
  over_mpi *m = over(t);
  int all = 0;
  int code = MPI_Testall((int)m->requests.count, m->requests.data, &all, MPI_STATUSES_IGNORE);
  *done = all != 0;
  if (all) m->requests.count = 0;
  return check(t, code, "MPI_Testall");
}

static graze_status over_probe(mpi_transport *t, uint32_t channel, mpi_arrival *arrival) {
  over_mpi *m = over(t);
  MPI_Status status;
  int flag = 0, size = 0;
  *arrival = (mpi_arrival){0};
  int code = MPI_Iprobe(MPI_ANY_SOURCE, (int)channel, m->comm, &flag, &status);
  if (code == MPI_SUCCESS && flag) code = MPI_Get_count(&status, MPI_BYTE, &size);
  if (code == MPI_SUCCESS && flag)
    *arrival = (mpi_arrival){true, (uint32_t)status.MPI_SOURCE, channel, (size_t)size, NULL};
  return check(t, code, "MPI_Iprobe");
}

static graze_status receive(over_mpi *m, const mpi_arrival *arrival, void *bytes) {
  int code = MPI_Recv(bytes, (int)arrival->size, MPI_BYTE, (int)arrival->from, (int)arrival->channel, m->comm,
                      MPI_STATUS_IGNORE);
  return check(&m->transport, code, "MPI_Recv");
}

/* A message that nobody has room for must be received all the same, or its sender waits for ever; and whole, as Open
 * MPI 4.1 crashes where a receive is too short. So it goes into memory of the system's for a moment. */
static graze_status throw_away(over_mpi *m, const mpi_arrival *arrival) {
  const graze_allocator system = gz_system_allocator();
  void *bytes = system.alloc(system.user, arrival->size + 1, MEMORY_ALIGNMENT);
  if (bytes == NULL) return check(&m->transport, MPI_ERR_NO_MEM, "MPI_Recv");
  graze_status status = receive(m, arrival, bytes);
  system.release(system.user, bytes, arrival->size + 1);
  return status;
}

static graze_status over_receive(mpi_transport *t, mpi_arrival *arrival, void *bytes) {
  return bytes != NULL ? receive(over(t), arrival, bytes) : throw_away(over(t), arrival);
}

/* ---- collectives ---- */

static graze_status over_barrier(mpi_transport *t) {
  return check(t, MPI_Ibarrier(over(t)->comm, &over(t)->collective), "MPI_Ibarrier");
}

static graze_status over_gather(mpi_transport *t, const void *mine, size_t size, void *all) {
  over_mpi *m = over(t);
  int code = MPI_Iallgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, m->comm, &m->collective);
  return check(t, code, "MPI_Iallgather");
}

static graze_status over_collect(mpi_transport *t, uint32_t to, const void *mine, size_t size, void *all) {
  over_mpi *m = over(t);
  int code = MPI_Igather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, (int)to, m->comm, &m->collective);
  return check(t, code, "MPI_Igather");
}

static graze_status over_reduce(mpi_transport *t, mpi_totals *totals) {
  over_mpi *m = over(t);
  m->totals = *totals;
  int code = MPI_Iallreduce(&m->totals, totals, 1, m->totals_type, m->totals_op, m->comm, &m->collective);
  return check(t, code, "MPI_Iallreduce");
}

static graze_status over_share(mpi_transport *t, uint32_t from, void *bytes, size_t size) {
  over_mpi *m = over(t);
  return check(t, MPI_Ibcast(bytes, (int)size, MPI_BYTE, (int)from, m->comm, &m->collective), "MPI_Ibcast");
}

static graze_status over_finished(mpi_transport *t, bool *done) {
  int flag = 0;
  int code = MPI_Test(&over(t)->collective, &flag, MPI_STATUS_IGNORE);
  *done = flag != 0;
  return check(t, code, "MPI_Test");
}

/* ---- opening and closing ---- */

static void over_close(mpi_transport *t) {
  over_mpi *m = over(t);
  if (m->next != MPI_COMM_NULL && MPI_Wait(&m->renewal, MPI_STATUS_IGNORE) == MPI_SUCCESS) MPI_Comm_free(&m->next);
  if (m->totals_op != MPI_OP_NULL) MPI_Op_free(&m->totals_op);
  if (m->totals_type != MPI_DATATYPE_NULL) MPI_Type_free(&m->totals_type);
  if (m->comm != MPI_COMM_NULL) MPI_Comm_free(&m->comm);
  if (m->parent != MPI_COMM_NULL) MPI_Comm_free(&m->parent);
  gz_free(m->requests.data);
  gz_free(m);
}

static void add_totals(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  const mpi_totals *more = in;
  mpi_totals *totals = inout;
  for (int i = 0; i < *length; i++) mpi_totals_add(&totals[i], &more[i]);
}

static graze_status open_all(over_mpi *m, MPI_Comm comm) {
  mpi_transport *t = &m->transport;
  int rank = 0, ranks = 1;
  int code = MPI_Comm_dup(comm, &m->comm);
  if (code == MPI_SUCCESS) code = MPI_Comm_dup(comm, &m->parent);
  if (code != MPI_SUCCESS) return check(t, code, "MPI_Comm_dup");
  MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(m->parent, MPI_ERRORS_RETURN);
  MPI_Comm_rank(m->comm, &rank);
  MPI_Comm_size(m->comm, &ranks);
  t->rank = (uint32_t)rank;
  t->ranks = (uint32_t)ranks;
  code = MPI_Type_contiguous(MPI_SUMS + MPI_MAXES, MPI_UINT64_T, &m->totals_type);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(&m->totals_type);
  if (code == MPI_SUCCESS) code = MPI_Op_create(add_totals, 1, &m->totals_op);
  return check(t, code, "MPI_Type_contiguous");
}

graze_status gz_mpi_transport_open(const graze_context *context, MPI_Comm comm, uint32_t renew_after,
                                   mpi_transport **transport) {
  static const mpi_transport_calls calls = {
      .round = over_round,
      .send = over_send,
      .sent = over_sent,
      .probe = over_probe,
      .receive = over_receive,
      .barrier = over_barrier,
      .gather = over_gather,
      .collect = over_collect,
      .reduce = over_reduce,
      .share = over_share,
      .finished = over_finished,
      .close = over_close,
  };
  over_mpi *m = gz_new_zeroed(context, 1, sizeof *m);
  int mine = m != NULL, all = 0; /* nobody goes on alone */
  int code = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
  if (code != MPI_SUCCESS || !all) {
    gz_free(m);
    if (code != MPI_SUCCESS) return gz_fail(context, GRAZE_ERROR_RANK, "MPI_Allreduce failed");
    return gz_fail(context, GRAZE_ERROR_MEMORY, "out of memory on %s", mine ? "another rank" : "this rank");
  }
  m->transport = (mpi_transport){.calls = &calls, .context = context};
  m->renew_after = renew_after;
  m->comm = m->next = m->parent = MPI_COMM_NULL;
  m->totals_op = MPI_OP_NULL;
  m->totals_type = MPI_DATATYPE_NULL;
  graze_status status = open_all(m, comm);
  if (status != GRAZE_OK) {
    over_close(&m->transport);
    return status;
  }
  *transport = &m->transport;
  return GRAZE_OK;
}
