/* The loops that C programs write, and what Go bindings with cgo call. */
#ifndef LOOPS_H
#define LOOPS_H

#include <infiniband/verbs.h>
#include <stdint.h>

/* How many of n calls had the result that is wanted, 0 of a post and got of a
 * poll, and how long they took, in the ticks of package ticks. */
struct calls {
	long good;
	int64_t ticks;
};

struct calls post_recv_loop(struct ibv_qp *qp, struct ibv_recv_wr *wr, long n);
struct calls post_srq_recv_loop(struct ibv_srq *srq, struct ibv_recv_wr *wr, long n);
struct calls post_send_loop(struct ibv_qp *qp, struct ibv_send_wr *wr, long n);
struct calls poll_loop(struct ibv_cq *cq, struct ibv_wc *wcs, int room, int got, long n);
/* Polls for receives, room at a time, and posts them again: work request i of wrs
 * has the buffer of completions whose wr_id has i in the bits of mask. What is
 * found last is not posted again. */
struct calls ring_loop(struct ibv_srq *srq, struct ibv_cq *cq, struct ibv_recv_wr *wrs, struct ibv_wc *wcs, int room, uint64_t mask, long n);
/* An RDMA write, as a program has it in memory. */
struct write {
	uint64_t wr_id, remote_addr, addr;
	uint32_t flags, rkey, lkey, length;
};

/* What is read of a completion. */
struct completion {
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	uint32_t byte_len, qp_num, vendor_err;
	unsigned int wc_flags;
};

/* Posts wrs writes at once, by ibv_wr_start and what follows it. The result is stored, because it is called as goverbs
 * calls C. */
int batch_loop(struct ibv_qp_ex *qp, const struct write *writes, long wrs, long n, struct calls *result);
/* Does so too, but gives up at the end: no doorbell is rung. */
struct calls batch_aborted_loop(struct ibv_qp_ex *qp, const struct write *writes, long wrs, long n);
/* Polls for room completions at a time, and expects so many. */
struct calls extended_poll_loop(struct ibv_cq_ex *cq, struct completion *into, long room, long n);
/* Posts of which a refusal is wanted. */
struct calls post_recv_full_loop(struct ibv_qp *qp, struct ibv_recv_wr *wr, long n);

/* The cheapest that cgo can have: integers in, the result by value. */
struct outcome {
	long result;
	uintptr_t bad;
};

static inline struct outcome post_recv_words(uintptr_t qp, uintptr_t wr)
{
	struct ibv_recv_wr *bad = NULL;
	int result = ibv_post_recv((struct ibv_qp *)qp, (struct ibv_recv_wr *)wr, &bad);

	return (struct outcome){result, (uintptr_t)bad};
}

static inline struct outcome post_srq_recv_words(uintptr_t srq, uintptr_t wr)
{
	struct ibv_recv_wr *bad = NULL;
	int result = ibv_post_srq_recv((struct ibv_srq *)srq, (struct ibv_recv_wr *)wr, &bad);

	return (struct outcome){result, (uintptr_t)bad};
}

static inline struct outcome post_send_words(uintptr_t qp, uintptr_t wr)
{
	struct ibv_send_wr *bad = NULL;
	int result = ibv_post_send((struct ibv_qp *)qp, (struct ibv_send_wr *)wr, &bad);

	return (struct outcome){result, (uintptr_t)bad};
}

static inline int poll_words(uintptr_t cq, int n, uintptr_t wcs)
{
	return ibv_poll_cq((struct ibv_cq *)cq, n, (struct ibv_wc *)wcs);
}

/* What bindings usually have: one call for each work request, which is built
 * from scalars every time. */
static inline int post_recv_scalars(struct ibv_qp *qp, uint64_t wr_id, uint64_t addr, uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;

	return ibv_post_recv(qp, &wr, &bad);
}

static inline int post_srq_recv_scalars(struct ibv_srq *srq, uint64_t wr_id, uint64_t addr, uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static inline int post_send_scalars(struct ibv_qp *qp, uint64_t wr_id, uint64_t addr, uint32_t length, uint32_t lkey,
				    int opcode, unsigned flags)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = flags};
	struct ibv_send_wr *bad = NULL;

	return ibv_post_send(qp, &wr, &bad);
}

#endif
