/* Shapes that the Go writer must lay out and give access to. */
#include <stdbool.h>
#include <stdint.h>

typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;

enum color { RED, GREEN = 5, GREEN_TOO = 5, BLUE };
enum depth { DEEP = -3, FLAT = 0 };
enum wide { WIDE = 0x123456789LL };
enum access { ACCESS_NONE = 0, ACCESS_READ = 1 << 0, ACCESS_WRITE = 1 << 1, ACCESS_BOTH = ACCESS_READ | ACCESS_WRITE, ACCESS_FAR = 1u << 31 };

struct plain {
	uint8_t a;
	uint32_t b;
	__be16 c;
	__be32 d;
	__be64 e;
	bool f;
	char g;
	float h;
	double i;
	signed char j;
	long k;
	enum color color;
	enum depth depth;
	enum wide wide;
	uint16_t grid[2][3];
	struct { uint8_t low, high; } pair[2];
};

union number {
	uint8_t raw[16];
	struct { uint64_t high, low; } halves;
	__be32 word;
	double real;
};

struct event {
	int type;
	union {
		__be32 imm_data;
		uint32_t rkey;
		struct { uint16_t first; uint16_t second; };
	};
	union number element;
	int __reserved;
	uint8_t last;
};

struct packet {
	uint8_t kind;
	uint32_t length;
	uint16_t ports[2];
	struct { uint8_t a; uint16_t b; } __attribute__((packed)) inner;
	uint64_t cookie;
} __attribute__((packed));

struct flex {
	uint16_t count;
	uint8_t flag;
	uint32_t tail[];
};

struct bits {
	uint8_t before;
	unsigned int low : 3;
	int middle : 7;
	bool on : 1;
	enum color color : 4;
	uint64_t far : 40;
	uint8_t after;
};

struct item {
	struct item *next;
	uint64_t id;
};

struct list {
	struct item *head;
	int num_items;
	int (*compare)(const struct item *, const struct item *);
	void (*(*chain)(int))(void);
	void *cookie;
};
