/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: doubly linked lists whose links stand in the objects. */
#ifndef TERN_LIST_H
#define TERN_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

/* The object of @type whose member @member is at @pointer. */
#define container_of(pointer, type, member) \
	((type *)(void *)((char *)(pointer) - offsetof(type, member)))

#define list_entry(link, type, member) container_of(link, type, member)

/* A head of an empty list; also a link that is in no list. */
static inline void list_init(struct list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

/* Is this link in a list? It was list_init()ed or list_remove()d before. */
static inline bool list_linked(const struct list *link)
{
	return link->next != link;
}

static inline void list_add_tail(struct list *head, struct list *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

static inline void list_add_head(struct list *head, struct list *link)
{
	list_add_tail(head->next, link);
}

/* Harmless on a link that is in no list. */
static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

/* The first link, unlinked; NULL when empty. */
static inline struct list *list_pop(struct list *head)
{
	struct list *link = head->next;

	if (link == head)
		return NULL;
	list_remove(link);
	return link;
}

/* @next is taken first, so that the body may unlink @link (but not @next). */
#define list_for_each_safe(link, following, head)				\
	for (link = (head)->next, following = link->next; link != (head);	\
	     link = following, following = link->next)

#endif /* TERN_LIST_H */
