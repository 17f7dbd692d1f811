/* Programs in C that send messages and receive them. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "loops.h"

/* One end: its queue pair, and the first work request of each list that it posts,
 * in order, as numbers. */
struct end {
	struct ibv_qp *qp;
	struct ibv_cq *send_cq, *recv_cq;
	const uintptr_t *sends, *recvs;
};

/* How messages are sent. */
struct traffic {
	uint32_t received; /* what byte_len is of each */
	long batch;	   /* work requests in a list, of which the last is signalled */
	long window;	   /* sends under way, at most */
	long idle;	   /* polls in turn that find nothing, after which something was lost */
};

/* Message number first and n more, each sent by a, received by b, and answered. A
 * list is one work request; of batch sends, the last is signalled, and waited for. */
struct calls ping_pong_loop(struct end a, struct end b, struct traffic t, long first, long n);
/* Message number first and n more sent by a and received by b. */
struct calls message_rate_loop(struct end a, struct end b, struct traffic t, long first, long n);

#endif
