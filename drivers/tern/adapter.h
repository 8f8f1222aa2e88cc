/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The function's state inside tern.ko. */
#ifndef TERN_ADAPTER_H
#define TERN_ADAPTER_H

#include <linux/dmapool.h>
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/devlink.h>

#include "compat.h"
#include "tern_core.h"

struct tern_command_queue;
struct tern_eq;

/* A space of object numbers; the xarray's lock protects it. */
struct tern_number_space {
	struct xarray used;
	struct xa_limit limit;
	u32 next;
};

/* Where large answers and tables of commands stand; see struct tern_adapter's mailbox_lock. */
#define TERN_MAILBOX_BYTES	4096

/**
 * struct tern_adapter - a Tern function
 * @device: the part that other modules see
 * @registers: BAR 0
 * @dead: the device is gone or failed (bit 0); set from any context, cleared by a start
 * @started: tern_device_start() succeeded; the PCI device's lock protects it
 * @commands: the command queue; takes commands while the device is started
 * @mailbox_lock: protects @mailbox; held during a command that uses it
 * @mailbox: one page of coherent memory for commands
 * @mailbox_dma: its bus address
 * @records: pool of queue records
 * @tables: pool of page tables
 * @eqs: the event queues, EQN and vector are the index
 * @eq_count: how many there are
 * @cq_listeners: struct tern_cq_listener by CQN
 * @qp_listeners: struct tern_qp_listener by QPN
 * @srq_listeners: struct tern_srq_listener by SRQN
 * @numbers: spaces of object numbers
 * @doorbell_pages: pages in use
 * @device_memory_lock: protects @device_memory_used
 * @device_memory_used: a bit for each page of the device memory; NULL without
 * @device_memory_pages: how many there are
 * @notifier: chain of enum tern_notification
 * @dead_work: tells everyone that the device died
 * @link_work: asks for the port's state after an event
 * @health_work: looks at the device from time to time
 * @port_state: TERN_PORT_*, as last seen by @link_work, which alone uses it while it can run
 * @port_speed: in Mb/s, as last seen by @link_work; 0 when unknown
 * @lost_interrupts: events that were found without an interrupt
 * @unknown_events: events of unknown type or number
 * @devlink_port: the port in devlink
 * @storm_lock: protects @storm_open; held while devlink is told
 * @storm_open: devlink knows the function and @storm_reporter
 * @storm_work: tells devlink of storms of pauses
 * @storms: a bit for each priority that has one
 * @storms_began: and for each that began one since devlink was told
 * @storm_reporter: devlink's, or NULL
 * @congestion_params: devlink's parameters of congestion control are registered
 * @storm_params: and those of storms
 * @rdma: the auxiliary device for RDMA, or NULL
 */
struct tern_adapter {
	struct tern_device device;
	void __iomem *registers;
	unsigned long dead;
	bool started;

	struct tern_command_queue *commands;
	/* see above */
	struct mutex mailbox_lock;
	void *mailbox;
	dma_addr_t mailbox_dma;

	struct dma_pool *records;
	struct dma_pool *tables;

	struct tern_eq *eqs;
	unsigned int eq_count;
	struct xarray cq_listeners;
	struct xarray qp_listeners;
	struct xarray srq_listeners;

	struct tern_number_space numbers[TERN_NUMBERS_COUNT];
	struct ida doorbell_pages;
	/* see above */
	struct mutex device_memory_lock;
	unsigned long *device_memory_used;
	unsigned long device_memory_pages;

	struct blocking_notifier_head notifier;
	struct work_struct dead_work;
	struct work_struct link_work;
	struct delayed_work health_work;
	u8 port_state;
	u32 port_speed;
	atomic64_t lost_interrupts;
	atomic64_t unknown_events;

	/* see above */
	struct mutex storm_lock;
	bool storm_open;
	struct work_struct storm_work;
	unsigned long storms;
	unsigned long storms_began;
	struct devlink_health_reporter *storm_reporter;
	bool congestion_params;
	bool storm_params;

	struct devlink_port devlink_port;
	struct tern_auxiliary *rdma;
};

/* main.c: for all of the module's work items */
extern struct workqueue_struct *tern_workqueue;

static inline struct tern_adapter *tern_adapter(struct tern_device *tern)
{
	return container_of(tern, struct tern_adapter, device);
}

static inline struct device *tern_dev(const struct tern_adapter *adapter)
{
	return &adapter->device.pdev->dev;
}

/* device.c */
int tern_device_start(struct tern_adapter *adapter);
void tern_device_stop(struct tern_adapter *adapter);

/* capabilities.c */
int tern_capabilities_read(struct tern_adapter *adapter);

/* numbers.c */
void tern_numbers_init(struct tern_adapter *adapter);
void tern_numbers_exit(struct tern_adapter *adapter);

/* device_memory.c */
int tern_device_memory_init(struct tern_adapter *adapter);
void tern_device_memory_exit(struct tern_adapter *adapter);

/* auxiliary.c */
int tern_auxiliary_add(struct tern_adapter *adapter);
void tern_auxiliary_remove(struct tern_adapter *adapter);

/* devlink.c */
extern const struct devlink_ops tern_devlink_ops;
int tern_devlink_port_add(struct tern_adapter *adapter);
void tern_devlink_port_remove(struct tern_adapter *adapter);

#endif /* TERN_ADAPTER_H */
