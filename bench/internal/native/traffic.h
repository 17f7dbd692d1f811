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

/* A loop that is called as if it polled cq, whose context says so: n messages more,
 * from number first on. */
struct loop {
	struct ibv_cq cq;
	struct ibv_context context;
	struct end a, b;
	struct traffic traffic;
	long first, n;
	struct calls result;
};

/* Each message is sent by a, received by b, and answered. A list is one work request;
 * of batch sends, the last is signalled, and waited for. */
struct loop *ping_pong_new(void);
/* Messages are sent by a and received by b. A list is batch work requests. */
struct loop *message_rate_new(void);

#endif
