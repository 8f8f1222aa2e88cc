// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tern driver: one function per command, and the only place where a status of
 * the device becomes an errno.
 */
#include "command_queue.h"
#include "commands.h"
#include "health.h"
#include "tern_paging.h"

static int tern_command_errno(u16 status)
{
	switch (status) {
	case TERN_COMMAND_STATUS_OK:
		return 0;
	case TERN_COMMAND_STATUS_BAD_OPCODE:
		return -EOPNOTSUPP;
	case TERN_COMMAND_STATUS_BAD_PARAMETER:
	case TERN_COMMAND_STATUS_BAD_NUMBER:
	case TERN_COMMAND_STATUS_BAD_STATE:
		return -EINVAL;
	case TERN_COMMAND_STATUS_EXISTS:
		return -EEXIST;
	case TERN_COMMAND_STATUS_NOT_FOUND:
		return -ENOENT;
	case TERN_COMMAND_STATUS_IN_USE:
		return -EBUSY;
	case TERN_COMMAND_STATUS_NO_RESOURCES:
		return -ENOMEM;
	case TERN_COMMAND_STATUS_BAD_ADDRESS:
		return -EFAULT;
	case TERN_COMMAND_STATUS_NOT_PERMITTED:
		return -EPERM;
	default:
		return -EPROTO;
	}
}

/**
 * tern_command_execute() - execute a command
 * @tern: the function
 * @opcode: TERN_COMMAND_*
 * @number: of the object, or 0
 * @body: struct tern_command_..., or NULL
 * @length: bytes at @body
 * @result: TERN_RESULT_WORDS words for the result in host order, or NULL
 *
 * Sleeps, for as long as COMMAND_TIMEOUT at most. Many callers may be in here.
 *
 * Return: 0, -EIO when the device is dead (at once), or the errno of the
 * device's status
 */
int tern_command_execute(struct tern_device *tern, u16 opcode, u32 number, const void *body,
			 size_t length, u32 *result)
{
	struct tern_adapter *adapter = tern_adapter(tern);
	struct tern_command_answer answer;
	int err;

	err = tern_command_queue_execute(adapter->commands, opcode, number, body, length, &answer);
	if (err)
		return err;
	err = tern_command_errno(answer.status);
	if (err)
		dev_warn_ratelimited(tern_dev(adapter),
				     "command %#x of number %u failed: status %u, offset %u\n",
				     opcode, number, answer.status, answer.syndrome);
	else if (result)
		memcpy(result, answer.result, sizeof(answer.result));
	return err;
}
EXPORT_SYMBOL_NS_GPL(tern_command_execute, TERN_NAMESPACE);

/*
 * One buffer that lives as long as the device can access memory, not one per
 * command: so a device that answers late writes to nobody else's memory.
 */
int tern_mailbox_alloc(struct tern_adapter *adapter)
{
	adapter->mailbox = dma_alloc_coherent(tern_dev(adapter), TERN_MAILBOX_BYTES,
					      &adapter->mailbox_dma, GFP_KERNEL);
	return adapter->mailbox ? 0 : -ENOMEM;
}

void tern_mailbox_free(struct tern_adapter *adapter)
{
	dma_free_coherent(tern_dev(adapter), TERN_MAILBOX_BYTES, adapter->mailbox,
			  adapter->mailbox_dma);
	adapter->mailbox = NULL;
}

/**
 * tern_cmd_query() - ask for something that is larger than a completion
 * @tern: the function
 * @opcode: TERN_COMMAND_QUERY_*
 * @number: of the object, or 0
 * @group: TERN_STATISTICS_*, or 0
 * @answer: where the answer goes; what the device does not know is zero
 * @length: bytes at @answer, at most 4096
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_query(struct tern_device *tern, u16 opcode, u32 number, u32 group, void *answer,
		   size_t length)
{
	struct tern_adapter *adapter = tern_adapter(tern);
	struct tern_command_query body = {
		.length = cpu_to_le32(length),
		.group = cpu_to_le32(group),
	};
	u32 result[TERN_RESULT_WORDS];
	int err;

	if (WARN_ON_ONCE(length > TERN_MAILBOX_BYTES))
		return -EINVAL;

	mutex_lock(&adapter->mailbox_lock);
	if (!adapter->mailbox) {
		err = -EIO;
		goto unlock;
	}
	memset(adapter->mailbox, 0, length);
	body.address = cpu_to_le64(adapter->mailbox_dma);
	err = tern_command_execute(tern, opcode, number, &body, sizeof(body), result);
	if (!err)
		memcpy(answer, adapter->mailbox, length);
unlock:
	mutex_unlock(&adapter->mailbox_lock);
	return err;
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_query, TERN_NAMESPACE);

int tern_cmd_nop(struct tern_device *tern)
{
	return tern_command_execute(tern, TERN_COMMAND_NOP, 0, NULL, 0, NULL);
}

int tern_cmd_create_eq(struct tern_device *tern, u32 eqn,
		       const struct tern_command_create_eq *body)
{
	return tern_command_execute(tern, TERN_COMMAND_CREATE_EQ, eqn, body, sizeof(*body), NULL);
}

/*
 * An object that the device does not give up would go on accessing memory
 * that is about to be freed. So either it is gone or the device is dead.
 */
