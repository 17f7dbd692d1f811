/* A provider of extended queue pairs and completion queues without a device, for
 * the tests of package ibv. The C compiler lays out its objects from the real
 * header, and sees that each function has the type that the header says. It
 * writes down each call, in order, with the arguments and what they point to.
 *
 * Like real ones, it holds a lock from wr_start to wr_complete, and from
 * start_poll to end_poll. It ends the process if a function is called without it,
 * or on another thread, or if nobody gets it for long. */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_EVENTS = 4096, MAX_BYTES = 128, MAX_QPS = 16, MAX_CQS = 4, RING = 4096, MAX_PENDING = 512 };

struct event {
	char name[32];
	uint64_t wr_id, wr_flags, nargs, args[5], nbytes;
	uint8_t bytes[MAX_BYTES];
};

struct lock {
	atomic_int held;
	pid_t owner;
};

struct row {
	uint64_t wr_id, ts, wallclock, tag;
	uint32_t status, opcode, vendor_err, byte_len, imm, qp_num, src_qp, wc_flags, slid, flow_tag, priv;
	uint16_t cvlan;
	uint8_t sl, dlid_path_bits;
};

struct cq {
	struct ibv_cq_ex ex;
	struct lock lock;
	struct row ring[RING];
	unsigned head, tail, current;
	int old;                            /* next_poll as in old releases of rxe */
};

struct pending {
	int opcode;
	uint64_t wr_id, flags, remote, result;
	uint32_t imm;
	uint8_t bytes[MAX_BYTES];
	uint64_t nbytes, into, length;
};

struct qp {
	struct ibv_qp_ex ex;
	void *later[4];                     /* what this header may not have yet: the struct grows at its end */
	struct lock lock;
	struct pending pending[MAX_PENDING];
	int begun;
};

struct extended {
	struct ibv_device device;
	struct ibv_context context;
	struct qp qps[MAX_QPS];
	struct cq cqs[MAX_CQS];

	/* the script */
	int result, set_errno;              /* of wr_complete */
	int start_result, next_result;      /* of start_poll, and of next_poll where there is more */
	int loop;                           /* moves data and completes, and writes nothing down */

	int events;
	struct event event[MAX_EVENTS];
};

static void die(const char *why)
{
	fprintf(stderr, "extended.c: %s\n", why);
	abort();
}

static pid_t self(void) { return (pid_t)syscall(SYS_gettid); }

static void acquire(struct lock *l)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned n = 1; atomic_exchange_explicit(&l->held, 1, memory_order_acquire); n++) {
		if (n % 1024)
			continue;
		/* A spin lock's owner may have to wait for this processor. */
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > 60)
			die("a lock was held for a minute: deadlock");
	}
	l->owner = self();
}

static void must_hold(struct lock *l, const char *who)
{
	if (!atomic_load_explicit(&l->held, memory_order_relaxed) || l->owner != self()) {
		fprintf(stderr, "%s: ", who);
		die("called without the lock");
	}
}

static void release(struct lock *l, const char *who)
{
	must_hold(l, who);
	l->owner = 0;
	atomic_store_explicit(&l->held, 0, memory_order_release);
}

static struct extended *of(struct ibv_context *context)
{
	return (struct extended *)((char *)context->device - offsetof(struct extended, device));
}

static struct qp *qp_of(struct ibv_qp_ex *ex) { return (struct qp *)ex; }

#define ARGS(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8
#define NO_ARGS NULL, 0

static void note(struct extended *p, const char *name, uint64_t wr_id, uint64_t wr_flags, const uint64_t *args, uint64_t nargs)
{
	if (p->loop)
		return;
	if (p->events == MAX_EVENTS)
		die("too many events");
	struct event *e = &p->event[p->events++];
	*e = (struct event){ .wr_id = wr_id, .wr_flags = wr_flags, .nargs = nargs };
	snprintf(e->name, sizeof(e->name), "%s", name);
	memcpy(e->args, args, nargs * sizeof(*args));
}

/* More of what was noted last. */
static void note_bytes(struct extended *p, const void *bytes, size_t n)
{
	if (p->loop || !n)
		return;
	struct event *e = &p->event[p->events - 1];
	if (e->nbytes + n > MAX_BYTES)
		die("too many bytes");
	memcpy(e->bytes + e->nbytes, bytes, n);
	e->nbytes += n;
}

static struct pending *begin(struct ibv_qp_ex *ex, const char *name, int opcode, uint64_t remote, uint32_t imm, const uint64_t *args, uint64_t nargs)
{
	struct qp *q = qp_of(ex);
	struct extended *p = of(ex->qp_base.context);

