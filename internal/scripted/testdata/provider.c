/* A provider without a device, for tests. Its objects are
 * laid out by the C compiler from the real header, and it does what a script
 * says, so it can fail in every way that providers have. It writes down what it
 * was given, as C sees it.
 *
 * With OLD_LIBRARY it is also a small libibverbs of long ago. */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_SEEN = 256, MAX_SGE = 8, MAX_COMPLETIONS = 1024 };

/* What a post leaves in bad_wr. The numbers are known to provider.go. */
enum bad {
	BAD_UNTOUCHED,
	BAD_NULL,
	BAD_ELEMENT,       /* the work request bad_index of the list */
	BAD_INSIDE,        /* an address within that work request, not its start */
	BAD_OUTSIDE,       /* a work request of the provider's own */
	BAD_STALE,         /* the head of the list posted before this one */
};

struct seen {
	uint64_t address, next, sg_list;
	uint64_t wr_id, num_sge;
	uint64_t opcode, send_flags, imm;
	uint64_t remote_addr, rkey, compare_add, swap, atomic_rkey;
	uint64_t ah, remote_qpn, remote_qkey;
	struct ibv_sge sge[MAX_SGE];
};

struct provider {
	struct ibv_context *context;
	struct ibv_device device;
	struct ibv_qp qp, srq_qp;
	struct ibv_srq srq;
	struct ibv_cq cq, send_cq;
	struct ibv_pd pd;

	/* the script */
	int64_t room;       /* how many work requests are accepted; negative: all */
	int result, set_errno, bad, bad_index, completions;
	uint32_t max_send_wr, max_recv_wr, max_srq_wr;
	uint32_t max_send_sge, max_recv_sge, max_srq_sge;
	int sq_sig_all;
	uint32_t max_inline_data;
	int refused, refusal;   /* a verb of the old library, and what it returns */
	struct ibv_wc given[MAX_COMPLETIONS];
	unsigned gave, took;    /* how many of given there were, and were polled */
	unsigned echo;          /* if not 0, what is posted completes at once, with lengths below it */

	/* what happened */
	int64_t calls, accepted, polled, port, attr_len;
	int64_t regions, access;
	void *object, *bad_before, *previous, *list;
	struct seen seen[MAX_SEEN];
};

static struct ibv_recv_wr foreign_recv;
static struct ibv_send_wr foreign_send;

static struct provider *of(struct ibv_context *context)
{
	return (struct provider *)((char *)context->device - offsetof(struct provider, device));
}

static void see_sges(struct seen *s, const struct ibv_sge *list, int n)
{
	s->sg_list = (uintptr_t)list;
	s->num_sge = (uint64_t)(int64_t)n;
	for (int i = 0; i < n && i < MAX_SGE; i++)
		s->sge[i] = list[i];
}

static void see_recv(struct seen *s, const struct ibv_recv_wr *wr)
{
	*s = (struct seen){ .address = (uintptr_t)wr, .next = (uintptr_t)wr->next, .wr_id = wr->wr_id };
	see_sges(s, wr->sg_list, wr->num_sge);
}

static void see_send(struct seen *s, const struct ibv_send_wr *wr)
{
	*s = (struct seen){ .address = (uintptr_t)wr, .next = (uintptr_t)wr->next, .wr_id = wr->wr_id,
		.opcode = wr->opcode, .send_flags = wr->send_flags, .imm = wr->imm_data };
	switch (wr->opcode) {
	case IBV_WR_RDMA_READ:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		s->remote_addr = wr->wr.rdma.remote_addr;
		s->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		s->remote_addr = wr->wr.atomic.remote_addr;
		s->compare_add = wr->wr.atomic.compare_add;
		s->swap = wr->wr.atomic.swap;
		s->atomic_rkey = wr->wr.atomic.rkey;
		break;
	default:
		s->ah = (uintptr_t)wr->wr.ud.ah;
		s->remote_qpn = wr->wr.ud.remote_qpn;
		s->remote_qkey = wr->wr.ud.remote_qkey;
	}
	see_sges(s, wr->sg_list, wr->num_sge);
}