static int tern_cmd_destroyed(struct tern_device *tern, int err)
{
	if (err)
		tern_declare_dead(tern_adapter(tern), "it did not destroy an object");
	/*
	 * If somebody else is declaring it dead just now, that may not be done.
	 * Commands fail with -EIO only after it is.
	 */
	if (err && err != -EIO)
		pci_clear_master(tern->pdev);
	return err;
}

static int tern_cmd_destroy(struct tern_device *tern, u16 opcode, u32 number)
{
	return tern_cmd_destroyed(tern, tern_command_execute(tern, opcode, number, NULL, 0, NULL));
}

int tern_cmd_destroy_eq(struct tern_device *tern, u32 eqn)
{
	return tern_cmd_destroy(tern, TERN_COMMAND_DESTROY_EQ, eqn);
}

/**
 * tern_cmd_create_cq() - create a completion queue
 * @tern: the function
 * @cqn: its number, from tern_number_alloc()
 * @body: what it is to be
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_create_cq(struct tern_device *tern, u32 cqn,
		       const struct tern_command_create_cq *body)
{
	return tern_command_execute(tern, TERN_COMMAND_CREATE_CQ, cqn, body, sizeof(*body), NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_create_cq, TERN_NAMESPACE);

/**
 * tern_cmd_modify_cq() - change the moderation of a completion queue
 * @tern: the function
 * @cqn: its number
 * @body: as at its creation, with new moderation
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_modify_cq(struct tern_device *tern, u32 cqn,
		       const struct tern_command_create_cq *body)
{
	return tern_command_execute(tern, TERN_COMMAND_MODIFY_CQ, cqn, body, sizeof(*body), NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_modify_cq, TERN_NAMESPACE);

/**
 * tern_cmd_resize_cq() - give a completion queue another ring and record
 * @tern: the function
 * @cqn: its number
 * @body: the new ones
 *
 * When it returns 0 the device does not access the old ones any more.
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_resize_cq(struct tern_device *tern, u32 cqn,
		       const struct tern_command_resize_cq *body)
{
	return tern_command_execute(tern, TERN_COMMAND_RESIZE_CQ, cqn, body, sizeof(*body), NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_resize_cq, TERN_NAMESPACE);

/**
 * tern_cmd_destroy_cq() - destroy a completion queue that no queue pair uses
 * @tern: the function
 * @cqn: its number
 *
 * Whatever it returns, the device does not access the queue's memory any more.
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_destroy_cq(struct tern_device *tern, u32 cqn)
{
	return tern_cmd_destroy(tern, TERN_COMMAND_DESTROY_CQ, cqn);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_destroy_cq, TERN_NAMESPACE);

/**
 * tern_cmd_create_qp() - create a queue pair
 * @tern: the function
 * @qpn: its number, from tern_number_alloc(), or 1 for the GSI's
 * @body: what it is to be
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_create_qp(struct tern_device *tern, u32 qpn,
		       const struct tern_command_create_qp *body)
{
	return tern_command_execute(tern, TERN_COMMAND_CREATE_QP, qpn, body, sizeof(*body), NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_create_qp, TERN_NAMESPACE);

/**
 * tern_cmd_modify_qp() - change the state and attributes of a queue pair
 * @tern: the function
 * @qpn: its number
 * @body: the change
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_modify_qp(struct tern_device *tern, u32 qpn,
		       const struct tern_command_modify_qp *body)
{
	return tern_command_execute(tern, TERN_COMMAND_MODIFY_QP, qpn, body, sizeof(*body), NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_modify_qp, TERN_NAMESPACE);

/**
 * tern_cmd_destroy_qp() - destroy a queue pair
 * @tern: the function
 * @qpn: its number
 *
 * Whatever it returns, the device does not access the queues' memory any more.
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_destroy_qp(struct tern_device *tern, u32 qpn)
{
	return tern_cmd_destroy(tern, TERN_COMMAND_DESTROY_QP, qpn);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_destroy_qp, TERN_NAMESPACE);

/**
 * tern_cmd_create_srq() - create a shared receive queue
 * @tern: the function
 * @srqn: its number, from tern_number_alloc()
 * @body: what it is to be
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_create_srq(struct tern_device *tern, u32 srqn,
			const struct tern_command_create_srq *body)
{
	return tern_command_execute(tern, TERN_COMMAND_CREATE_SRQ, srqn, body, sizeof(*body),
				    NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_create_srq, TERN_NAMESPACE);

/**
 * tern_cmd_modify_srq() - change the limit or the ring of a shared receive queue
 * @tern: the function
 * @srqn: its number
 * @body: the change
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_modify_srq(struct tern_device *tern, u32 srqn,
			const struct tern_command_modify_srq *body)
{
	return tern_command_execute(tern, TERN_COMMAND_MODIFY_SRQ, srqn, body, sizeof(*body),
				    NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_modify_srq, TERN_NAMESPACE);

/**
 * tern_cmd_destroy_srq() - destroy a shared receive queue that no queue pair uses
 * @tern: the function
 * @srqn: its number
 *
 * Whatever it returns, the device does not access the queue's memory any more.
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_destroy_srq(struct tern_device *tern, u32 srqn)
{
	return tern_cmd_destroy(tern, TERN_COMMAND_DESTROY_SRQ, srqn);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_destroy_srq, TERN_NAMESPACE);

/**
 * tern_cmd_create_key() - create a memory key
 * @tern: the function
 * @index: its index, from tern_number_alloc()
 * @body: what it is to be
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_create_key(struct tern_device *tern, u32 index,
			const struct tern_command_create_key *body)
{
	return tern_command_execute(tern, TERN_COMMAND_CREATE_KEY, index, body, sizeof(*body),
				    NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_create_key, TERN_NAMESPACE);

/**
 * tern_cmd_modify_key() - replace all of a region's key
 * @tern: the function
 * @index: its index
 * @body: what it is to be
 *
 * When it has succeeded the device does not access what the region was any more.
 *
 * Return: as tern_command_execute(); -EBUSY while a memory window is bound to it
 */