	must_hold(&q->lock, name);
	note(p, name, ex->wr_id, ex->wr_flags, args, nargs);
	if (!p->loop)
		return NULL;
	if (q->begun == MAX_PENDING)
		die("too many work requests");
	struct pending *w = &q->pending[q->begun++];
	*w = (struct pending){ .opcode = opcode, .wr_id = ex->wr_id, .flags = ex->wr_flags, .remote = remote, .imm = imm };
	return w;
}

static struct pending *set(struct ibv_qp_ex *ex, const char *name, const uint64_t *args, uint64_t nargs)
{
	struct qp *q = qp_of(ex);
	struct extended *p = of(ex->qp_base.context);

	must_hold(&q->lock, name);
	note(p, name, 0, 0, args, nargs);
	if (!p->loop)
		return NULL;
	if (!q->begun)
		die("a setter before anything was begun");
	return &q->pending[q->begun - 1];
}

static void wr_start(struct ibv_qp_ex *ex)
{
	acquire(&qp_of(ex)->lock);
	qp_of(ex)->begun = 0;
	note(of(ex->qp_base.context), "wr_start", 0, 0, NO_ARGS);
}

static void wr_send(struct ibv_qp_ex *ex) { begin(ex, "wr_send", IBV_WC_SEND, 0, 0, NO_ARGS); }
static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm) { begin(ex, "wr_send_imm", IBV_WC_SEND, 0, imm, ARGS(imm)); }
static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey) { begin(ex, "wr_send_inv", IBV_WC_SEND, 0, 0, ARGS(rkey)); }
static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey) { begin(ex, "wr_local_inv", IBV_WC_LOCAL_INV, 0, 0, ARGS(rkey)); }

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	begin(ex, "wr_rdma_read", IBV_WC_RDMA_READ, remote, 0, ARGS(rkey, remote));
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	begin(ex, "wr_rdma_write", IBV_WC_RDMA_WRITE, remote, 0, ARGS(rkey, remote));
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, __be32 imm)
{
	begin(ex, "wr_rdma_write_imm", IBV_WC_RDMA_WRITE, remote, imm, ARGS(rkey, remote, imm));
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, uint64_t compare, uint64_t swap)
{
	begin(ex, "wr_atomic_cmp_swp", IBV_WC_COMP_SWAP, remote, 0, ARGS(rkey, remote, compare, swap));
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, uint64_t add)
{
	begin(ex, "wr_atomic_fetch_add", IBV_WC_FETCH_ADD, remote, 0, ARGS(rkey, remote, add));
}

static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, const void *value)
{
	begin(ex, "wr_atomic_write", 9, remote, 0, ARGS(rkey, remote));
	note_bytes(of(ex->qp_base.context), value, 8);
}

static void wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, size_t length, uint8_t type, uint8_t level)
{
	begin(ex, "wr_flush", 8, remote, 0, ARGS(rkey, remote, length, type, level));
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	begin(ex, "wr_bind_mw", IBV_WC_BIND_MW, 0, 0, ARGS((uintptr_t)mw, rkey));
	note_bytes(of(ex->qp_base.context), ((uint64_t[]){ (uintptr_t)info->mr, info->addr, info->length, info->mw_access_flags }), 32);
}

static void wr_send_tso(struct ibv_qp_ex *ex, void *header, uint16_t length, uint16_t mss)
{
	begin(ex, "wr_send_tso", IBV_WC_TSO, 0, 0, ARGS(length, mss));
	note_bytes(of(ex->qp_base.context), header, length);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	set(ex, "wr_set_ud_addr", ARGS((uintptr_t)ah, qpn, qkey));
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t srqn) { set(ex, "wr_set_xrc_srqn", ARGS(srqn)); }

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct pending *w = set(ex, "wr_set_inline_data", ARGS(length));

	note_bytes(of(ex->qp_base.context), addr, length);
	if (!addr)
		die("inline data at NULL");
	if (w) {
		memcpy(w->bytes, addr, length);
		w->nbytes = length;
	}
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
	struct pending *w = set(ex, "wr_set_inline_data_list", ARGS(n));

	if (!list)
		die("a list at NULL");
	for (size_t i = 0; i < n; i++) {
		note_bytes(of(ex->qp_base.context), list[i].addr, list[i].length);
		if (w) {
			memcpy(w->bytes + w->nbytes, list[i].addr, list[i].length);
			w->nbytes += list[i].length;
		}
	}
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct pending *w = set(ex, "wr_set_sge", ARGS(lkey, addr, length));

	if (w) {
		w->into = addr;
		w->length = length;
	}
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct pending *w = set(ex, "wr_set_sge_list", ARGS(n));

	if (!list)
		die("a list at NULL");
	note_bytes(of(ex->qp_base.context), list, n * sizeof(*list));
	if (w && n) {
		w->into = list[0].addr;
		w->length = list[0].length;
	}
}

