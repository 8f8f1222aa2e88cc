// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: page faults of queue pairs: the event, and KEY_RESUME. */
#include "byteorder.h"
#include "command.h"
#include "eq.h"
#include "page_fault.h"
#include "rdma_qp.h"
#include "tern_hw_page_fault.h"

static bool same_page(const struct absent_page *a, const struct absent_page *b)
{
	return a->key == b->key && a->address == b->address && a->write == b->write;
}

bool page_fault_waits(struct rdma_qp *rdma, struct page_fault *fault)
{
	struct function *fn = rdma->qp->fn;
	const struct absent_page *page = &fn->absent;
	uint64_t length = page->length < TERN_PAGE_FAULT_LENGTH ? page->length :
							  TERN_PAGE_FAULT_LENGTH;
	struct kept_event event = { .type = TERN_EVENT_PAGE_FAULT, .number = rdma->qp->qpn };

	if (fault->number)
		return true;
	if (fault->refused && same_page(&fault->page, page))
		return false;
	fault->refused = false;
	fault->page = *page;
	/* Never 0, which says that nothing waits. */
	if (!++fn->faults_made)
		fn->faults_made++;
	fault->number = fn->faults_made;
	if (fault == &rdma->responder.fault)
		event.subtype |= TERN_PAGE_FAULT_RESPONDER;
	if (page->write)
		event.subtype |= TERN_PAGE_FAULT_WRITE;
	event.data[0] = page->address;
	event.data[1] = (uint64_t)page->key << TERN_PAGE_FAULT_KEY_SHIFT | length;
	event.fault = fault->number;
	fn->device.page_faults++;
	qp_trace(rdma->qp, "page fault %u, key %u address 0x%llx%s", fault->number, page->key,
		 (unsigned long long)page->address, page->write ? " write" : "");
	function_post_event(fn, &event);
	return true;
}

void page_fault_forget(struct page_fault *fault)
{
	*fault = (struct page_fault){ .number = 0 };
}

static bool ends(struct page_fault *fault, uint32_t number, uint8_t status)
{
	if (fault->number != number)
		return false;
	fault->number = 0;
	/* If the page was taken away again, the next fault is a new one to the peer, too. */
	fault->answers = 0;
	fault->refused = status == TERN_RESUME_FAIL;
	return true;
}

/* False: no such fault waits. */
static bool resume(struct rdma_qp *rdma, uint32_t number, uint8_t status)
{
	struct tern_nic *nic = nic_of(rdma);

	if (ends(&rdma->requester.fault, number, status)) {
		egress_activate(nic, &rdma->requester.source);
		return true;
	}
	if (!ends(&rdma->responder.fault, number, status))
		return false;
	egress_activate(nic, &rdma->responder.source);
	ud_kept_resume(rdma);
	return true;
}

uint16_t key_resume_command(struct command *command)
{
	const struct tern_command_key_resume *body = (const void *)command->body;
	uint32_t number = from_le32(body->fault);
	struct qp *qp;

	if (!command->number || command->number >= QP_COUNT)
		return command_refuse_number(command, TERN_COMMAND_STATUS_BAD_NUMBER);
	if (!number)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
				      struct tern_command_key_resume, fault);
	if (body->status > TERN_RESUME_FAIL)
		return command_refuse(command, TERN_COMMAND_STATUS_BAD_PARAMETER,
				      struct tern_command_key_resume, status);
	if (!command_reserved(command, struct tern_command_key_resume, reserved0) ||
	    !command_reserved(command, struct tern_command_key_resume, reserved1))
		return TERN_COMMAND_STATUS_BAD_PARAMETER;
	qp = qp_find(command->fn, command->number);
	command->result[0] = qp && qp->type != TERN_QP_ETHERNET &&
			     resume(rdma_of(qp), number, body->status);
	return TERN_COMMAND_STATUS_OK;
}
