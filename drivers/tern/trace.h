/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Tern driver: trace points, /sys/kernel/tracing/events/tern/. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tern

#if !defined(TERN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TERN_TRACE_H

#include <linux/device.h>
#include <linux/tracepoint.h>

TRACE_EVENT(tern_command,
	    TP_PROTO(const struct device *dev, u16 opcode, u32 number, int err, u16 status,
		     u32 syndrome, u64 duration),
	    TP_ARGS(dev, opcode, number, err, status, syndrome, duration),
	    TP_STRUCT__entry(__string(dev, dev_name(dev))
			     __field(u16, opcode)
			     __field(u16, status)
			     __field(u32, number)
			     __field(u32, syndrome)
			     __field(int, err)
			     __field(u64, duration)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->opcode = opcode;
			   __entry->status = status;
			   __entry->number = number;
			   __entry->syndrome = syndrome;
			   __entry->err = err;
			   __entry->duration = duration;),
	    TP_printk("%s opcode=%#x number=%u err=%d status=%u syndrome=%u duration=%llu ns",
		      __get_str(dev), __entry->opcode, __entry->number, __entry->err,
		      __entry->status, __entry->syndrome, __entry->duration));

/* Of the device, but for completions. */
TRACE_EVENT(tern_event,
	    TP_PROTO(const struct device *dev, u8 type, u8 subtype, u32 number),
	    TP_ARGS(dev, type, subtype, number),
	    TP_STRUCT__entry(__string(dev, dev_name(dev))
			     __field(u8, type)
			     __field(u8, subtype)
			     __field(u32, number)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->type = type;
			   __entry->subtype = subtype;
			   __entry->number = number;),
	    TP_printk("%s type=%#x subtype=%u number=%u", __get_str(dev), __entry->type,
		      __entry->subtype, __entry->number));

#endif /* TERN_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
