/* Two threads that wake each other by messages. */
#ifndef WAKEUP_H
#define WAKEUP_H

#include <infiniband/verbs.h>

/* One end: its receives have a completion channel that blocks, its sends are polled. */
struct waker {
	struct ibv_qp *qp;
	struct ibv_cq *send_cq, *recv_cq;
};

/* Sends a message from a to b and back n times, each end on a thread of its own, which waits in ibv_get_cq_event.
 * Returns the nanoseconds that it took, or -1. */
int64_t wake_up(struct waker a, struct waker b, long n);

#endif
