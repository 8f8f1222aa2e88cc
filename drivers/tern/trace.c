// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: where the trace points are. */
#define CREATE_TRACE_POINTS
#include "trace.h"