static void give(struct cq *c, const struct row *row)
{
	if (c->head - c->tail == RING)
		die("a completion queue overran");
	c->ring[c->head++ % RING] = *row;
}

static void carry_out(struct qp *q, const struct pending *w)
{
	struct cq *c = (struct cq *)q->ex.qp_base.send_cq;
	uint64_t before;

	switch (w->opcode) {
	case IBV_WC_RDMA_WRITE:
		if (w->nbytes)
			memcpy((void *)(uintptr_t)w->remote, w->bytes, w->nbytes);
		else
			memcpy((void *)(uintptr_t)w->remote, (void *)(uintptr_t)w->into, w->length);
		break;
	case IBV_WC_RDMA_READ:
		memcpy((void *)(uintptr_t)w->into, (void *)(uintptr_t)w->remote, w->length);
		break;
	case IBV_WC_FETCH_ADD:
		before = atomic_fetch_add((_Atomic uint64_t *)(uintptr_t)w->remote, 1);
		memcpy((void *)(uintptr_t)w->into, &before, sizeof(before));
		break;
	}
	if (!(w->flags & IBV_SEND_SIGNALED))
		return;
	acquire(&c->lock);
	give(c, &(struct row){ .wr_id = w->wr_id, .opcode = (uint32_t)w->opcode, .byte_len = (uint32_t)w->length, .qp_num = q->ex.qp_base.qp_num, .imm = w->imm });
	release(&c->lock, "give");
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct qp *q = qp_of(ex);
	struct extended *p = of(ex->qp_base.context);

	must_hold(&q->lock, "wr_complete");
	note(p, "wr_complete", 0, 0, NO_ARGS);
	if (p->loop)
		for (int i = 0; i < q->begun; i++)
			carry_out(q, &q->pending[i]);
	release(&q->lock, "wr_complete");
	errno = p->set_errno;
	return p->result;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	note(of(ex->qp_base.context), "wr_abort", 0, 0, NO_ARGS);
	release(&qp_of(ex)->lock, "wr_abort");
}

/* The operations that this header may not have yet, by where their slots are. */
void extended_later(struct ibv_qp_ex *ex, size_t atomic_write, size_t flush)
{
	if (atomic_write)
		*(void **)((char *)ex + atomic_write) = (void *)wr_atomic_write;
	if (flush)
		*(void **)((char *)ex + flush) = (void *)wr_flush;
}

/* What is left over where an operation was not asked for, or came later. */
static void trap(void) { die("a function was called that the queue pair was not created for"); }

/* The classic post has the same lock. */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct qp *q = (struct qp *)qp;

	(void)bad;
	acquire(&q->lock);
	for (; wr; wr = wr->next)
		carry_out(q, &(struct pending){ .opcode = IBV_WC_RDMA_WRITE, .wr_id = wr->wr_id, .flags = wr->send_flags,
			.remote = wr->wr.rdma.remote_addr, .into = wr->sg_list->addr, .length = wr->sg_list->length });
	release(&q->lock, "post_send");
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct cq *c = (struct cq *)cq;
	int i = 0;

	acquire(&c->lock);
	for (; i < n && c->tail != c->head; i++, c->tail++) {
		struct row *row = &c->ring[c->tail % RING];
		wc[i] = (struct ibv_wc){ .wr_id = row->wr_id, .status = (enum ibv_wc_status)row->status, .opcode = (enum ibv_wc_opcode)row->opcode, .qp_num = row->qp_num };
	}
	release(&c->lock, "poll_cq");
	return i;
}

static struct row *current(struct ibv_cq_ex *ex, const char *who)
{
	struct cq *c = (struct cq *)ex;

	must_hold(&c->lock, who);
	note(of(ex->context), who, 0, 0, NO_ARGS);
	return &c->ring[c->current % RING];
}