int tern_cmd_modify_key(struct tern_device *tern, u32 index,
			const struct tern_command_create_key *body)
{
	return tern_command_execute(tern, TERN_COMMAND_MODIFY_KEY, index, body, sizeof(*body),
				    NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_modify_key, TERN_NAMESPACE);

/**
 * tern_cmd_destroy_key() - destroy a memory key
 * @tern: the function
 * @index: its index
 *
 * Unless it returns -EBUSY the device does not access the region's memory any more. Nothing is
 * bound to a window: it is never busy.
 *
 * Return: as tern_command_execute(); -EBUSY while a memory window is bound to it
 */
int tern_cmd_destroy_key(struct tern_device *tern, u32 index)
{
	int err = tern_command_execute(tern, TERN_COMMAND_DESTROY_KEY, index, NULL, 0, NULL);

	/* It stays, and so does its memory. */
	return err == -EBUSY ? err : tern_cmd_destroyed(tern, err);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_destroy_key, TERN_NAMESPACE);

int tern_cmd_set_port(struct tern_device *tern, u32 mtu, u8 admin_state)
{
	struct tern_command_set_port body = {
		.mtu = cpu_to_le32(mtu),
		.admin_state = admin_state,
	};

	return tern_command_execute(tern, TERN_COMMAND_SET_PORT, 0, &body, sizeof(body), NULL);
}

int tern_cmd_set_station_address(struct tern_device *tern, const u8 *mac)
{
	struct tern_command_set_station_address body = {};

	memcpy(body.mac, mac, sizeof(body.mac));
	return tern_command_execute(tern, TERN_COMMAND_SET_STATION_ADDRESS, 0, &body, sizeof(body),
				    NULL);
}

/**
 * tern_cmd_key_invalidate_pages() - end all use of pages whose entries were cleared
 * @tern: the function
 * @index: of the key
 * @address: I/O virtual address of the first byte
 * @length: how many
 *
 * For MMU notifiers: allocates nothing, and ends in the time of one command of theirs.
 *
 * Return: 0; -ENOENT when there is no such key, -EIO when the device is dead: then nothing is
 * accessed either. Another error is that of a device that may go on accessing the pages; it has
 * been declared dead.
 */
int tern_cmd_key_invalidate_pages(struct tern_device *tern, u32 index, u64 address, u64 length)
{
	struct tern_adapter *adapter = tern_adapter(tern);
	struct tern_command_key_invalidate_pages body = {
		.address = cpu_to_le64(address),
		.length = cpu_to_le64(length),
	};
	struct tern_command_answer answer;
	int err;

	err = tern_command_queue_execute_reserved(adapter->commands,
						  TERN_COMMAND_KEY_INVALIDATE_PAGES, index, &body,
						  sizeof(body), &answer);
	if (!err)
		err = tern_command_errno(answer.status);
	/* The region is being destroyed, or is not made yet. */
	if (err == -ENOENT)
		return err;
	return tern_cmd_destroyed(tern, err);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_key_invalidate_pages, TERN_NAMESPACE);

/**
 * tern_cmd_key_resume() - let an access that waits for a page be made again
 * @tern: the function
 * @qpn: number of the queue pair
 * @fault: number of the fault
 * @status: TERN_RESUME_*
 *
 * A fault that does not wait any more is no error.
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_key_resume(struct tern_device *tern, u32 qpn, u32 fault, u8 status)
{
	struct tern_command_key_resume body = {
		.fault = cpu_to_le32(fault),
		.status = status,
	};

	return tern_command_execute(tern, TERN_COMMAND_KEY_RESUME, qpn, &body, sizeof(body), NULL);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_key_resume, TERN_NAMESPACE);

int tern_cmd_set_receive_mode(struct tern_device *tern, u32 flags, u32 default_qpn)
{
	struct tern_command_set_receive_mode body = {
		.flags = cpu_to_le32(flags),
		.default_qpn = cpu_to_le32(default_qpn),
	};

	return tern_command_execute(tern, TERN_COMMAND_SET_RECEIVE_MODE, 0, &body, sizeof(body),
				    NULL);
}

int tern_cmd_set_dcb(struct tern_device *tern, u16 opcode, u32 priority, const void *body,
		     size_t length)
{
	return tern_command_execute(tern, opcode, priority, body, length, NULL);
}

/* Execute @opcode with @length bytes of @table in the mailbox; *@address is in the body. */
static int tern_cmd_table(struct tern_device *tern, u16 opcode, u32 number, const void *table,
			  size_t length, const void *body, size_t body_length, __le64 *address)
{
	struct tern_adapter *adapter = tern_adapter(tern);
	int err = -EIO;

	if (WARN_ON_ONCE(length > TERN_MAILBOX_BYTES))
		return -EINVAL;

	mutex_lock(&adapter->mailbox_lock);
	if (adapter->mailbox) {
		if (length)
			memcpy(adapter->mailbox, table, length);
		*address = cpu_to_le64(adapter->mailbox_dma);
		err = tern_command_execute(tern, opcode, number, body, body_length, NULL);
	}
	mutex_unlock(&adapter->mailbox_lock);
	return err;
}

int tern_cmd_set_multicast_table(struct tern_device *tern, const void *table, u32 count)
{
	struct tern_command_set_table body = { .count = cpu_to_le32(count) };

	return tern_cmd_table(tern, TERN_COMMAND_SET_MULTICAST_TABLE, 0, table,
			      count * TERN_MULTICAST_ENTRY_BYTES, &body, sizeof(body),
			      &body.address);
}

int tern_cmd_set_vlan_table(struct tern_device *tern, const void *table)
{
	struct tern_command_set_table body = { .count = cpu_to_le32(1) };

	return tern_cmd_table(tern, TERN_COMMAND_SET_VLAN_TABLE, 0, table, TERN_VLAN_TABLE_BYTES,
			      &body, sizeof(body), &body.address);
}

int tern_cmd_set_rss(struct tern_device *tern, const __le32 *qpns, u16 count, u8 types,
		     const u8 *key)
{
	struct tern_command_set_rss body = {
		.count = cpu_to_le16(count),
		.types = types,
	};

	memcpy(body.key, key, sizeof(body.key));
	return tern_cmd_table(tern, TERN_COMMAND_SET_RSS, 0, qpns, count * sizeof(*qpns), &body,
			      sizeof(body), &body.table);
}

/**
 * tern_cmd_set_hashing() - say over which queue pairs one of type HASHING spreads frames
 * @tern: the function
 * @qpn: its number
 * @qpns: numbers of @count queue pairs, at most rss_entries_max
 * @count: a power of two
 * @fields: TERN_HASH_*
 * @key: TERN_RSS_KEY_BYTES
 *
 * Return: as tern_command_execute()
 */
int tern_cmd_set_hashing(struct tern_device *tern, u32 qpn, const __le32 *qpns, u16 count,
			 u16 fields, const u8 *key)
{
	struct tern_command_set_hashing body = {
		.count = cpu_to_le16(count),
		.fields = cpu_to_le16(fields),
	};

	memcpy(body.key, key, sizeof(body.key));
	return tern_cmd_table(tern, TERN_COMMAND_SET_HASHING, qpn, qpns, count * sizeof(*qpns),
			      &body, sizeof(body), &body.table);
}
EXPORT_SYMBOL_NS_GPL(tern_cmd_set_hashing, TERN_NAMESPACE);
