// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern KUnit suites: the module. Its suites run when it is loaded. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of the Tern driver");
MODULE_LICENSE("Dual BSD/GPL");
