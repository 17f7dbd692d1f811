/* The other side of the calls: plain C, so that what the tests expect comes from a C compiler. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* What a function of the post shape finds in its object, and what it is to do. */
struct script {
	int64_t result;   /* returned, cut to int */
	int64_t set_errno; /* stored in errno unless negative */
	void *set_bad;    /* stored through bad unless (void *)-1 */
	void *saw_object, *saw_list, *saw_bad_before;
	int64_t saw_n;
	int64_t saw_frame; /* its address, as aligned as the stack pointer */
	int64_t stack;    /* bytes of stack to use */
	int64_t sum;
};

/* Fills some of the stack and reads it back, so that no compiler takes it away. */
static int64_t use_stack(int64_t bytes)
{
	volatile char block[1024];
	for (int i = 0; i < (int)sizeof(block); i++)
		block[i] = (char)(bytes + i);
	int64_t sum = bytes > (int64_t)sizeof(block) ? use_stack(bytes - (int64_t)sizeof(block)) : 0;
	for (int i = 0; i < (int)sizeof(block); i++)
		sum += block[i] == (char)(bytes + i);
	return sum;
}

static int run(struct script *s)
{
	s->saw_frame = (int64_t)(uintptr_t)__builtin_frame_address(0);
	if (s->stack)
		s->sum = use_stack(s->stack);
	if (s->set_errno >= 0)
		errno = (int)s->set_errno;
	return (int)s->result;
}

int post_script(struct script *s, void *list, void **bad)
{
	s->saw_object = s;
	s->saw_list = list;
	s->saw_bad_before = *bad;
	if (s->set_bad != (void *)-1)
		*bad = s->set_bad;
	return run(s);
}

/* What an int is returned in has another half, which may hold anything. */
int64_t upper_half(int64_t *lower, void *list, void **bad)
{
	(void)list, (void)bad;
	return (int64_t)(0x5a5a5a5a00000000u | (uint32_t)*lower);
}

int poll_script(struct script *s, int n, void *wc)
{
	s->saw_object = s;
	s->saw_n = n;
	s->saw_list = wc;
	return run(s);
}

/*
 * Leaves no register alone that the convention lets it change, the vector registers included. Those that it has to keep
 * it uses too; the compiler puts them back.
 */
