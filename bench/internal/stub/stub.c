#include "stub.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A queue that the process and the device share: one side moves the producer's
 * end, the other the consumer's, and neither waits for the other. The lock is
 * for the process's own threads. */
struct ring {
	pthread_spinlock_t lock;
	unsigned mask, limit, max_sge; /* full when more than limit are in it */
	size_t stride;
	char *slots;
	_Alignas(64) _Atomic unsigned producer;
	_Alignas(64) _Atomic unsigned consumer;
};

/* What the device reads of a receive. */
struct recv_slot {
	uint64_t wr_id;
	uint32_t num_sge, length;
	struct ibv_sge sge[];
};

/* What the device reads of a send. */
struct send_slot {
	uint64_t wr_id;
	uint32_t num_sge, length, opcode, flags, imm_data, state;
	uint64_t remote_addr, compare_add, swap;
	uint32_t rkey, qpn, qkey, psn;
	struct ibv_sge sge[];
};

struct stub {
	struct ibv_device device;
	struct ibv_context context;
	struct ibv_qp qp;
	struct ibv_srq srq;
	struct ibv_cq cq;
	struct ibv_qp_ex qpx;
	struct ibv_cq_ex cqx;
	struct ring recv, srq_recv, send, done;
	unsigned psn;
	/* From wr_start to wr_complete, and from start_poll to end_poll. */
	unsigned began, current;
	int err;
	struct send_slot *slot;
	struct ibv_wc *wc;
};

#define CONTAINER(pointer, member) ((struct stub *)((char *)(pointer) - offsetof(struct stub, member)))

static int ring_init(struct ring *r, unsigned order, unsigned max_sge, size_t head)
{
	size_t need = head + max_sge * sizeof(struct ibv_sge);

	for (r->stride = 64; r->stride < need; r->stride *= 2)
		;
	r->mask = r->limit = (1u << order) - 1;
	r->max_sge = max_sge;
	r->slots = aligned_alloc(4096, r->stride << order);
	if (!r->slots)
		return ENOMEM;
	/* Touched now, so that no post has to. */
	memset(r->slots, 0, r->stride << order);
	return pthread_spin_init(&r->lock, PTHREAD_PROCESS_PRIVATE);
}

static inline int ring_full(struct ring *r, unsigned producer)
{
	return producer - atomic_load_explicit(&r->consumer, memory_order_acquire) > r->limit;
}

static inline void *ring_slot(struct ring *r, unsigned at) { return r->slots + (at & r->mask) * r->stride; }

static inline uint32_t copy_sges(struct ibv_sge *to, const struct ibv_sge *from, int n)
{
	uint32_t length = 0;

	for (int i = 0; i < n; i++)
		length += from[i].length;
	memcpy(to, from, n * sizeof(*to));
	return length;
}

