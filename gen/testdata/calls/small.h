// One function of each kind, for TestCalls.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum small_colour { SMALL_RED, SMALL_GREEN = 7 };
enum small_depth { SMALL_DEEP = -3, SMALL_FLAT };
struct small_thing {
	int a;
	int (*turn)(struct small_thing *thing, uint32_t by, bool fast);
	void *(*self)(void);
	uint8_t (*last)(int8_t a, uint8_t b);
};
struct small_unknown;
union small_word { int i; struct small_thing *t; };

int small_bytes(int8_t a, uint8_t b, char c, signed char d, unsigned char e, bool f, bool g);
int small_shorts(int16_t a, uint16_t b, short c, unsigned short d);
int small_words(int32_t a, uint32_t b, int c, unsigned int d, enum small_colour e, enum small_depth f);
int small_longs(int64_t a, uint64_t b, long c, unsigned long d, size_t e, ssize_t f, uintptr_t g, long long h);
int small_pointers(struct small_thing *a, const struct small_thing *b, void *c, const void *d, char *e, const char *f,
		   struct small_thing **g, void **h, int (*i)(int), struct small_unknown *j, union small_word *k);
int small_arrays(int a[4], uint8_t b[], char *c[2], enum small_colour *d, bool *e);
int small_ten(uint8_t a, int64_t b, uint32_t c, int16_t d, void *e, int32_t f, uint64_t g, bool h, uint16_t i, int8_t j);
int small_fifteen(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f, uint32_t g, uint32_t h, uint32_t i,
		  uint32_t j, int32_t k, uint32_t l, int8_t m, uint8_t n, struct small_thing *o);
int small_names(int type, int func, int len, int uintptr, int unsafe, int clib, int err, int result, int symbolNames, int);
int small_none(void);
int small_old();

void small_void(int a);
bool small_bool(int a);
char small_char(int a);
int8_t small_int8(int a);
uint8_t small_uint8(int a);
int16_t small_int16(int a);
uint16_t small_uint16(int a);
unsigned int small_uint32(int a);
int64_t small_int64(int a);
uint64_t small_uint64(int a);
size_t small_size(int a);
ssize_t small_count(int a);
enum small_colour small_colour(int a);
enum small_depth small_depth(int a);
const char *small_text(int a);
char *small_bytes_at(int a);
void *small_address(int a);
struct small_thing *small_thing(int a);
struct small_thing **small_things(int a);
struct small_unknown *small_unknown(int a);

// What Go cannot call.
int small_variadic(int a, ...);
int small_double(double a);
float small_float(int a);
int small_by_value(struct small_thing a);
struct small_thing small_returned(int a);
int small_union(union small_word a);
int small_sixteen(int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int);
static inline int small_inline(int a) { return a; }
