/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: memory keys. key_resolve() is the one place where a local or remote
 * access is checked; what it returns is used within the same core call and not
 * kept, so that DESTROY_KEY has nothing to wait for.
 */
#ifndef TERN_KEY_H
#define TERN_KEY_H

#include "list.h"
#include "memory.h"
#include "tern_hw_queue.h"

struct command;
struct qp;
struct tern_wqe_bind;
struct tern_wqe_register;

/*
 * A page that an access by a key with TERN_ACCESS_ON_DEMAND did not find. The
 * last one of a function stands in function.absent until the next comes: who
 * made the access looks at once.
 */
struct absent_page {
	uint32_t key;			/* its index */
	uint64_t address;		/* I/O virtual address */
	uint64_t length;		/* bytes from there on that are wanted */
	bool write;
};

struct memory_key {
	uint32_t index;
	uint8_t consumer;
	uint8_t type;			/* TERN_KEY_* */
	bool valid;			/* else free: no access by it; a region always is */
	uint32_t pd;
	uint32_t access;		/* TERN_ACCESS_* */
	uint64_t address;		/* of its first byte */
	struct page_list pages;		/* of a window only its length */
	struct page_cursor cursor;
	unsigned int windows;		/* that are bound to this region */
	/* A window that is bound. */
	struct memory_key *region;
	uint64_t region_offset;		/* of its first byte */
	uint32_t qpn;			/* type 2: of whose peer it is... */
	struct list bound;		/* ...in that qp->windows */
};

enum key_error {
	KEY_OK = 0,
	KEY_UNKNOWN,			/* none, wrong consumer byte, local DMA key not allowed */
	KEY_WRONG_PD,			/* or a window of another queue pair */
	KEY_NO_ACCESS,			/* right not granted */
	KEY_OUT_OF_BOUNDS,
	KEY_WRONG_STATE,		/* not of a type, or not in a state, that allows it */
	KEY_BAD_VALUE,			/* page list, address or rights make no sense */
};

/* A checked range of a key. */
struct key_range {
	struct function *fn;
	struct memory_key *key;		/* NULL: local DMA key */
	uint64_t offset;		/* in the key's page list; local DMA key: bus address */
	uint64_t length;
};

/* Who asks. */
struct key_user {
	struct function *fn;
	uint32_t pd;
	uint32_t qpn;
	bool privileged;		/* may use TERN_KEY_LOCAL_DMA in local SGEs */
};

/*
 * @access: the TERN_ACCESS_* right that is needed, 0 for local read. Checks in
 * this order: key, PD, access, bounds. A range of length 0 is checked like any
 * other (address from the region's first byte up to just after its last).
 */
enum key_error key_resolve(const struct key_user *user, uint32_t key, uint64_t address,
			   uint64_t length, uint32_t access, struct key_range *range);

/*
 * Copy from or to byte @offset of the range. 0, -EFAULT when memory or page is
 * not there, -EAGAIN when function.absent says which page is to come. Writes
 * are in ascending order, the last cache line last.
 */
int key_range_read(const struct key_range *range, uint64_t offset, void *buffer, size_t length);
int key_range_write(const struct key_range *range, uint64_t offset, const void *buffer,
		    size_t length);

/*
 * Map what is contiguous at @offset; *length shrinks to it. NULL: use read and
 * write for these *length bytes. To be given back by guest_unmap(range->fn,
 * ...) within this core call. One that maps for write copies by copy_in_order().
 */
void *key_range_map(const struct key_range *range, uint64_t offset, size_t *length, bool write);
/* Are all pages there? 0 or -EAGAIN, as above; other errors are found by the access. */
int key_range_present(const struct key_range *range, bool write);

/*
 * What work requests do to keys (key_state.c). Unless it is KEY_OK nothing
 * has changed.
 */
enum key_error key_register(const struct key_user *user, const struct tern_wqe_register *segment);
enum key_error key_bind(struct qp *qp, const struct tern_wqe_bind *segment);
enum key_error key_invalidate(const struct key_user *user, uint32_t key);
/* May the peer of this queue pair have it invalidated? */
enum key_error key_may_invalidate(const struct key_user *user, uint32_t key);

/* The queue pair goes: its windows become free. */
void key_free_windows(struct qp *qp);
/* A window becomes free, whatever it was. */
void key_unbind(struct memory_key *window);

static inline bool key_is_window(const struct memory_key *key)
{
	return key->type == TERN_KEY_WINDOW_TYPE_1 || key->type == TERN_KEY_WINDOW_TYPE_2;
}

#define KEY_REMOTE_RIGHTS							\
	(TERN_ACCESS_REMOTE_WRITE | TERN_ACCESS_REMOTE_READ | TERN_ACCESS_REMOTE_ATOMIC)

/* Rights that are known, and none without the one it needs (IBTA 10.6.3.1)? */
bool key_access_valid(const struct function *fn, uint32_t access);
/* Do @length bytes from @address on make a region? */
bool key_address_valid(uint64_t address, uint64_t length, uint32_t access);

/* Commands */
uint16_t key_create_command(struct command *command);
uint16_t key_modify_command(struct command *command);
uint16_t key_destroy_command(struct command *command);
uint16_t key_invalidate_pages_command(struct command *command);

void keys_reset(struct function *fn);

#endif /* TERN_KEY_H */
