// What the functions that the test writes call.
#include <errno.h>
#include <stdint.h>

static const char *called;
static int arguments;
static uint64_t words[16];
static uint64_t result;
static int reason;

const char some_text[] = "a text";

static uint64_t record(const char *name, int n, const uint64_t *all)
{
	called = name;
	arguments = n;
	for (int i = 0; i < n; i++)
		words[i] = all[i];
	errno = reason;
	return result;
}

void script(uint64_t number, int error)
{
	result = number;
	reason = error;
}

const char *recorded_name(void) { return called; }
int recorded_count(void) { return arguments; }
uint64_t recorded_word(int i) { return words[i]; }