/* Puts a completion behind those that were not polled yet. */
static void give(struct provider *p, uint64_t wr_id, int status, int opcode, uint32_t byte_len, uint32_t qp_num)
{
	if (p->gave - p->took == MAX_COMPLETIONS)
		abort();
	p->given[p->gave++ % MAX_COMPLETIONS] = (struct ibv_wc){
		.wr_id = wr_id, .status = (enum ibv_wc_status)status, .opcode = (enum ibv_wc_opcode)opcode,
		.vendor_err = 0x17, .byte_len = byte_len, .qp_num = qp_num,
	};
}

/* The three posts differ in their types only. */
#define POST(name, object_type, wr_type, see, foreign) \
static int name(struct object_type *object, struct wr_type *list, struct wr_type **bad) \
{ \
	struct provider *p = of(object->context); \
	struct wr_type *element = NULL, *wr = list; \
	p->calls++; \
	p->object = object; \
	p->bad_before = *bad; \
	p->accepted = 0; \
	for (int64_t i = 0; wr && (p->room < 0 || i < p->room); i++, wr = wr->next) { \
		if (i < MAX_SEEN) \
			see(&p->seen[i], wr); \
		p->accepted++; \
		if (p->echo) \
			give(p, wr->wr_id, IBV_WC_SUCCESS, IBV_WC_RECV, p->gave % p->echo, p->qp.qp_num); \
	} \
	element = list; \
	for (int i = 0; element && i < p->bad_index; i++) \
		element = element->next; \
	switch ((enum bad)p->bad) { \
	case BAD_UNTOUCHED: break; \
	case BAD_NULL: *bad = NULL; break; \
	case BAD_ELEMENT: *bad = element; break; \
	case BAD_INSIDE: *bad = (struct wr_type *)((char *)element + 8); break; \
	case BAD_OUTSIDE: *bad = &foreign; break; \
	case BAD_STALE: *bad = p->previous; break; \
	} \
	p->previous = list; \
	errno = p->set_errno; \
	return p->result; \
}

POST(post_recv, ibv_qp, ibv_recv_wr, see_recv, foreign_recv)
POST(post_srq_recv, ibv_srq, ibv_recv_wr, see_recv, foreign_recv)
POST(post_send, ibv_qp, ibv_send_wr, see_send, foreign_send)

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct provider *p = of(cq->context);

	p->calls++;
	p->object = cq;
	p->list = wc;
	p->polled = n;
	errno = p->set_errno;
	if (p->result)
		return p->result;
	if (p->took < p->gave) {
		int i = 0;
		while (i < n && p->took < p->gave)
			wc[i++] = p->given[p->took++ % MAX_COMPLETIONS];
		return i;
	}
	if (n > p->completions)
		n = p->completions;
	for (int i = 0; i < n; i++) {
		/* Field by field, as providers do: what is between them stays. */
		wc[i].wr_id = 0x1122334455667700 + (unsigned)i;
		wc[i].status = IBV_WC_REM_OP_ERR;
		wc[i].opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		wc[i].vendor_err = 0x21222324;
		wc[i].byte_len = 0x31323334;
		wc[i].imm_data = htobe32(0x41424344);
		wc[i].qp_num = 0x515253;
		wc[i].src_qp = 0x616263;
		wc[i].wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM;
		wc[i].pkey_index = 0x7172;
		wc[i].slid = 0x8182;
		wc[i].sl = 0x91;
		wc[i].dlid_path_bits = 0xa1;
	}
	return n;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t attr_len)
{
	struct provider *p = of(context);

	p->calls++;
	p->port = port;
	p->attr_len = (int64_t)attr_len;
	errno = p->set_errno;
	if (p->result)
		return p->result;
	attr->state = port == 2 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	attr->gid_tbl_len = 0x11121314;
	attr->max_msg_sz = 0x21222324;
	attr->pkey_tbl_len = 0x3132;
	attr->lid = 0x4142;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	attr->active_speed = 0x51;
	attr->phys_state = 0x61;
	attr->port_cap_flags2 = 0x7172;
	return 0;
}

/* What a post costs in a provider that keeps its queue in memory shared with
 * the kernel, as Soft-RoCE does: a lock, and per work request a check that there
 * is room, a check of the entries, a copy, and a published producer index. The
 * device is thought to take everything before the next post. */
enum { SLOTS = 1024 };

struct slot {
	uint64_t wr_id;
	uint32_t num_sge, length;
	struct ibv_sge sge[MAX_SGE];
};

static struct {
	atomic_int lock;
	_Atomic uint32_t producer, consumer;
	struct slot slots[SLOTS];
} queue;

