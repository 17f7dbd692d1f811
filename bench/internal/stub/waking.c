#include "waking.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../native/ticks.h"

/* A completion queue: how many completions are there, and whether an event is to come of the next one. */
struct queue {
	struct ibv_cq cq;
	pthread_spinlock_t lock;
	unsigned done;
	int armed, events; /* events: the file that they are written to */
};

struct end {
	struct ibv_qp qp;
	struct queue sent, received;
	struct end *other;
};

struct waking {
	struct ibv_device device;
	struct verbs_context verbs;
	/* What libibverbs keeps of a context: functions of the provider's, of which it calls one when it has got an event. None
	 * does anything here, and there is room for more than it has. */
	void (*functions[1024])(void);
	struct ibv_comp_channel channels[2];
	int events[2]; /* the other ends of their pipes */
	struct end ends[2];
	/* The thread that stands for a device. */
	pthread_t device_thread;
	long completions;
	int64_t stamp;
};

#define QUEUE(pointer) ((struct queue *)((char *)(pointer) - offsetof(struct queue, cq)))
#define END(pointer) ((struct end *)((char *)(pointer) - offsetof(struct end, qp)))

static void nothing(void) {}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp, (void)wr, (void)bad;
	return 0;
}

/* Has a completion come. The event is what the kernel writes: the queue, as a number. */
static int complete(struct queue *q)
{
	uint64_t number = (uintptr_t)&q->cq;
	int armed;

	pthread_spin_lock(&q->lock);
	q->done++;
	armed = q->armed;
	q->armed = 0;
	pthread_spin_unlock(&q->lock);
	return armed && write(q->events, &number, sizeof(number)) != sizeof(number);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct end *e = END(qp);

	for (; wr; wr = wr->next) {
		if (complete(&e->sent) || complete(&e->other->received)) {
			*bad = wr;
			return EIO;
		}
	}
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct queue *q = QUEUE(cq);
	int got;

	pthread_spin_lock(&q->lock);
	for (got = 0; got < n && q->done > 0; got++, q->done--)
		memset(&wc[got], 0, sizeof(*wc));
	pthread_spin_unlock(&q->lock);
	return got;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct queue *q = QUEUE(cq);

	(void)solicited_only;
	pthread_spin_lock(&q->lock);
	q->armed = 1;
	pthread_spin_unlock(&q->lock);
	return 0;
}

static void open_queue(struct waking *w, struct queue *q, struct ibv_comp_channel *channel, int events)
{
	q->cq.context = &w->verbs.context;
	q->cq.channel = channel;
	q->events = events;
	pthread_mutex_init(&q->cq.mutex, NULL);
	pthread_cond_init(&q->cq.cond, NULL);
	pthread_spin_init(&q->lock, PTHREAD_PROCESS_PRIVATE);
}

struct waking *waking_new(int channels)
{
	struct waking *w = calloc(1, sizeof(*w));
	struct ibv_context *context;

	if (!w)
		return NULL;
	for (int i = 0; i < 2; i++)
		w->channels[i].fd = w->events[i] = -1;
	strcpy(w->device.name, "stub");
	for (unsigned i = 0; i < sizeof(w->functions) / sizeof(w->functions[0]); i++)
		w->functions[i] = nothing;
	w->verbs.priv = (struct verbs_ex_private *)w->functions;
	w->verbs.sz = sizeof(w->verbs);
	context = &w->verbs.context;
	context->device = &w->device;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->ops.post_recv = post_recv;
	context->ops.post_send = post_send;
	context->ops.poll_cq = poll_cq;
	context->ops.req_notify_cq = req_notify_cq;
	for (int i = 0; i < channels; i++) {
		int files[2];

		if (pipe(files)) {
			waking_free(w);
			return NULL;
		}
		w->channels[i].context = context;
		w->channels[i].fd = files[0];
		w->events[i] = files[1];
	}
	for (int i = 0; i < 2; i++) {
		struct end *e = &w->ends[i];
		int channel = i % channels;

		e->other = &w->ends[1 - i];
		e->qp.context = context;
		e->qp.qp_type = IBV_QPT_RC;
		open_queue(w, &e->sent, NULL, -1);
		open_queue(w, &e->received, &w->channels[channel], w->events[channel]);
	}
	return w;
}

void waking_free(struct waking *w)
{
	int err = errno;

	for (int i = 0; i < 2; i++) {
		close(w->channels[i].fd);
		close(w->events[i]);
	}
	free(w);
	errno = err;
}

struct ibv_qp *waking_qp(struct waking *w, int end) { return &w->ends[end].qp; }
struct ibv_cq *waking_send_cq(struct waking *w, int end) { return &w->ends[end].sent.cq; }
struct ibv_cq *waking_recv_cq(struct waking *w, int end) { return &w->ends[end].received.cq; }
int64_t *waking_stamp(struct waking *w) { return &w->stamp; }

static int is_armed(struct queue *q)
{
	int armed;

	pthread_spin_lock(&q->lock);
	armed = q->armed;
	pthread_spin_unlock(&q->lock);
	return armed;
}

static void *device_run(void *arg)
{
	const struct timespec look = {0, 20 * 1000}, idle = {0, 100 * 1000};
	struct waking *w = arg;
	struct queue *q = &w->ends[0].received;

	for (long i = 0; i < w->completions; i++) {
		while (!is_armed(q))
			nanosleep(&look, NULL);
		nanosleep(&idle, NULL);
		w->stamp = ticks();
		complete(q);
	}
	return NULL;
}

int waking_begin(struct waking *w, long n)
{
	w->completions = n;
	return pthread_create(&w->device_thread, NULL, device_run, w);
}

void waking_finish(struct waking *w) { pthread_join(w->device_thread, NULL); }
