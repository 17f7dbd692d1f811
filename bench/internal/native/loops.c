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
