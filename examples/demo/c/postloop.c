/* The loop that C programs write, to compare with: post one chain of receives
 * again and again. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <time.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Returns the nanoseconds that all posts took together but for the first warm_up,
 * or minus an errno. */
long long post_loop(struct ibv_qp *qp, struct ibv_recv_wr *chain, long warm_up, long posts)
{
	struct ibv_recv_wr *bad;
	long long start = 0;

	for (long i = -warm_up; i < posts; i++) {
		int err;

		if (i == 0)
			start = now();
		err = ibv_post_recv(qp, chain, &bad);
		if (err)
			return -(long long)(err < 0 ? -err : err);
	}
	return now() - start;
}
