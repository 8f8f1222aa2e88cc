// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Provokes one report of each of the debug kernel's checkers, so that a test
 * can see that such a report fails a run: insmod provoke.ko kind=...
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *kind = "";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "which checker's report to provoke");

static void provoke_warn(void)
{
	WARN_ON(1);
}

static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);

static void provoke_lockdep(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);
	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

static void provoke_kasan(void)
{
	char *p = kmalloc(8, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[8], 1);
	kfree(p);
}

static DEFINE_SPINLOCK(spin);

static void provoke_atomic(void)
{
	spin_lock(&spin);
	msleep(20);
	spin_unlock(&spin);
}

static void provoke_ubsan(void)
{
	int shift = 40, value = 1;

	OPTIMIZER_HIDE_VAR(shift);
	OPTIMIZER_HIDE_VAR(value);
	pr_info("provoke: %d\n", value << shift);
}

static void provoke_dma(void)
{
	struct platform_device *pdev;
	dma_addr_t addr;
	void *p;

	pdev = platform_device_register_simple("provoke", -1, NULL, 0);
	if (IS_ERR(pdev))
		return;
	p = kmalloc(64, GFP_KERNEL | GFP_DMA32);
	if (p) {
		addr = dma_map_single(&pdev->dev, p, 64, DMA_TO_DEVICE);
		/* The missing dma_mapping_error() is the fault. */
		dma_unmap_single(&pdev->dev, addr, 64, DMA_TO_DEVICE);
	}
	kfree(p);
	platform_device_unregister(pdev);
}

static void provoke_list(void)
{
	struct list_head head, item;

	INIT_LIST_HEAD(&head);
	list_add(&item, &head);
	list_del(&item);
	list_del(&item);
}

static void provoke_refcount(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	refcount_inc(&count);
}

static void provoke_odebug(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	/* Never initialised. */
	timer_delete_sync(timer);
	kfree(timer);
}

static void provoke_leak(void)
{
	void *p = kmalloc(128, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
	p = NULL;
	OPTIMIZER_HIDE_VAR(p);
}

static void provoke_hung(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(12 * HZ);
}

static const struct {
	const char *name;
	void (*provoke)(void);
} kinds[] = {
	{ "warn", provoke_warn },
	{ "lockdep", provoke_lockdep },
	{ "kasan", provoke_kasan },
	{ "atomic", provoke_atomic },
	{ "ubsan", provoke_ubsan },
	{ "dma", provoke_dma },
	{ "list", provoke_list },
	{ "refcount", provoke_refcount },
	{ "odebug", provoke_odebug },
	{ "leak", provoke_leak },
	{ "hung", provoke_hung },
};

static int __init provoke_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, kind)) {
			kinds[i].provoke();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit provoke_exit(void)
{
}

module_init(provoke_init);
module_exit(provoke_exit);

MODULE_DESCRIPTION("Provokes reports of kernel checkers");
MODULE_LICENSE("GPL");