static int post_queue(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int result = 0;

	if (!qp->context) {
		*bad = NULL;
		return EINVAL;
	}
	while (atomic_exchange_explicit(&queue.lock, 1, memory_order_acquire))
		;
	atomic_store_explicit(&queue.consumer, atomic_load_explicit(&queue.producer, memory_order_relaxed), memory_order_relaxed);
	for (; wr; wr = wr->next) {
		uint32_t at = atomic_load_explicit(&queue.producer, memory_order_relaxed);
		struct slot *slot = &queue.slots[at % SLOTS];

		if (at - atomic_load_explicit(&queue.consumer, memory_order_acquire) == SLOTS)
			result = ENOMEM;
		else if (wr->num_sge > MAX_SGE)
			result = EINVAL;
		if (result) {
			*bad = wr;
			break;
		}
		slot->wr_id = wr->wr_id;
		slot->num_sge = (uint32_t)wr->num_sge;
		slot->length = 0;
		for (int i = 0; i < wr->num_sge; i++) {
			slot->sge[i] = wr->sg_list[i];
			slot->length += wr->sg_list[i].length;
		}
		atomic_store_explicit(&queue.producer, at + 1, memory_order_release);
	}
	atomic_store_explicit(&queue.lock, 0, memory_order_release);
	return result;
}

static int poll_nothing(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq, (void)n, (void)wc;
	return 0;
}

/* A provider whose verbs_context is only its last size bytes, as a library has
 * it that knows fewer operations; in front of them is memory that faults. 0 is
 * all of it, and -1 a context that is not extended. NULL says that there is no
 * memory. */
struct provider *provider_new(long size)
{
	struct provider *p = calloc(1, sizeof(*p));
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t whole = sizeof(struct verbs_context), have = whole;
	size_t half = (whole + page - 1) / page * page;

	if (size > 0)
		have = (size_t)size;
	else if (size < 0)
		have = sizeof(struct ibv_context);
	char *memory = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!p || memory == MAP_FAILED || mprotect(memory, half, PROT_NONE))
		return NULL;
	struct verbs_context *extended = (struct verbs_context *)(memory + half + have - whole);
	p->context = &extended->context;
	if (have >= whole - offsetof(struct verbs_context, query_port))
		extended->query_port = query_port;
	if (size >= 0) {
		extended->sz = have;
		p->context->abi_compat = (void *)(uintptr_t)-1;
	}
	p->context->device = &p->device;
	p->context->ops.post_recv = post_recv;
	p->context->ops.post_send = post_send;
	p->context->ops.post_srq_recv = post_srq_recv;
	p->context->ops.poll_cq = poll_cq;
	strcpy(p->device.name, "scripted0");
	p->qp.context = p->srq_qp.context = p->srq.context = p->cq.context = p->context;
	p->send_cq.context = p->pd.context = p->context;
	p->qp.pd = p->srq_qp.pd = p->srq.pd = &p->pd;
	p->qp.send_cq = p->srq_qp.send_cq = &p->send_cq;
	p->qp.recv_cq = p->srq_qp.recv_cq = &p->cq;
	p->qp.qp_num = 0x11;
	p->srq_qp.srq = &p->srq;
	return p;
}

/* Sizes of verbs_contexts: one that ends in front of query_port, and the one
 * with nothing but the context. */
int provider_short_size(void) { return (int)(sizeof(struct verbs_context) - offsetof(struct verbs_context, query_port) - sizeof(void *)); }
int provider_smallest_size(void) { return (int)(sizeof(struct verbs_context) - offsetof(struct verbs_context, sz)); }
int provider_port_attr_size(void) { return (int)sizeof(struct ibv_port_attr); }

struct ibv_context *provider_context(struct provider *p) { return p->context; }
struct ibv_qp *provider_qp(struct provider *p) { return &p->qp; }
struct ibv_qp *provider_srq_qp(struct provider *p) { return &p->srq_qp; }
struct ibv_srq *provider_srq(struct provider *p) { return &p->srq; }
struct ibv_cq *provider_cq(struct provider *p) { return &p->cq; }
struct ibv_cq *provider_send_cq(struct provider *p) { return &p->send_cq; }

