/* Stub: an array without length, where C does not take one: in a union. */
#ifndef STUB_LINUX_STDDEF_H
#define STUB_LINUX_STDDEF_H
#define __DECLARE_FLEX_ARRAY(type, name) \
	struct { \
		struct { } __empty_##name; \
		type name[]; \
	}
#endif