int post_clobber(int64_t *counter, void *list, void **bad)
{
	++*counter;
	*bad = list;
#define VECTORS(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13) op(14) op(15)
#define VECTORS16(op) op(16) op(17) op(18) op(19) op(20) op(21) op(22) op(23) op(24) op(25) op(26) op(27) op(28) op(29) \
	op(30) op(31)
#if defined(__x86_64__)
	__asm__ volatile(
		"mov $-1, %%rax\n mov %%rax, %%rcx\n mov %%rax, %%rdx\n mov %%rax, %%rsi\n mov %%rax, %%rdi\n"
		"mov %%rax, %%r8\n mov %%rax, %%r9\n mov %%rax, %%r10\n mov %%rax, %%r11\n"
		"mov %%rax, %%rbx\n mov %%rax, %%r12\n mov %%rax, %%r13\n mov %%rax, %%r14\n mov %%rax, %%r15\n"
		::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "rbx", "r12", "r13", "r14", "r15", "cc", "memory");
#define SSE(n) __asm__ volatile("pcmpeqd %%xmm" #n ", %%xmm" #n ::: "xmm" #n);
	VECTORS(SSE)
#define AVX(n) __asm__ volatile("vcmptrueps %%ymm" #n ", %%ymm" #n ", %%ymm" #n ::: "xmm" #n);
	if (__builtin_cpu_supports("avx")) { /* the upper halves, left as C never should */
		VECTORS(AVX)
	}
#elif defined(__aarch64__)
	__asm__ volatile(
		"mov x0, #-1\n mov x1, x0\n mov x2, x0\n mov x3, x0\n mov x4, x0\n mov x5, x0\n mov x6, x0\n mov x7, x0\n"
		"mov x8, x0\n mov x9, x0\n mov x10, x0\n mov x11, x0\n mov x12, x0\n mov x13, x0\n mov x14, x0\n mov x15, x0\n"
		"mov x16, x0\n mov x17, x0\n mov x19, x0\n mov x20, x0\n mov x21, x0\n mov x22, x0\n mov x23, x0\n mov x24, x0\n"
		"mov x25, x0\n mov x26, x0\n mov x27, x0\n mov x28, x0\n mov x30, x0\n"
		::: "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
		"x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "cc", "memory");
#define NEON(n) __asm__ volatile("movi v" #n ".16b, #255" ::: "v" #n);
	VECTORS(NEON)
	VECTORS16(NEON)
#elif defined(__riscv)
	__asm__ volatile(
		"li ra, -1\n mv t0, ra\n mv t1, ra\n mv t2, ra\n mv t3, ra\n mv t4, ra\n mv t5, ra\n mv t6, ra\n"
		"mv a0, ra\n mv a1, ra\n mv a2, ra\n mv a3, ra\n mv a4, ra\n mv a5, ra\n mv a6, ra\n mv a7, ra\n"
		"mv s1, ra\n mv s2, ra\n mv s3, ra\n mv s4, ra\n mv s5, ra\n mv s6, ra\n mv s7, ra\n mv s8, ra\n mv s9, ra\n"
		"mv s10, ra\n mv s11, ra\n"
		::: "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
		"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "memory");
#define FLOAT(n) __asm__ volatile("fmv.d.x f" #n ", %0" :: "r"(-1L) : "f" #n);
	VECTORS(FLOAT)
	VECTORS16(FLOAT)
#elif defined(__loongarch_lp64)
	__asm__ volatile(
		"li.d $ra, -1\n move $a0, $ra\n move $a1, $ra\n move $a2, $ra\n move $a3, $ra\n move $a4, $ra\n move $a5, $ra\n"
		"move $a6, $ra\n move $a7, $ra\n move $t0, $ra\n move $t1, $ra\n move $t2, $ra\n move $t3, $ra\n move $t4, $ra\n"
		"move $t5, $ra\n move $t6, $ra\n move $t7, $ra\n move $t8, $ra\n move $fp, $ra\n move $s0, $ra\n move $s1, $ra\n"
		"move $s2, $ra\n move $s3, $ra\n move $s4, $ra\n move $s5, $ra\n move $s6, $ra\n move $s7, $ra\n move $s8, $ra\n"
		::: "$ra", "$a0", "$a1", "$a2", "$a3", "$a4", "$a5", "$a6", "$a7", "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6",
		"$t7", "$t8", "$fp", "$s0", "$s1", "$s2", "$s3", "$s4", "$s5", "$s6", "$s7", "$s8", "$fcc0", "$fcc1", "$fcc2",
		"$fcc3", "$fcc4", "$fcc5", "$fcc6", "$fcc7", "memory");
#define FLOAT(n) __asm__ volatile("movgr2fr.d $f" #n ", %0" :: "r"(-1L) : "$f" #n);
	VECTORS(FLOAT)
	VECTORS16(FLOAT)
#ifdef __loongarch_sx
#define LSX(n) __asm__ volatile("vseq.b $vr" #n ", $vr" #n ", $vr" #n ::: "$f" #n);
	VECTORS(LSX)
	VECTORS16(LSX)
#endif
#elif defined(__powerpc64__)
	__asm__ volatile(
		"li 0, -1\n mr 3, 0\n mr 4, 0\n mr 5, 0\n mr 6, 0\n mr 7, 0\n mr 8, 0\n mr 9, 0\n mr 10, 0\n mr 11, 0\n"
		"mr 12, 0\n mr 14, 0\n mr 15, 0\n mr 16, 0\n mr 17, 0\n mr 18, 0\n mr 19, 0\n mr 20, 0\n mr 21, 0\n mr 22, 0\n"
		"mr 23, 0\n mr 24, 0\n mr 25, 0\n mr 26, 0\n mr 27, 0\n mr 28, 0\n mr 29, 0\n mr 30, 0\n mtlr 0\n mtctr 0\n"
		"mtcr 0\n"
		::: "0", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "14", "15", "16", "17", "18", "19", "20", "21", "22",
		"23", "24", "25", "26", "27", "28", "29", "30", "lr", "ctr", "cr0", "cr1", "cr2", "cr3", "cr4", "cr5", "cr6", "cr7",
		"memory");
#define ALTIVEC(n) __asm__ volatile("vspltisw " #n ", -1" ::: "v" #n);
	VECTORS(ALTIVEC)
	VECTORS16(ALTIVEC)
#define FLOAT(n) __asm__ volatile("fmr " #n ", %0" :: "f"(-1.0) : "fr" #n);
	VECTORS(FLOAT)
	VECTORS16(FLOAT)
#elif defined(__s390x__)
	__asm__ volatile(
		"lghi %%r0, -1\n lgr %%r1, %%r0\n lgr %%r2, %%r0\n lgr %%r3, %%r0\n lgr %%r4, %%r0\n lgr %%r5, %%r0\n"
		"lgr %%r6, %%r0\n lgr %%r7, %%r0\n lgr %%r8, %%r0\n lgr %%r9, %%r0\n lgr %%r10, %%r0\n lgr %%r13, %%r0\n"
		"lgr %%r14, %%r0\n"
		::: "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r13", "r14", "cc", "memory");
#define FLOAT(n) __asm__ volatile("ldgr %%f" #n ", %0" :: "r"(-1L) : "f" #n);
	VECTORS(FLOAT)
#endif
	return 0;
}

/* Raises the signal *object in this thread, which has handled it when raise returns. */
int post_raise(int64_t *signal, void *list, void **bad)
{
	*bad = list;
	return raise((int)*signal);
}

/* Runs for *object nanoseconds, in C only. */
int post_spin(int64_t *nanoseconds, void *list, void **bad)
{
	struct timespec now, start;
	(void)list;
	(void)bad;
	clock_gettime(CLOCK_MONOTONIC, &start);
	volatile uint64_t work = 0;
	do {
		for (int i = 0; i < 1000; i++)
			work += (uint64_t)i;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec - start.tv_nsec < *nanoseconds);
	return 0;
}

int post_fault(void *object, void *list, void **bad)
{
	(void)object;
	(void)bad;
	return *(volatile int *)list;
}

int post_abort(void *object, void *list, void **bad)
{
	(void)object;
	(void)list;
	(void)bad;
	abort();
}

/* A call as its function saw it: whole numbers, by position. */
struct seen {
	int64_t what;
	uint64_t wr_id, wr_flags, args[6];
	uint64_t thread;
};

enum { START, COMPLETE, OP, ADDRESS, DATA, ATOMIC, NEXT, END, SEEN = 40 };

static uint64_t thread(void)
{
	static _Thread_local char here;
	return (uint64_t)(uintptr_t)&here;
}

static void lock(int64_t *held)
{
	while (__atomic_exchange_n(held, 1, __ATOMIC_ACQUIRE))
		;
}

/* What calls are played on: struct ibv_qp_ex's two words, and what became of them. Held from start to complete. */
struct object {
	uint64_t wr_id;
	unsigned int wr_flags, behind;
	int64_t held, result, set_errno, n;
	struct seen seen[SEEN];
};

static void see(struct object *o, int64_t what, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	if (o->n < SEEN)
		o->seen[o->n] = (struct seen){what, o->wr_id, o->wr_flags, {(uint64_t)(uintptr_t)o, a, b, c, d, e}, thread()};
	o->n++;
}

void object_start(struct object *o)
{
	lock(&o->held);
	see(o, START, 0, 0, 0, 0, 0);
}

int object_complete(struct object *o)
{
	int result = (int)o->result;

	see(o, COMPLETE, 0, 0, 0, 0, 0);
	if (o->set_errno >= 0)
		errno = (int)o->set_errno;
	__atomic_store_n(&o->held, 0, __ATOMIC_RELEASE);
	return result;
}

/* As the widest of the operations, wr_flush. */
void object_op(struct object *o, uint32_t a, uint64_t b, size_t c, uint8_t d, uint8_t e) { see(o, OP, a, b, c, d, e); }
void object_atomic(struct object *o, uint32_t a, uint64_t b, uint64_t c, uint64_t d) { see(o, ATOMIC, a, b, c, d, 0); }
void object_address(struct object *o, void *a, uint32_t b, uint32_t c) { see(o, ADDRESS, (uintptr_t)a, b, c, 0, 0); }
void object_data(struct object *o, uint32_t a, uint64_t b, uint32_t c) { see(o, DATA, a, b, c, 0, 0); }

/* Changes all registers, with -1 in the one that an int is returned in, where nothing is. */
int64_t object_clobber(void *o)
{
	static _Thread_local int64_t counter;
	void *bad;

	post_clobber(&counter, o, &bad);
	errno = 1;
	return -1;
}

/* Six arguments, each of which matters, and a result that fills its register. */
int64_t call_six(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f)
{
	return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
}

uint64_t call_unsigned(uint32_t a) { return (uint64_t)a + 1; }

int call_fails(int64_t set_errno)
{
	errno = (int)set_errno;
	return -1;
}

/* A completion queue: what struct ibv_cq_ex has of the current completion, and a script of how polls go. */
struct queue {
	uint32_t comp_mask, status;
	uint64_t wr_id;
	int64_t held, start_result, next_result, next_fails_at, set_errno, failed_at; /* status is 12 for that wr_id */
	int64_t next_ends, starts, nexts, ends, reads;
	uint64_t saw_attr, thread;
};

static void advance(struct queue *q)
{
	q->wr_id++;
	q->comp_mask = (uint32_t)q->wr_id + 7;
	q->status = (int64_t)q->wr_id == q->failed_at ? 12 : 0;
}

int queue_start(struct queue *q, void *attr)
{
	lock(&q->held);
	q->starts++;
	q->saw_attr = (uint64_t)(uintptr_t)attr;
	q->thread = thread();
	if (q->start_result) {
		errno = (int)q->set_errno;
		__atomic_store_n(&q->held, 0, __ATOMIC_RELEASE);
		return (int)q->start_result;
	}
	if ((int64_t)q->wr_id == q->next_fails_at) { /* there are no more */
		__atomic_store_n(&q->held, 0, __ATOMIC_RELEASE);
		return ENOENT;
	}
	advance(q);
	return 0;
}

void queue_end(struct queue *q)
{
	q->ends++;
	if (q->thread != thread())
		q->ends += 1000;
	__atomic_store_n(&q->held, 0, __ATOMIC_RELEASE);
}

int queue_next(struct queue *q)
{
	q->nexts++;
	if ((int64_t)q->wr_id == q->next_fails_at) {
		if (q->next_ends)
			queue_end(q);
		errno = (int)q->set_errno;
		return (int)q->next_result;
	}
	advance(q);
	return 0;
}

uint64_t queue_read_wide(struct queue *q) { return q->reads++, q->wr_id << 40 | q->wr_id; }
uint32_t queue_read_number(struct queue *q) { return q->reads++, ~(uint32_t)q->wr_id; }
uint8_t queue_read_byte(struct queue *q) { return q->reads++, (uint8_t)(q->wr_id + 3); }
void queue_read_record(struct queue *q, uint64_t *into) { q->reads++, into[0] = q->wr_id * 3, into[1] = (uint64_t)(uintptr_t)q; }
int64_t queue_read_clobber(struct queue *q) { return q->reads++, object_clobber(q); }

int post_empty(void *object, void *list, void **bad)
{
	(void)object;
	(void)list;
	(void)bad;
	return 0;
}

/* What a C program pays: the same call through a pointer, n times. */
int bench_loop(int (*volatile *fn)(void *, void *, void **), int64_t n, void *list)
{
	int sum = 0;
	for (int64_t i = 0; i < n; i++) {
		void *bad;
		sum += (*fn)(0, list, &bad);
	}
	return sum;
}

/* The smallest that a provider can do for a batch of writes and for an extended poll, and the loops of a C program. */
struct bench {
	uint64_t wr_id;
	unsigned int wr_flags, behind;
	int64_t held;
	uint64_t sink[8], tail;
	int (*start)(struct bench *);
	void (*write)(struct bench *, uint32_t, uint64_t);
	void (*set_sge)(struct bench *, uint32_t, uint64_t, uint32_t);
	int (*complete)(struct bench *);
	int (*next)(struct bench *);
	void (*end)(struct bench *);
	uint64_t (*read)(struct bench *);
	uint64_t left;
};

static int bench_start(struct bench *b) { return lock(&b->held), 0; }

static void bench_write(struct bench *b, uint32_t rkey, uint64_t addr)
{
	uint64_t *slot = &b->sink[b->tail++ & 3];
	slot[0] = b->wr_id, slot[1] = rkey + b->wr_flags, slot[2] = addr;
}

static void bench_set_sge(struct bench *b, uint32_t lkey, uint64_t addr, uint32_t length)
{
	uint64_t *slot = &b->sink[b->tail & 3];
	slot[3] = lkey, slot[4] = addr + length;
}

static int bench_complete(struct bench *b) { return __atomic_store_n(&b->held, 0, __ATOMIC_RELEASE), 0; }
static int bench_next(struct bench *b) { return b->wr_id++, 0; }
static void bench_end(struct bench *b) { __atomic_store_n(&b->held, 0, __ATOMIC_RELEASE); }
static uint64_t bench_read(struct bench *b) { return b->wr_id * 2; }

void bench_init(struct bench *b)
{
	b->start = bench_start, b->write = bench_write, b->set_sge = bench_set_sge, b->complete = bench_complete;
	b->next = bench_next, b->end = bench_end, b->read = bench_read;
}

int64_t bench_batches(struct bench *b, int64_t wrs, int64_t n)
{
	int64_t sum = 0;

	for (int64_t i = 0; i < n; i++) {
		b->start(b);
		for (int64_t k = 0; k < wrs; k++) {
			b->wr_id = (uint64_t)k, b->wr_flags = 2;
			b->write(b, 7, (uint64_t)k * 64);
			b->set_sge(b, 9, (uint64_t)k * 64, 64);
		}
		sum += b->complete(b);
	}
	return sum;
}

int64_t bench_polls(struct bench *b, int64_t wrs, int64_t n, uint64_t *into)
{
	for (int64_t i = 0; i < n; i++) {
		if (b->start(b))
			return 1;
		for (int64_t k = 0;;) {
			uint64_t *record = into + 4 * k;
			record[0] = *(uint64_t *)&b->wr_flags, record[1] = b->wr_id;
			record[2] = b->read(b), record[3] = b->read(b);
			if (++k == wrs || b->next(b))
				break;
		}
		b->end(b);
	}
	return 0;
}