static int post_recvs(struct ring *r, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int err = 0;

	pthread_spin_lock(&r->lock);
	for (; wr; wr = wr->next) {
		unsigned producer = atomic_load_explicit(&r->producer, memory_order_relaxed);
		struct recv_slot *slot;

		if (ring_full(r, producer)) {
			err = ENOMEM;
			break;
		}
		if (wr->num_sge < 0 || (unsigned)wr->num_sge > r->max_sge) {
			err = EINVAL;
			break;
		}
		slot = ring_slot(r, producer);
		slot->wr_id = wr->wr_id;
		slot->num_sge = wr->num_sge;
		slot->length = copy_sges(slot->sge, wr->sg_list, wr->num_sge);
		atomic_store_explicit(&r->producer, producer + 1, memory_order_release);
	}
	pthread_spin_unlock(&r->lock);
	if (err)
		*bad = wr;
	return err;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return post_recvs(&CONTAINER(qp, qp)->recv, wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return post_recvs(&CONTAINER(srq, srq)->srq_recv, wr, bad);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct stub *s = CONTAINER(qp, qp);
	struct ring *r = &s->send;
	int err = 0;

	pthread_spin_lock(&r->lock);
	for (; wr; wr = wr->next) {
		unsigned producer = atomic_load_explicit(&r->producer, memory_order_relaxed);
		struct send_slot *slot;

		if (ring_full(r, producer)) {
			err = ENOMEM;
			break;
		}
		if (wr->num_sge < 0 || (unsigned)wr->num_sge > r->max_sge) {
			err = EINVAL;
			break;
		}
		slot = ring_slot(r, producer);
		slot->wr_id = wr->wr_id;
		slot->num_sge = wr->num_sge;
		slot->opcode = wr->opcode;
		slot->flags = wr->send_flags;
		slot->imm_data = wr->imm_data;
		slot->state = 0;
		switch (wr->opcode) {
		case IBV_WR_RDMA_WRITE:
		case IBV_WR_RDMA_WRITE_WITH_IMM:
		case IBV_WR_RDMA_READ:
			slot->remote_addr = wr->wr.rdma.remote_addr;
			slot->rkey = wr->wr.rdma.rkey;
			break;
		case IBV_WR_ATOMIC_CMP_AND_SWP:
		case IBV_WR_ATOMIC_FETCH_AND_ADD:
			slot->remote_addr = wr->wr.atomic.remote_addr;
			slot->compare_add = wr->wr.atomic.compare_add;
			slot->swap = wr->wr.atomic.swap;
			slot->rkey = wr->wr.atomic.rkey;
			break;
		default:
			if (qp->qp_type == IBV_QPT_UD) {
				slot->qpn = wr->wr.ud.remote_qpn;
				slot->qkey = wr->wr.ud.remote_qkey;
			}
		}
		slot->length = copy_sges(slot->sge, wr->sg_list, wr->num_sge);
		slot->psn = s->psn++;
		atomic_store_explicit(&r->producer, producer + 1, memory_order_release);
	}
	pthread_spin_unlock(&r->lock);
	if (err)
		*bad = wr;
	return err;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct ring *r = &CONTAINER(cq, cq)->done;
	int got;

	pthread_spin_lock(&r->lock);
	for (got = 0; got < n; got++) {
		unsigned consumer = atomic_load_explicit(&r->consumer, memory_order_relaxed);

		if (atomic_load_explicit(&r->producer, memory_order_acquire) == consumer)
			break;
		memcpy(&wc[got], ring_slot(r, consumer), sizeof(*wc));
		atomic_store_explicit(&r->consumer, consumer + 1, memory_order_release);
	}
	pthread_spin_unlock(&r->lock);
	return got;
}

static void wr_start(struct ibv_qp_ex *qp)
{
	struct stub *s = CONTAINER(qp, qpx);

	pthread_spin_lock(&s->send.lock);
	s->began = atomic_load_explicit(&s->send.producer, memory_order_relaxed);
	s->err = 0;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	struct stub *s = CONTAINER(qp, qpx);
	struct send_slot *slot;

	if (s->err)
		return;
	if (ring_full(&s->send, s->began)) {
		s->err = ENOMEM;
		return;
	}
	s->slot = slot = ring_slot(&s->send, s->began++);
	slot->wr_id = qp->wr_id;
	slot->flags = qp->wr_flags;
	slot->opcode = IBV_WR_RDMA_WRITE;
	slot->imm_data = 0;
	slot->state = 0;
	slot->remote_addr = remote_addr;
	slot->rkey = rkey;
	slot->psn = s->psn++;
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct stub *s = CONTAINER(qp, qpx);

	if (s->err)
		return;
	s->slot->num_sge = length != 0;
	s->slot->length = length;
	s->slot->sge[0] = (struct ibv_sge){addr, length, lkey};
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct stub *s = CONTAINER(qp, qpx);
	int err = s->err;

	if (!err)
		atomic_store_explicit(&s->send.producer, s->began, memory_order_release);
	pthread_spin_unlock(&s->send.lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *qp) { pthread_spin_unlock(&CONTAINER(qp, qpx)->send.lock); }

/* Goes to the next completion, if there is one. */
static int advance(struct stub *s)
{
	struct ring *r = &s->done;

	if (atomic_load_explicit(&r->producer, memory_order_acquire) == s->current)
		return ENOENT;
	s->wc = ring_slot(r, s->current++);
	s->cqx.status = s->wc->status;
	s->cqx.wr_id = s->wc->wr_id;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct stub *s = CONTAINER(cq, cqx);
	int err;

	(void)attr;
	pthread_spin_lock(&s->done.lock);
	s->current = atomic_load_explicit(&s->done.consumer, memory_order_relaxed);
	err = advance(s);
	if (err)
		pthread_spin_unlock(&s->done.lock);
	return err;
}

static int next_poll(struct ibv_cq_ex *cq) { return advance(CONTAINER(cq, cqx)); }

static void end_poll(struct ibv_cq_ex *cq)
{
	struct stub *s = CONTAINER(cq, cqx);

	atomic_store_explicit(&s->done.consumer, s->current, memory_order_release);
	pthread_spin_unlock(&s->done.lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq) { return CONTAINER(cq, cqx)->wc->opcode; }
static uint32_t read_vendor_err(struct ibv_cq_ex *cq) { return CONTAINER(cq, cqx)->wc->vendor_err; }
static uint32_t read_byte_len(struct ibv_cq_ex *cq) { return CONTAINER(cq, cqx)->wc->byte_len; }
static uint32_t read_qp_num(struct ibv_cq_ex *cq) { return CONTAINER(cq, cqx)->wc->qp_num; }
static unsigned int read_wc_flags(struct ibv_cq_ex *cq) { return CONTAINER(cq, cqx)->wc->wc_flags; }

struct stub *stub_new(unsigned order, unsigned max_sge)
{
	struct stub *s = aligned_alloc(64, (sizeof(*s) + 63) / 64 * 64);

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	strcpy(s->device.name, "stub");
	s->context.device = &s->device;
	s->context.ops.post_recv = post_recv;
	s->context.ops.post_srq_recv = post_srq_recv;
	s->context.ops.post_send = post_send;
	s->context.ops.poll_cq = poll_cq;
	s->qp.context = s->srq.context = s->cq.context = &s->context;
	s->qp.qp_type = IBV_QPT_RC;
	s->qpx = (struct ibv_qp_ex){
		.qp_base = s->qp, .wr_start = wr_start, .wr_complete = wr_complete, .wr_abort = wr_abort,
		.wr_rdma_write = wr_rdma_write, .wr_set_sge = wr_set_sge,
	};
	s->cqx = (struct ibv_cq_ex){
		.context = &s->context, .start_poll = start_poll, .next_poll = next_poll, .end_poll = end_poll, .read_opcode = read_opcode,
		.read_vendor_err = read_vendor_err, .read_byte_len = read_byte_len, .read_qp_num = read_qp_num, .read_wc_flags = read_wc_flags,
	};
	if (ring_init(&s->recv, order, max_sge, sizeof(struct recv_slot)) ||
	    ring_init(&s->srq_recv, order, max_sge, sizeof(struct recv_slot)) ||
	    ring_init(&s->send, order, max_sge, sizeof(struct send_slot)) ||
	    ring_init(&s->done, order, 0, sizeof(struct ibv_wc))) {
		stub_free(s);
		return NULL;
	}
	return s;
}

void stub_free(struct stub *s)
{
	free(s->recv.slots);
	free(s->srq_recv.slots);
	free(s->send.slots);
	free(s->done.slots);
	free(s);
}

struct ibv_qp *stub_qp(struct stub *s) { return &s->qp; }
struct ibv_srq *stub_srq(struct stub *s) { return &s->srq; }
struct ibv_cq *stub_cq(struct stub *s) { return &s->cq; }
struct ibv_qp_ex *stub_qp_ex(struct stub *s) { return &s->qpx; }
struct ibv_cq_ex *stub_cq_ex(struct stub *s) { return &s->cqx; }

static unsigned take(struct ring *r)
{
	unsigned producer = atomic_load_explicit(&r->producer, memory_order_acquire);

	return producer - atomic_exchange(&r->consumer, producer);
}

unsigned stub_take_recvs(struct stub *s) { return take(&s->recv); }
unsigned stub_take_srq_recvs(struct stub *s) { return take(&s->srq_recv); }
unsigned stub_take_sends(struct stub *s) { return take(&s->send); }

void stub_never_full(struct stub *s)
{
	s->recv.limit = s->srq_recv.limit = s->send.limit = UINT_MAX;
}

void stub_complete(struct stub *s, unsigned n)
{
	struct ring *r = &s->done;
	unsigned producer = atomic_load_explicit(&r->producer, memory_order_relaxed);

	for (unsigned i = 0; i < n && !ring_full(r, producer); i++, producer++) {
		struct ibv_wc *wc = ring_slot(r, producer);

		wc->wr_id = i;
		wc->status = IBV_WC_SUCCESS;
		wc->opcode = IBV_WC_RECV;
	}
	atomic_store_explicit(&r->producer, producer, memory_order_release);
}
