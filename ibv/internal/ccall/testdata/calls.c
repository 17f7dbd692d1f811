/* The other side of the calls: plain C, so that what the tests expect comes from a C compiler. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* What a function of the post shape finds in its object, and what it is to do. */
struct script {
	int64_t result;   /* returned, cut to int */
	int64_t set_errno; /* stored in errno unless negative */
	void *set_bad;    /* stored through bad unless (void *)-1 */
	void *saw_object, *saw_list, *saw_bad_before;
	int64_t saw_n;
	int64_t saw_misalignment;
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
	/* gcc aligns this with the stack pointer it was promised; the address tells whether the promise held. */
	_Alignas(16) volatile char aligned[16];
	s->saw_misalignment = (int64_t)((uintptr_t)__builtin_frame_address(0) % 16 + (uintptr_t)aligned % 16);
	aligned[0] = 0;
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

int poll_script(struct script *s, int n, void *wc)
{
	s->saw_object = s;
	s->saw_n = n;
	s->saw_list = wc;
	return run(s);
}

/* Leaves no register alone that the convention lets it change, the vector registers included. */
int post_clobber(int64_t *counter, void *list, void **bad)
{
	++*counter;
	*bad = list;
#if defined(__x86_64__)
	__asm__ volatile(
		"mov $-1, %%rax\n mov %%rax, %%rcx\n mov %%rax, %%rdx\n mov %%rax, %%rsi\n mov %%rax, %%rdi\n"
		"mov %%rax, %%r8\n mov %%rax, %%r9\n mov %%rax, %%r10\n mov %%rax, %%r11\n"
		"mov %%rax, %%rbx\n mov %%rax, %%r12\n mov %%rax, %%r13\n mov %%rax, %%r14\n mov %%rax, %%r15\n"
		"pcmpeqd %%xmm0, %%xmm0\n pcmpeqd %%xmm1, %%xmm1\n pcmpeqd %%xmm2, %%xmm2\n pcmpeqd %%xmm3, %%xmm3\n"
		"pcmpeqd %%xmm4, %%xmm4\n pcmpeqd %%xmm5, %%xmm5\n pcmpeqd %%xmm6, %%xmm6\n pcmpeqd %%xmm7, %%xmm7\n"
		"pcmpeqd %%xmm8, %%xmm8\n pcmpeqd %%xmm9, %%xmm9\n pcmpeqd %%xmm10, %%xmm10\n pcmpeqd %%xmm11, %%xmm11\n"
		"pcmpeqd %%xmm12, %%xmm12\n pcmpeqd %%xmm13, %%xmm13\n pcmpeqd %%xmm14, %%xmm14\n pcmpeqd %%xmm15, %%xmm15\n"
		::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "rbx", "r12", "r13", "r14", "r15",
		"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
		"xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
#endif
	return 0;
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
