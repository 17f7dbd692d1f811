#include "loops.h"
#include "ticks.h"

struct calls post_recv_loop(struct ibv_qp *qp, struct ibv_recv_wr *wr, long n)
{
	struct ibv_recv_wr *bad;
	int64_t start = ticks();
	long i;

	for (i = 0; i < n; i++)
		if (ibv_post_recv(qp, wr, &bad))
			break;
	return (struct calls){i, ticks() - start};
}

struct calls post_recv_full_loop(struct ibv_qp *qp, struct ibv_recv_wr *wr, long n)
{
	struct ibv_recv_wr *bad;
	int64_t start = ticks();
	long i;

	for (i = 0; i < n; i++)
		if (!ibv_post_recv(qp, wr, &bad))
			break;
	return (struct calls){i, ticks() - start};
}

struct calls post_srq_recv_loop(struct ibv_srq *srq, struct ibv_recv_wr *wr, long n)
{
	struct ibv_recv_wr *bad;
	int64_t start = ticks();
	long i;

	for (i = 0; i < n; i++)
		if (ibv_post_srq_recv(srq, wr, &bad))
			break;
	return (struct calls){i, ticks() - start};
}

struct calls post_send_loop(struct ibv_qp *qp, struct ibv_send_wr *wr, long n)
{
	struct ibv_send_wr *bad;
	int64_t start = ticks();
	long i;

	for (i = 0; i < n; i++)
		if (ibv_post_send(qp, wr, &bad))
			break;
	return (struct calls){i, ticks() - start};
}

struct calls poll_loop(struct ibv_cq *cq, struct ibv_wc *wcs, int room, int got, long n)
{
	int64_t start = ticks();
	long i;

	for (i = 0; i < n; i++)
		if (ibv_poll_cq(cq, room, wcs) != got)
			break;
	return (struct calls){i, ticks() - start};
}

struct calls ring_loop(struct ibv_srq *srq, struct ibv_cq *cq, struct ibv_recv_wr *wrs, struct ibv_wc *wcs, int room, uint64_t mask, long n)
{
	struct ibv_recv_wr *bad, *first, **next;
	int64_t start = ticks();
	int received = 0, j;
	long i;

	for (i = 0; i < n; i++) {
		/* What the last poll found is posted again. */
		next = &first;
		for (j = 0; j < received; j++) {
			struct ibv_recv_wr *wr = &wrs[wcs[j].wr_id & mask];

			wr->wr_id = wcs[j].wr_id;
			*next = wr;
			next = &wr->next;
		}
		*next = NULL;
		if (received && ibv_post_srq_recv(srq, first, &bad))
			break;
		received = ibv_poll_cq(cq, room, wcs);
		if (received != room)
			break;
	}
	return (struct calls){i, ticks() - start};
}

static inline void begin_writes(struct ibv_qp_ex *qp, const struct write *writes, long wrs)
{
	ibv_wr_start(qp);
	for (long k = 0; k < wrs; k++) {
		qp->wr_id = writes[k].wr_id;
		qp->wr_flags = writes[k].flags;
		ibv_wr_rdma_write(qp, writes[k].rkey, writes[k].remote_addr);
		ibv_wr_set_sge(qp, writes[k].lkey, writes[k].addr, writes[k].length);
	}
}

struct calls batch_aborted_loop(struct ibv_qp_ex *qp, const struct write *writes, long wrs, long n)
{
	int64_t start = ticks();
	long i;

	for (i = 0; i < n; i++) {
		begin_writes(qp, writes, wrs);
		ibv_wr_abort(qp);
	}
	return (struct calls){i, ticks() - start};
}

int batch_loop(struct ibv_qp_ex *qp, const struct write *writes, long wrs, long n, struct calls *result)
{
	int64_t start = ticks();
	long i;

	for (i = 0; i < n; i++) {
		begin_writes(qp, writes, wrs);
		if (ibv_wr_complete(qp))
			break;
	}
	*result = (struct calls){i, ticks() - start};
	return 0;
}

/* Polls once, and returns how many there were. */
static inline long extended_poll(struct ibv_cq_ex *cq, struct completion *into, long room)
{
	struct ibv_poll_cq_attr attr = {0};
	long got = 0;

	if (ibv_start_poll(cq, &attr))
		return 0;
	for (;;) {
		struct completion *c = &into[got];

		c->wr_id = cq->wr_id;
		c->status = cq->status;
		if (c->status == IBV_WC_SUCCESS) {
			c->opcode = ibv_wc_read_opcode(cq);
			c->byte_len = ibv_wc_read_byte_len(cq);
			c->wc_flags = ibv_wc_read_wc_flags(cq);
		} else {
			c->vendor_err = ibv_wc_read_vendor_err(cq);
		}
		c->qp_num = ibv_wc_read_qp_num(cq);
		if (++got == room || ibv_next_poll(cq))
			break;
	}
	ibv_end_poll(cq);
	return got;
}

struct calls extended_poll_loop(struct ibv_cq_ex *cq, struct completion *into, long room, long n)
{
	int64_t start = ticks();
	long i;

	for (i = 0; i < n; i++)
		if (extended_poll(cq, into, room) != room)
			break;
	return (struct calls){i, ticks() - start};
}
