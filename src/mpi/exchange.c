/* Rounds of messages by consensus; exchange.h says how. */
#include "mpi/exchange.h"

static graze_status send_in_pieces(mpi_exchange *x, const mpi_parcel *parcel, size_t longest) {
  for (size_t at = 0; at < parcel->size; at += longest) {
    size_t size = parcel->size - at < longest ? parcel->size - at : longest;
    graze_status status =
        x->transport->calls->send(x->transport, parcel->to, x->channel, (const char *)parcel->bytes + at, size);
    if (status != GRAZE_OK) return status;
    x->messages++;
    x->bytes += size;
  }
  return GRAZE_OK;
}

graze_status gz_mpi_exchange_begin(mpi_exchange *x, mpi_transport *transport, uint64_t round, const mpi_parcel *parcels,
                                   size_t count, size_t record, size_t longest, mpi_receiver receiver) {
  *x = (mpi_exchange){.transport = transport, .receiver = receiver, .channel = (uint32_t)(round % MPI_CHANNELS)};
  graze_status status = transport->calls->round(transport);
  if (longest < record) longest = record;
  longest -= longest % record;
  for (size_t i = 0; status == GRAZE_OK && i < count; i++) status = send_in_pieces(x, &parcels[i], longest);
  return status;
}

static graze_status receive_all(mpi_exchange *x) {
  const mpi_transport_calls *calls = x->transport->calls;
  for (;;) {
    mpi_arrival arrival;
    graze_status status = calls->probe(x->transport, x->channel, &arrival);
    if (status != GRAZE_OK || !arrival.there) return status;
    void *room = x->receiver.room(x->receiver.user, arrival.from, arrival.size);
    status = calls->receive(x->transport, &arrival, room);
    if (status != GRAZE_OK) return status;
  }
}

graze_status gz_mpi_exchange_test(mpi_exchange *x, bool *done) {
  const mpi_transport_calls *calls = x->transport->calls;
  bool sent = false;
  *done = false;
  graze_status status = receive_all(x);
  if (status != GRAZE_OK) return status;
  if (x->in_barrier) return calls->finished(x->transport, done);
  status = calls->sent(x->transport, &sent);
  if (status != GRAZE_OK || !sent) return status;
  x->in_barrier = true;
  return calls->barrier(x->transport);
}
