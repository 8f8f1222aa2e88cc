// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: ternd, the program. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "config.h"
#include "control.h"
#include "ternd_switch.h"

/* Microseconds of looking for work before sleeping; Documentation/ternd.rst says why so few. */
#define SPIN_DEFAULT_US	5

static void on_signal(void *context, uint32_t events)
{
	struct ternd *ternd = context;

	(void)events;
	ternd->quit = true;
}

static int watch_signals(struct ternd *ternd, struct tern_watch *watch)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	signal(SIGPIPE, SIG_IGN);
	watch->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	watch->ready = on_signal;
	watch->context = ternd;
	return watch->fd < 0 || tern_loop_watch(ternd->loop, watch, EPOLLIN) ? -1 : 0;
}

static void clean_up(struct ternd *ternd)
{
	struct ternd_control *control = ternd->control;

	while (ternd->nics)
		ternd_nic_destroy(ternd->nics);
	while (ternd->switches)
		ternd_switch_destroy(ternd->switches);
	ternd->control = NULL;
	ternd_control_destroy(control);
	tern_loop_destroy(ternd->loop);
}

int main(int argc, char **argv)
{
	struct ternd ternd = { .spin_ns = SPIN_DEFAULT_US * 1000 };
	struct tern_watch signals = { .fd = -1 };
	json_object *config;
	char error[600];
	int status = 1, err;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(ternd_usage, stdout);
		return 0;
	}
	config = ternd_config_of_arguments(argc, argv, error, sizeof(error));
	if (!config) {
		fprintf(stderr, "ternd: %s\n", error);
		return 2;
	}
	ternd.started = tern_loop_now();
	ternd.loop = tern_loop_create();
	if (!ternd.loop || watch_signals(&ternd, &signals)) {
		perror("ternd");
		json_object_put(config);
		return 1;
	}
	if (ternd_config_apply(&ternd, config, error, sizeof(error))) {
		fprintf(stderr, "ternd: %s\n", error);
		status = 2;
		goto out;
	}
	puts("READY");
	fflush(stdout);
	err = ternd_run(&ternd);
	if (err)
		fprintf(stderr, "ternd: event loop: %s\n", strerror(-err));
	else
		status = 0;
out:
	json_object_put(config);
	clean_up(&ternd);
	close(signals.fd);
	return status;
}