void provider_script(struct provider *p, long room, int result, int set_errno, int bad, int bad_index, int completions)
{
	p->room = room;
	p->result = result;
	p->set_errno = set_errno;
	p->bad = bad;
	p->bad_index = bad_index;
	p->completions = completions;
	p->calls = p->accepted = p->polled = p->port = p->attr_len = 0;
	p->object = p->bad_before = p->list = NULL;
	memset(p->seen, 0, sizeof(p->seen));
}

/* What the queues have room for, and whether all sends are signalled. */
void provider_sizes(struct provider *p, int cqe, uint32_t max_send_wr, uint32_t max_recv_wr, uint32_t max_srq_wr, int sq_sig_all)
{
	p->cq.cqe = p->send_cq.cqe = cqe;
	p->max_send_wr = max_send_wr;
	p->max_recv_wr = max_recv_wr;
	p->max_srq_wr = max_srq_wr;
	p->sq_sig_all = sq_sig_all;
}

/* How many entries their work requests have room for. */
void provider_entries(struct provider *p, uint32_t max_send_sge, uint32_t max_recv_sge, uint32_t max_srq_sge)
{
	p->max_send_sge = max_send_sge;
	p->max_recv_sge = max_recv_sge;
	p->max_srq_sge = max_srq_sge;
}

/* How much their sends have room for inline. */
void provider_inline(struct provider *p, uint32_t max_inline_data) { p->max_inline_data = max_inline_data; }

/* Has the queue pairs be of a type. */
void provider_type(struct provider *p, int type) { p->qp.qp_type = p->srq_qp.qp_type = (enum ibv_qp_type)type; }

/* Moves the queue pairs to a state. */
void provider_state(struct provider *p, int state) { p->qp.state = p->srq_qp.state = (enum ibv_qp_state)state; }

/* Makes one completion queue that of both directions. */
void provider_share_cq(struct provider *p) { p->srq_qp.send_cq = p->qp.send_cq = p->qp.recv_cq; }

/* Lets a verb of the old library fail; 0 is none. */
void provider_refuse(struct provider *p, int verb, int refusal)
{
	p->refused = verb;
	p->refusal = refusal;
}

void provider_complete(struct provider *p, uint64_t wr_id, int status, int opcode, uint32_t byte_len, uint32_t qp_num)
{
	give(p, wr_id, status, opcode, byte_len, qp_num);
}

/* Has each receive complete as soon as it is posted, with lengths from 0 on and
 * below echo, again and again; 0 is none. */
void provider_echo(struct provider *p, unsigned echo) { p->echo = echo; }

/* What a device does with a message: the memory must be there. */
void provider_write(struct provider *p, void *to, int byte, size_t length)
{
	(void)p;
	memset(to, byte, length);
}

/* Whether there is memory at an address that begins with a byte. */
int provider_holds(struct provider *p, void *address, unsigned char content)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)p;
	return !msync((void *)((uintptr_t)address / page * page), page, MS_ASYNC) && *(unsigned char *)address == content;
}

/* Makes the queues those of the benchmarks. */
void provider_measure(struct provider *p)
{
	p->context->ops.post_recv = post_queue;
	p->context->ops.poll_cq = poll_nothing;
}

void provider_no_query_port(struct provider *p)
{
	verbs_get_ctx(p->context)->query_port = NULL;
}

/* What the provider wrote down, in the order of provider.go's constants. */
uint64_t provider_saw(struct provider *p, int what)
{
	switch (what) {
	case 0: return (uint64_t)p->calls;
	case 1: return (uint64_t)p->accepted;
	case 2: return (uintptr_t)p->object;
	case 3: return (uintptr_t)p->bad_before;
	case 4: return (uint64_t)p->polled;
	case 5: return (uintptr_t)p->list;
	case 6: return (uint64_t)p->port;
	case 7: return (uint64_t)p->attr_len;
	case 8: return (uint64_t)p->regions;
	case 9: return (uint64_t)p->access;
	}
	abort();
}

/* Copies what it saw of work request i: the fields of struct seen up to its
 * entries, then three words for each entry. Returns how many words. */
int provider_saw_wr(struct provider *p, int i, uint64_t *words)
{
	struct seen *s = &p->seen[i];
	int n = offsetof(struct seen, sge) / sizeof(uint64_t);

	memcpy(words, s, offsetof(struct seen, sge));
	for (int e = 0; e < (int)s->num_sge && e < MAX_SGE; e++) {
		words[n++] = s->sge[e].addr;
		words[n++] = s->sge[e].length;
		words[n++] = s->sge[e].lkey;
	}
	return n;
}

