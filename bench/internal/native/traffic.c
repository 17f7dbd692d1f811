#include "traffic.h"

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

struct calls ping_pong_loop(struct end a, struct end b, struct traffic t, long first, long n)
{
	int64_t start = ticks();
	struct ibv_wc wc;
	long i;

	for (i = 0; i < n; i++) {
		if (ping(&a, &b, &t, first + i) || ping(&b, &a, &t, first + i))
			break;
		if ((i + 1) % t.batch == 0 && (await(a.send_cq, &t, &wc) || await(b.send_cq, &t, &wc)))
			break;
	}
	return (struct calls){i, ticks() - start};
}

struct calls message_rate_loop(struct end a, struct end b, struct traffic t, long first, long n)
{
	long posted = 0, done = 0, received = 0, reposted = 0, idle = 0;
	int64_t start = ticks();
	struct ibv_wc wcs[64];
	int got, i;

	while (received < n || done < n) {
		if (posted < n && posted + t.batch <= done + t.window) {
			if (post_send(&a, (first + posted) / t.batch))
				break;
			posted += t.batch;
		}
		got = ibv_poll_cq(b.recv_cq, t.batch, wcs);
		if (got < 0)
			break;
		for (i = 0; i < got; i++)
			if (wcs[i].status != IBV_WC_SUCCESS || wcs[i].byte_len != t.received)
				goto out;
		received += got;
		idle = got ? 0 : idle + 1;
		if (received >= reposted + t.batch) {
			if (post_recv(&b, (first + reposted) / t.batch))
				break;
			reposted += t.batch;
		}
		got = ibv_poll_cq(a.send_cq, t.window / t.batch, wcs);
		if (got < 0 || idle > t.idle)
			break;
		for (i = 0; i < got; i++)
			if (wcs[i].status != IBV_WC_SUCCESS)
				goto out;
		done += got * t.batch;
	}
out:
	return (struct calls){received < done ? received : done, ticks() - start};
}
