// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Tern driver: ethtool -t. Traffic goes on meanwhile. */
#include <linux/ethtool.h>

#include "command_queue.h"
#include "commands.h"
#include "netdev.h"
#include "registers.h"

static bool tern_test_registers(struct tern_netdev *priv)
{
	return tern_read32(priv->adapter, TERN_REG_MAGIC) == TERN_MAGIC &&
	       tern_read32(priv->adapter, TERN_REG_STATUS) == TERN_STATUS_READY;
}

static bool tern_test_command(struct tern_netdev *priv)
{
	return !tern_cmd_nop(&priv->adapter->device);
}

static u64 tern_command_interrupts(struct tern_command_queue *queue)
{
	u64 count;

	spin_lock_irq(&queue->lock);
	count = queue->interrupts_seen;
	spin_unlock_irq(&queue->lock);
	return count;
}

/* A command's completion comes with an interrupt and is not found by looking. */
static bool tern_test_interrupt(struct tern_netdev *priv)
{
	struct tern_command_queue *queue = priv->adapter->commands;
	u64 before = tern_command_interrupts(queue);

	return !tern_cmd_nop(&priv->adapter->device) && tern_command_interrupts(queue) != before;
}

static bool tern_test_link(struct tern_netdev *priv)
{
	return netif_carrier_ok(priv->netdev);
}

static const struct {
	char name[ETH_GSTRING_LEN];
	bool (*passes)(struct tern_netdev *priv);
} tern_tests[] = {
	{ "registers (on/offline)", tern_test_registers },
	{ "command   (on/offline)", tern_test_command },
	{ "interrupt (on/offline)", tern_test_interrupt },
	{ "link      (on/offline)", tern_test_link },
};

int tern_self_test_count(void)
{
	return ARRAY_SIZE(tern_tests);
}

void tern_self_test_strings(u8 *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tern_tests); i++)
		ethtool_puts(&data, tern_tests[i].name);
}

void tern_self_test(struct net_device *netdev, struct ethtool_test *test, u64 *data)
{
	struct tern_netdev *priv = netdev_priv(netdev);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tern_tests); i++) {
		data[i] = !tern_tests[i].passes(priv);
		if (data[i])
			test->flags |= ETH_TEST_FL_FAILED;
	}
}
