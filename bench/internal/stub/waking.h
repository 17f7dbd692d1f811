/* Two ends of a provider without a device, which wake each other. */
#ifndef WAKING_H
#define WAKING_H

#include <infiniband/verbs.h>

/* Both ends. */
struct waking;

/* Makes them, or returns NULL with errno. Their receives have one completion channel, or one each, whose file blocks. */
struct waking *waking_new(int channels);
void waking_free(struct waking *w);

/* The objects of end 0 or 1. A send completes at once, and a receive of the other end with it. */
struct ibv_qp *waking_qp(struct waking *w, int end);
struct ibv_cq *waking_send_cq(struct waking *w, int end);
struct ibv_cq *waking_recv_cq(struct waking *w, int end);

/* Has n receives of end 0 complete, from a thread that stands for a device: each a while after an event was requested, when
 * whoever waits is asleep. Returns 0 or an errno. The second function waits until that is done. */
int waking_begin(struct waking *w, long n);
void waking_finish(struct waking *w);

/* Where the ticks are kept at which the last one of them came. */
int64_t *waking_stamp(struct waking *w);

#endif