/* The loops of the benchmarks, through the header's own inline functions. */
int provider_post_loop(struct ibv_qp *qp, struct ibv_recv_wr *list, long n)
{
	struct ibv_recv_wr *bad;
	int sum = 0;

	for (long i = 0; i < n; i++)
		sum |= ibv_post_recv(qp, list, &bad);
	return sum;
}

int provider_poll_loop(struct ibv_cq *cq, struct ibv_wc *wc, int entries, long n)
{
	int sum = 0;

	for (long i = 0; i < n; i++)
		sum |= ibv_poll_cq(cq, entries, wc);
	return sum;
}

#ifdef OLD_LIBRARY

static int devices_listed, lists_out, devices_open;

/* How many devices there are, 0 to 3, or minus the errno of listing them. */
void library_devices(int n) { devices_listed = n; }

/* How many lists and devices are not given back. */
int library_out(void) { return lists_out + devices_open; }

struct ibv_device **ibv_get_device_list(int *count)
{
	static struct provider *devices[3];

	if (devices_listed < 0) {
		errno = -devices_listed;
		return NULL;
	}
	struct ibv_device **list = calloc((size_t)devices_listed + 1, sizeof(*list));
	for (int i = 0; list && i < devices_listed; i++) {
		if (!devices[i])
			devices[i] = provider_new(0);
		devices[i]->device.name[strlen("scripted")] = (char)('0' + i);
		list[i] = &devices[i]->device;
	}
	*count = devices_listed;
	lists_out++;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	lists_out--;
	free(list);
}

/* The first device is somebody else's. */
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct provider *p = (struct provider *)((char *)device - offsetof(struct provider, device));

	if (!strcmp(device->name, "scripted0")) {
		errno = EACCES;
		return NULL;
	}
	devices_open++;
	return p->context;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	devices_open--;
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	attr->phys_port_cnt = 2;
	return 0;
}

/* The symbol knows the struct as it was before port_cap_flags2. */
#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr a = { 0 };
	int result = query_port(context, port, &a, offsetof(struct ibv_port_attr, port_cap_flags2));

	if (!result)
		memcpy(attr, &a, offsetof(struct ibv_port_attr, port_cap_flags2));
	return result;
}

/* The verbs that provider_refuse knows, by the numbers of provider.go. */
enum verb { QUERY_QP = 1, QUERY_SRQ, REG_MR, DEREG_MR };

static int refuses(struct provider *p, enum verb verb) { return p->refused == (int)verb ? p->refusal : 0; }

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct provider *p = of(qp->context);

	(void)attr, (void)mask;
	init->cap.max_send_wr = p->max_send_wr;
	init->cap.max_recv_wr = p->max_recv_wr;
	init->cap.max_send_sge = p->max_send_sge;
	init->cap.max_recv_sge = p->max_recv_sge;
	init->sq_sig_all = p->sq_sig_all;
	init->cap.max_inline_data = p->max_inline_data;
	return refuses(p, QUERY_QP);
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct provider *p = of(srq->context);

	attr->max_wr = p->max_srq_wr;
	attr->max_sge = p->max_srq_sge;
	return refuses(p, QUERY_SRQ);
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct provider *p = of(pd->context);
	struct ibv_mr *mr;

	p->list = addr;
	errno = refuses(p, REG_MR);
	if (errno)
		*(unsigned char *)addr = 1; /* for provider_holds */
	if (errno || !(mr = malloc(sizeof(*mr))))
		return NULL;
	*mr = (struct ibv_mr){ .context = p->context, .pd = pd, .addr = addr, .length = length, .lkey = 0x1234, .rkey = 0x5678 };
	p->access = access;
	p->regions++;
	return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct provider *p = of(mr->context);
	int refusal = refuses(p, DEREG_MR);

	if (refusal)
		return refusal;
	p->regions--;
	free(mr);
	return 0;
}

#endif

// What verbs.h calculates by itself.
uint32_t inline_inc_rkey(uint32_t rkey) { return ibv_inc_rkey(rkey); }
uint32_t inline_flow_label_to_udp_sport(uint32_t label) { return ibv_flow_label_to_udp_sport(label); }
uint32_t inline_is_qpt_supported(uint32_t set, enum ibv_qp_type type) { return ibv_is_qpt_supported(set, type); }
