/* Two threads that wake each other by messages. */
#ifndef WAKEUP_H
#define WAKEUP_H

#include "loops.h"

/* One end: its receives have a completion channel of their own that blocks, its sends are polled. */
struct waker {
	struct ibv_qp *qp;
	struct ibv_cq *send_cq, *recv_cq;
};

/* Has the ends wake each other, n times together, by messages from a to b and back: each on a thread of its own, which waits
 * in ibv_get_cq_event. A receive is posted at each. */
struct calls wake_up(struct waker a, struct waker b, long n);

/* Waits n times for a completion that the stub has come. stamp has the ticks at which it did; how long the wake-up took is put
 * into latencies. Returns how many came. */
long wait_idle(struct waker w, const int64_t *stamp, int64_t *latencies, long n);

#endif