static void show(struct cq *c)
{
	c->ex.wr_id = c->ring[c->current % RING].wr_id;
	c->ex.status = (enum ibv_wc_status)c->ring[c->current % RING].status;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct cq *c = (struct cq *)ex;
	struct extended *p = of(ex->context);

	if (attr->comp_mask)
		die("start_poll with a comp_mask");
	acquire(&c->lock);
	note(p, "start_poll", 0, 0, NO_ARGS);
	errno = p->set_errno;
	c->current = c->tail;
	if (p->start_result || c->tail == c->head) {
		release(&c->lock, "start_poll");
		return p->start_result ? p->start_result : ENOENT;
	}
	show(c);
	return 0;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	struct cq *c = (struct cq *)ex;
	struct extended *p = of(ex->context);

	must_hold(&c->lock, "next_poll");
	note(p, "next_poll", 0, 0, NO_ARGS);
	errno = p->set_errno;
	if (p->next_result)
		return p->next_result;
	if (c->current + 1 == c->head) {
		if (c->old) {
			c->tail = c->head;
			release(&c->lock, "next_poll"); /* which end_poll would do once more */
		}
		return ENOENT;
	}
	c->current++;
	show(c);
	return 0;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	struct cq *c = (struct cq *)ex;

	note(of(ex->context), "end_poll", 0, 0, NO_ARGS);
	c->tail = c->current + 1;
	release(&c->lock, "end_poll");
}

/* The result is as wide as the header says, and the register is not. */
#define READ(field, bits) \
static uint64_t read_##field(struct ibv_cq_ex *ex) { return (uint64_t)current(ex, "read_" #field)->field | (bits == 64 ? 0 : 0xa5a5a5a5a5a5a5a5u << (bits & 63)); }

READ(opcode, 32)
READ(vendor_err, 32)
READ(byte_len, 32)
READ(imm, 32)
READ(qp_num, 32)
READ(src_qp, 32)
READ(wc_flags, 32)
READ(slid, 32)
READ(sl, 8)
READ(dlid_path_bits, 8)
READ(ts, 64)
READ(wallclock, 64)
READ(cvlan, 16)
READ(flow_tag, 32)

static void read_tm_info(struct ibv_cq_ex *ex, struct ibv_wc_tm_info *info)
{
	struct row *row = current(ex, "read_tm_info");

	info->tag = row->tag;
	info->priv = row->priv;
}

struct extended *extended_new(void)
{
	struct extended *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	strcpy(p->device.name, "extended0");
	p->context.device = &p->device;
	p->context.ops.post_send = post_send;
	p->context.ops.poll_cq = poll_cq;
	return p;
}

struct ibv_context *extended_context(struct extended *p) { return &p->context; }

#define OP(flag, slot, fn) q->ex.slot = flags & flag ? fn : (__typeof__(q->ex.slot))(void *)(poison ? trap : NULL)

/* A queue pair, as ibv_create_qp_ex makes it; poison leaves something where there
 * is no operation. */
struct ibv_qp_ex *extended_qp(struct extended *p, int i, int type, uint64_t flags, int poison, struct ibv_cq *cq)
{
	struct qp *q = &p->qps[i];

	memset(q, 0, sizeof(*q));
	q->ex.qp_base = (struct ibv_qp){ .context = &p->context, .qp_type = (enum ibv_qp_type)type, .qp_num = 0x100u + (unsigned)i, .state = IBV_QPS_RTS, .send_cq = cq };
	OP(IBV_QP_EX_WITH_SEND, wr_send, wr_send);
	OP(IBV_QP_EX_WITH_SEND_WITH_IMM, wr_send_imm, wr_send_imm);
	OP(IBV_QP_EX_WITH_SEND_WITH_INV, wr_send_inv, wr_send_inv);
	OP(IBV_QP_EX_WITH_LOCAL_INV, wr_local_inv, wr_local_inv);
	OP(IBV_QP_EX_WITH_RDMA_READ, wr_rdma_read, wr_rdma_read);
	OP(IBV_QP_EX_WITH_RDMA_WRITE, wr_rdma_write, wr_rdma_write);
	OP(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, wr_rdma_write_imm, wr_rdma_write_imm);
	OP(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, wr_atomic_cmp_swp, wr_atomic_cmp_swp);
	OP(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, wr_atomic_fetch_add, wr_atomic_fetch_add);
	OP(IBV_QP_EX_WITH_BIND_MW, wr_bind_mw, wr_bind_mw);
	OP(IBV_QP_EX_WITH_TSO, wr_send_tso, wr_send_tso);
	q->ex.wr_set_ud_addr = type == IBV_QPT_RC ? NULL : wr_set_ud_addr;
	q->ex.wr_set_xrc_srqn = type == IBV_QPT_RC ? NULL : wr_set_xrc_srqn;
	q->ex.wr_set_inline_data = wr_set_inline_data;
	q->ex.wr_set_inline_data_list = wr_set_inline_data_list;
	q->ex.wr_set_sge = wr_set_sge;
	q->ex.wr_set_sge_list = wr_set_sge_list;
	q->ex.wr_start = wr_start;
	q->ex.wr_complete = wr_complete;
	q->ex.wr_abort = wr_abort;
	for (int k = 0; k < 4; k++)
		q->later[k] = poison ? (void *)trap : NULL;
	return &q->ex;
}

