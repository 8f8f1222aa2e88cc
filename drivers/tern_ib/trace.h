/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern RDMA driver: trace points, /sys/kernel/tracing/events/tern_ib/. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tern_ib

#if !defined(TERN_IB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TERN_IB_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>

TRACE_DEFINE_ENUM(IB_QPS_RESET);
TRACE_DEFINE_ENUM(IB_QPS_INIT);
TRACE_DEFINE_ENUM(IB_QPS_RTR);
TRACE_DEFINE_ENUM(IB_QPS_RTS);
TRACE_DEFINE_ENUM(IB_QPS_SQD);
TRACE_DEFINE_ENUM(IB_QPS_SQE);
TRACE_DEFINE_ENUM(IB_QPS_ERR);

#define tern_ib_show_state(state)						\
	__print_symbolic(state,							\
		{ IB_QPS_RESET, "RESET" }, { IB_QPS_INIT, "INIT" },		\
		{ IB_QPS_RTR, "RTR" }, { IB_QPS_RTS, "RTS" },			\
		{ IB_QPS_SQD, "SQD" }, { IB_QPS_SQE, "SQE" },			\
		{ IB_QPS_ERR, "ERR" })

/* As the driver learns of it: a state that the device enters by itself is seen later. */
TRACE_EVENT(tern_ib_qp_state,
	    TP_PROTO(const struct ib_qp *qp, u32 number, enum ib_qp_state from,
		     enum ib_qp_state to),
	    TP_ARGS(qp, number, from, to),
	    TP_STRUCT__entry(__string(dev, dev_name(&qp->device->dev))
			     __field(u32, number)
			     __field(int, from)
			     __field(int, to)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->number = number;
			   __entry->from = from;
			   __entry->to = to;),
	    TP_printk("%s qpn=%u %s -> %s", __get_str(dev), __entry->number,
		      tern_ib_show_state(__entry->from), tern_ib_show_state(__entry->to)));

/* What consumers are told of a queue pair, a queue or the port. */
TRACE_EVENT(tern_ib_async_event,
	    TP_PROTO(const struct ib_device *device, enum ib_event_type event, u32 number),
	    TP_ARGS(device, event, number),
	    TP_STRUCT__entry(__string(dev, dev_name(&device->dev))
			     __field(int, event)
			     __field(u32, number)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->event = event;
			   __entry->number = number;),
	    TP_printk("%s event=%s number=%u", __get_str(dev),
		      rdma_show_ib_event(__entry->event), __entry->number));

#endif /* TERN_IB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
