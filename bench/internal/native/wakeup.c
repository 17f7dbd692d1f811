#include "wakeup.h"

#include <dlfcn.h>
#include <pthread.h>

#include "ticks.h"

/* The library's functions: the benchmark does not link it, because it runs without too. */
static int (*get_cq_event)(struct ibv_comp_channel *, struct ibv_cq **, void **);
static void (*ack_cq_events)(struct ibv_cq *, unsigned int);

static int find_functions(void)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW);

	if (!library)
		return -1;
	get_cq_event = (int (*)(struct ibv_comp_channel *, struct ibv_cq **, void **))dlsym(library, "ibv_get_cq_event");
	ack_cq_events = (void (*)(struct ibv_cq *, unsigned int))dlsym(library, "ibv_ack_cq_events");
	return get_cq_event && ack_cq_events ? 0 : -1;
}

struct side {
	struct waker w;
	long n;
	int first; /* sends the first message */
	int failed;
};

static int post_recv(struct waker *w)
{
	struct ibv_recv_wr wr = {0}, *bad;

	return ibv_post_recv(w->qp, &wr, &bad);
}

static int send_one(struct waker *w)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	return ibv_post_send(w->qp, &wr, &bad);
}

/* The loop of the man page: an event, the next request, and all that is there. */
static int wait_for(struct waker *w)
{
	struct ibv_cq *cq;
	void *context;
	struct ibv_wc wc;
	int got;

	do {
		if (get_cq_event(w->recv_cq->channel, &cq, &context))
			return -1;
		ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0))
			return -1;
		got = ibv_poll_cq(cq, 1, &wc);
	} while (got == 0);
	return got == 1 && wc.status == IBV_WC_SUCCESS ? 0 : -1;
}

/* The send before has completed when its answer is there, or soon after. */
static int sent(struct waker *w)
{
	struct ibv_wc wc;
	int got;

	while ((got = ibv_poll_cq(w->send_cq, 1, &wc)) == 0)
		;
	return got == 1 && wc.status == IBV_WC_SUCCESS ? 0 : -1;
}

static void *run(void *arg)
{
	struct side *s = arg;

	for (long i = 0; i < s->n; i++) {
		if (s->first && send_one(&s->w))
			goto failed;
		if (wait_for(&s->w) || post_recv(&s->w))
			goto failed;
		if (!s->first && send_one(&s->w))
			goto failed;
		if (sent(&s->w))
			goto failed;
	}
	return NULL;
failed:
	s->failed = 1;
	return NULL;
}

struct calls wake_up(struct waker a, struct waker b, long n)
{
	struct side sides[2] = {{a, n / 2, 1, 0}, {b, n / 2, 0, 0}};
	struct calls c = {0, 0};
	pthread_t thread;
	int64_t start;

	if (find_functions() || ibv_req_notify_cq(a.recv_cq, 0) || ibv_req_notify_cq(b.recv_cq, 0))
		return c;
	if (pthread_create(&thread, NULL, run, &sides[1]))
		return c;
	start = ticks();
	run(&sides[0]);
	pthread_join(thread, NULL);
	c.ticks = ticks() - start;
	if (!sides[0].failed && !sides[1].failed)
		c.good = n;
	return c;
}

long wait_idle(struct waker w, const int64_t *stamp, int64_t *latencies, long n)
{
	if (find_functions() || ibv_req_notify_cq(w.recv_cq, 0))
		return 0;
	for (long i = 0; i < n; i++) {
		if (wait_for(&w))
			return i;
		latencies[i] = ticks() - *stamp;
	}
	return n;
}
