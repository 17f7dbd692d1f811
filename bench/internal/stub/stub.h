/* A provider that lives in the process: its posts do what Soft-RoCE's do for
 * each work request, and there is no device behind them. */
#ifndef STUB_H
#define STUB_H

#include <infiniband/verbs.h>

struct stub;

/* Makes a queue pair, a shared receive queue and a completion queue, with room
 * for 2^order each. NULL: there is no memory. */
struct stub *stub_new(unsigned order, unsigned max_sge);
void stub_free(struct stub *s);

struct ibv_qp *stub_qp(struct stub *s);
struct ibv_srq *stub_srq(struct stub *s);
struct ibv_cq *stub_cq(struct stub *s);
/* The same send queue and the same completion queue, as extended ones. */
struct ibv_qp_ex *stub_qp_ex(struct stub *s);
struct ibv_cq_ex *stub_cq_ex(struct stub *s);

/* What the device would do: take all work requests, or complete some. The first
 * three return how many were taken. */
unsigned stub_take_recvs(struct stub *s);
unsigned stub_take_srq_recvs(struct stub *s);
unsigned stub_take_sends(struct stub *s);
void stub_complete(struct stub *s, unsigned n);
/* From now on, what is posted takes the place of what was posted long before. */
void stub_never_full(struct stub *s);

#endif
