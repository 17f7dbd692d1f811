// A C library that does what it is told and remembers what it was asked: see recorder.go. FUNCTIONS names a file with
// FUNCTION(number, name) for each function that it exports, and then SLOT(number) for those that only have an address.
//
// No prototype of the real functions is needed. They take integers and pointers only, which every ABI here passes alike
// whatever their types are, so a function of twelve words sees them all, and then some words that mean nothing.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 12, DEPTH = 2 };

// What a response does with the memory that an argument leads to: by itself, or through pointers at offsets there.
struct memory {
	struct memory *next;
	unsigned char *fill; // NULL: copy it
	size_t length, depth, offsets[DEPTH];
	int word;
};

struct response {
	struct response *next;
	uint64_t result;
	int error;
	struct memory *first, **last;
};

struct copy {
	struct copy *next;
	size_t length;
	unsigned char bytes[];
};

struct call {
	uint64_t words[WORDS];
	struct copy *first, **last;
	int function;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call **calls;
static size_t count, room;

#define FUNCTION(number, name) 1 +
#define SLOT(number) 1 +
enum { TOTAL =
#include FUNCTIONS
0 };
#undef FUNCTION
#undef SLOT

// The first response is the next; the last one stays.
static struct response *scripts[TOTAL];

static unsigned char *follow(const struct memory *m, const uint64_t *words)
{
	unsigned char *p = (unsigned char *)(uintptr_t)words[m->word];
	for (size_t i = 0; i < m->depth; i++)
		memcpy(&p, p + m->offsets[i], sizeof p);
	return p;
}

static void keep(struct call *c, const unsigned char *from, size_t length)
{
	struct copy *copy = malloc(sizeof *copy + length);
	copy->next = NULL;
	copy->length = length;
	memcpy(copy->bytes, from, length);
	*c->last = copy;
	c->last = &copy->next;
}

static void freeResponse(struct response *r)
{
	for (struct memory *m = r->first, *next; m; m = next) {
		next = m->next;
		free(m->fill);
		free(m);
	}
	free(r);
}

// Not inlined, and given the words in memory: a caller may have passed fewer, so nothing may be written where they came.
static __attribute__((noinline)) uint64_t record(int function, const uint64_t *words)
{
	struct call *c = malloc(sizeof *c);
	memcpy(c->words, words, sizeof c->words);
	c->function = function;
	c->first = NULL;
	c->last = &c->first;
	uint64_t result = 0;
	int error = 0;
	pthread_mutex_lock(&lock);
	if (count == room) {
		room = room ? 2 * room : 64;
		calls = realloc(calls, room * sizeof *calls);
	}
	calls[count++] = c;
	struct response *r = scripts[function];
	if (r) {
		for (struct memory *m = r->first; m; m = m->next)
			if (!m->fill)
				keep(c, follow(m, words), m->length);
		for (struct memory *m = r->first; m; m = m->next)
			if (m->fill)
				memcpy(follow(m, words), m->fill, m->length);
		result = r->result;
		error = r->error;
		if (r->next) {
			scripts[function] = r->next;
			freeResponse(r);
		}
	}
	pthread_mutex_unlock(&lock);
	if (error)
		errno = error;
	return result;
}

typedef uint64_t recorded(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
	uint64_t, uint64_t);

#define SLOT(number) \
	static uint64_t recorded##number(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, \
		uint64_t h, uint64_t i, uint64_t j, uint64_t k, uint64_t l) \
	{ \
		const uint64_t words[WORDS] = {a, b, c, d, e, f, g, h, i, j, k, l}; \
		return record(number, words); \
	}
// The addresses are those of static functions: another library in the process may have the names.
#define FUNCTION(number, name) \
	SLOT(number) \
	recorded name __attribute__((alias("recorded" #number)));
#include FUNCTIONS
#undef FUNCTION
#undef SLOT

#define FUNCTION(number, name) #name,
#define SLOT(number) NULL,
static const char *const names[] = {
#include FUNCTIONS
};
#undef FUNCTION
#undef SLOT

#define FUNCTION(number, name) recorded##number,
#define SLOT(number) recorded##number,
static recorded *const functions[] = {
#include FUNCTIONS
};

int recorder_total(void) { return TOTAL; }
const char *recorder_name(int function) { return names[function]; }
recorded *recorder_address(int function) { return functions[function]; }

// recorder_forget forgets calls and scripts.
void recorder_forget(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count; i++) {
		for (struct copy *copy = calls[i]->first, *next; copy; copy = next) {
			next = copy->next;
			free(copy);
		}
		free(calls[i]);
	}
	count = 0;
	for (int i = 0; i < TOTAL; i++) {
		for (struct response *r = scripts[i], *next; r; r = next) {
			next = r->next;
			freeResponse(r);
		}
		scripts[i] = NULL;
	}
	pthread_mutex_unlock(&lock);
}

// recorder_response appends a response to a function's script, and recorder_memory something that it does.
void *recorder_response(int function, uint64_t result, int error)
{
	struct response *r = calloc(1, sizeof *r);
	r->result = result;
	r->error = error;
	r->last = &r->first;
	pthread_mutex_lock(&lock);
	struct response **end = &scripts[function];
	while (*end)
		end = &(*end)->next;
	*end = r;
	pthread_mutex_unlock(&lock);
	return r;
}

void recorder_memory(struct response *r, int word, const void *fill, size_t length, size_t depth, size_t first, size_t second)
{
	struct memory *m = calloc(1, sizeof *m);
	m->word = word;
	m->length = length;
	m->depth = depth;
	m->offsets[0] = first;
	m->offsets[1] = second;
	if (fill) {
		m->fill = malloc(length);
		memcpy(m->fill, fill, length);
	}
	pthread_mutex_lock(&lock);
	*r->last = m;
	r->last = &m->next;
	pthread_mutex_unlock(&lock);
}

size_t recorder_count(void)
{
	pthread_mutex_lock(&lock);
	size_t n = count;
	pthread_mutex_unlock(&lock);
	return n;
}

// recorder_call tells of a call, in order, which function it was and its words.
int recorder_call(size_t index, uint64_t *words)
{
	pthread_mutex_lock(&lock);
	memcpy(words, calls[index]->words, sizeof calls[index]->words);
	int function = calls[index]->function;
	pthread_mutex_unlock(&lock);
	return function;
}

// recorder_copied tells how long a copy of a call's is, -1 if it has no such copy, and gives it if into is there.
int64_t recorder_copied(size_t index, size_t which, void *into)
{
	int64_t length = -1;
	pthread_mutex_lock(&lock);
	struct copy *copy = calls[index]->first;
	while (copy && which--)
		copy = copy->next;
	if (copy) {
		length = copy->length;
		if (into)
			memcpy(into, copy->bytes, copy->length);
	}
	pthread_mutex_unlock(&lock);
	return length;
}

// recorder_object gives zeroed memory with a page in front that must not be touched. It stays.
void *recorder_object(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *p = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p, page, PROT_NONE))
		return NULL;
	return p + page;
}