#define ALWAYS (1ull << 63)
#define FIELD(flag, slot, field) if (flags & flag) c->ex.slot = (__typeof__(c->ex.slot))(void *)read_##field

/* A completion queue, as ibv_create_cq_ex makes it. */
struct ibv_cq_ex *extended_cq(struct extended *p, int i, uint64_t flags, int old)
{
	struct cq *c = &p->cqs[i];

	memset(c, 0, sizeof(*c));
	flags |= ALWAYS;
	c->ex.context = &p->context;
	c->ex.cqe = RING;
	c->ex.handle = 0x20u + (unsigned)i;
	c->old = old;
	c->ex.start_poll = start_poll;
	c->ex.next_poll = next_poll;
	c->ex.end_poll = end_poll;
	FIELD(ALWAYS, read_opcode, opcode);
	FIELD(ALWAYS, read_vendor_err, vendor_err);
	FIELD(ALWAYS, read_wc_flags, wc_flags);
	FIELD(IBV_WC_EX_WITH_BYTE_LEN, read_byte_len, byte_len);
	FIELD(IBV_WC_EX_WITH_IMM, read_imm_data, imm);
	FIELD(IBV_WC_EX_WITH_QP_NUM, read_qp_num, qp_num);
	FIELD(IBV_WC_EX_WITH_SRC_QP, read_src_qp, src_qp);
	FIELD(IBV_WC_EX_WITH_SLID, read_slid, slid);
	FIELD(IBV_WC_EX_WITH_SL, read_sl, sl);
	FIELD(IBV_WC_EX_WITH_DLID_PATH_BITS, read_dlid_path_bits, dlid_path_bits);
	FIELD(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, read_completion_ts, ts);
	FIELD(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, read_completion_wallclock_ns, wallclock);
	FIELD(IBV_WC_EX_WITH_CVLAN, read_cvlan, cvlan);
	FIELD(IBV_WC_EX_WITH_FLOW_TAG, read_flow_tag, flow_tag);
	FIELD(IBV_WC_EX_WITH_TM_INFO, read_tm_info, tm_info);
	return &c->ex;
}

void extended_script(struct extended *p, int result, int set_errno, int start_result, int next_result, int loop)
{
	p->result = result;
	p->set_errno = set_errno;
	p->start_result = start_result;
	p->next_result = next_result;
	p->loop = loop;
	p->events = 0;
}

/* n completions, numbered from first on, each field of each with a value of its
 * own; every third one has failed if some are to. */
void extended_give(struct extended *p, int i, int n, int first, int some_fail)
{
	for (int k = first; k < first + n; k++) {
		uint32_t u = (uint32_t)k;
		give(&p->cqs[i], &(struct row){
			.wr_id = 0x1122334455667700u + u, .status = some_fail && k % 3 == 2 ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_SUCCESS,
			.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .vendor_err = 0x81000000 + u, .byte_len = 0x82000000 + u, .imm = htobe32(0x83000000 + u),
			.qp_num = 0x840000 + u, .src_qp = 0x850000 + u, .wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM, .slid = 0x86000000 + u,
			.sl = (uint8_t)(0x80 + u), .dlid_path_bits = (uint8_t)(0x90 + u), .ts = 0x8700000000000000u + u, .wallclock = 0x1800000000000000u + u,
			.cvlan = (uint16_t)(0x8900 + u), .flow_tag = 0x8a000000 + u, .tag = 0x8b00000000000000u + u, .priv = 0x8c000000 + u,
		});
	}
}

int extended_events(struct extended *p) { return p->events; }
struct event *extended_event(struct extended *p, int i) { return &p->event[i]; }
int extended_cq_left(struct extended *p, int i) { return (int)(p->cqs[i].head - p->cqs[i].tail); }
int extended_locked(struct extended *p)
{
	int n = 0;
	for (int i = 0; i < MAX_QPS; i++)
		n += p->qps[i].lock.held;
	for (int i = 0; i < MAX_CQS; i++)
		n += p->cqs[i].lock.held;
	return n;
}
