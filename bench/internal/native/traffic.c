#include "traffic.h"

#include <stdlib.h>

#include "ticks.h"

static int post_send(const struct end *e, long list)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(e->qp, (struct ibv_send_wr *)e->sends[list], &bad);
}

static int post_recv(const struct end *e, long list)
{
	struct ibv_recv_wr *bad;

	return ibv_post_recv(e->qp, (struct ibv_recv_wr *)e->recvs[list], &bad);
}

/* Polls until there is a completion. */
static int await(struct ibv_cq *cq, const struct traffic *t, struct ibv_wc *wc)
{
	for (long i = 0; i < t->idle; i++) {
		int got = ibv_poll_cq(cq, 1, wc);

		if (got)
			return got == 1 && wc->status == IBV_WC_SUCCESS ? 0 : -1;
	}
	return -1;
}

/* Message number i from one end to the other, whose receive is posted again. */
static int ping(const struct end *from, const struct end *to, const struct traffic *t, long i)
{
	struct ibv_wc wc;

	if (post_send(from, i) || await(to->recv_cq, t, &wc) || wc.byte_len != t->received)
		return -1;
	return post_recv(to, i);
}

static int ping_pong(struct ibv_cq *cq, int room, struct ibv_wc *unused)
{
	struct loop *l = (struct loop *)cq;
	const struct traffic *t = &l->traffic;
	int64_t start = ticks();
	struct ibv_wc wc;
	long i;

	for (i = 0; i < l->n; i++) {
		if (ping(&l->a, &l->b, t, l->first + i) || ping(&l->b, &l->a, t, l->first + i))
			break;
		if ((i + 1) % t->batch == 0 && (await(l->a.send_cq, t, &wc) || await(l->b.send_cq, t, &wc)))
			break;
	}
	l->result = (struct calls){i, ticks() - start};
	return 0;
}

static int message_rate(struct ibv_cq *cq, int room, struct ibv_wc *unused)
{
	struct loop *l = (struct loop *)cq;
	const struct traffic *t = &l->traffic;
	long posted = 0, done = 0, received = 0, reposted = 0, idle = 0, n = l->n;
	int64_t start = ticks();
	struct ibv_wc wcs[64];
	int got, i;

	while (received < n || done < n) {
		if (posted < n && posted + t->batch <= done + t->window) {
			if (post_send(&l->a, (l->first + posted) / t->batch))
				break;
			posted += t->batch;
		}
		got = ibv_poll_cq(l->b.recv_cq, t->batch, wcs);
		if (got < 0)
			break;
		for (i = 0; i < got; i++)
			if (wcs[i].status != IBV_WC_SUCCESS || wcs[i].byte_len != t->received)
				goto out;
		received += got;
		idle = got ? 0 : idle + 1;
		if (received >= reposted + t->batch) {
			if (post_recv(&l->b, (l->first + reposted) / t->batch))
				break;
			reposted += t->batch;
		}
		got = ibv_poll_cq(l->a.send_cq, t->window / t->batch, wcs);
		if (got < 0 || idle > t->idle)
			break;
		for (i = 0; i < got; i++)
			if (wcs[i].status != IBV_WC_SUCCESS)
				goto out;
		done += got * t->batch;
	}
out:
	l->result = (struct calls){received < done ? received : done, ticks() - start};
	return 0;
}

static struct loop *loop_new(int (*poll)(struct ibv_cq *, int, struct ibv_wc *))
{
	struct loop *l = calloc(1, sizeof(*l));

	if (l) {
		l->context.ops.poll_cq = poll;
		l->cq.context = &l->context;
	}
	return l;
}

struct loop *ping_pong_new(void) { return loop_new(ping_pong); }
struct loop *message_rate_new(void) { return loop_new(message_rate); }
