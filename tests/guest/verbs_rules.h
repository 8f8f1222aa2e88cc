/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of verbs_rules share. */
#ifndef VERBS_RULES_H
#define VERBS_RULES_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QKEY	0x11111111

/* The test ends here when @condition does not hold. */
#define REQUIRE(condition)							\
	do {									\
		if (!(condition)) {						\
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, __func__,	\
			       #condition);					\
			fflush(stdout);						\
			_exit(1);						\
		}								\
	} while (0)

struct device {
	const char *name;
	struct ibv_context *context;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	union ibv_gid gid;
	int gid_index;
};

extern struct device dev;

struct buffer {
	uint8_t *data;
	size_t size;
	struct ibv_mr *mr;
};

/* Encodings of ibv_qp_attr. */
struct timing {
	int timeout, retries, rnr_timer, rnr_retries;
};

/* No retry ends it. */
#define PATIENT	((struct timing){ .timeout = 18, .retries = 7, .rnr_timer = 1, .rnr_retries = 7 })

/* Two connected queue pairs on one completion queue. */
struct pair {
	struct ibv_cq *cq;
	struct ibv_qp *a, *b;
};

struct test {
	const char *name;
	void (*run)(void);
};

extern const struct test tests[];

struct buffer buffer_new(size_t size, int access);
void buffer_free(struct buffer *b);
struct ibv_cq *cq_new(int entries, struct ibv_comp_channel *channel);
struct ibv_qp *qp_new(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_qp_cap cap);
void to_init(struct ibv_qp *qp);
void to_rts(struct ibv_qp *qp, uint32_t remote_qpn, struct timing timing);
void to_state(struct ibv_qp *qp, enum ibv_qp_state state);
enum ibv_qp_state state_of(struct ibv_qp *qp);
struct pair pair_of(enum ibv_qp_type type, struct ibv_qp_cap cap, struct timing timing);
/* RC */
struct pair pair_new(struct ibv_qp_cap cap, struct timing timing);
void pair_free(struct pair *p);

double seconds(void);
void wait_wcs(struct ibv_cq *cq, struct ibv_wc *wc, int count);
struct ibv_wc wait_wc(struct ibv_cq *cq);
/* Nothing completes for so long. */
void no_wc(struct ibv_cq *cq, int ms);
/* The next event, but for those of queue pairs that were established, is @type. */
struct ibv_async_event expect_async(enum ibv_event_type type);
int post_send(struct ibv_qp *qp, struct ibv_send_wr wr);
int post_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sges, int count);
struct ibv_sge sge_of(const struct buffer *b, size_t offset, size_t length);
void fill(uint8_t *data, size_t length, unsigned int seed);

/* rules_queues.c */
void test_limits(void);
void test_full_queues(void);
void test_bad_requests(void);
void test_inline(void);
void test_many_sges(void);
void test_unsignaled(void);
void test_flush(void);
void test_reset(void);
void test_shared_cq(void);
void test_threads(void);
/* rules_data.c */
void test_immediate(void);
void test_fence(void);
void test_protection(void);
void test_rnr(void);
void test_datagrams(void);
void test_large_region(void);
void test_locked_memory(void);
/* rules_memory.c */
void test_dmabuf(void);
void test_read_only(void);
/* rules_transport.c */
void test_atomics(void);
void test_flush_rights(void);
void test_atomic_errors(void);
void test_unreliable(void);
/* rules_windows.c */
void test_windows(void);
void test_window_left(void);
/* rules_dm.c */
void test_dm_limits(void);
void test_dm_copies(void);
void test_dm_owners(void);
void test_dm_mappings(void);
void test_dm_regions(void);
/* rules_demand.c */
void test_demand_changes(void);
void test_demand_fork(void);
void test_demand_traffic(void);
void test_demand_missing(void);
void test_demand_advice(void);
/* rules_multicast.c */
void test_multicast(void);
void test_multicast_limits(void);
/* rules_events.c */
void test_next(void);
void test_solicited(void);
void test_many_events(void);
void test_async(void);
/* rules_cq.c */
void test_cq_resize(void);
void test_cq_moderation(void);
void test_cq_vectors(void);
/* rules_srq.c */
void test_srq_limits(void);
void test_srq_many(void);
void test_srq_shared(void);
void test_srq_datagrams(void);
void test_srq_unreliable(void);
void test_srq_limit_event(void);
void test_srq_last_wqe(void);
void test_srq_reset(void);
void test_srq_resize(void);
/* rules_xrc.c */
void test_xrc_messages(void);
void test_xrc_extended(void);
void test_xrc_refusals(void);
void test_xrc_receives(void);
void test_xrc_limits(void);
/* rules_xrc_sharing.c */
void test_xrc_domains(void);
void test_xrc_processes(void);
void test_xrc_orphans(void);
/* Other processes of these two. */
void xrc_receiver(void);
void xrc_creator(void);
/* rules_raw.c */
void test_raw_packets(void);
void test_raw_sniffer(void);
void test_raw_limits(void);
void test_raw_refused(void);
void test_raw_hashing(void);
/* rules_modern.c */
void test_extended(void);
void test_domains(void);

#endif /* VERBS_RULES_H */
