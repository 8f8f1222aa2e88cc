// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: runs the tests that a test program registered. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tern_test.h"

#define EXIT_FAILED	1
#define EXIT_SKIPPED	77

static struct tern_test *first, **last = &first;
static const char *running;

void tern_test_register(struct tern_test *test)
{
	*last = test;
	last = &test->next;
}

_Noreturn void tern_test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("FAIL %s: %s:%d: ", running, file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(EXIT_FAILED);
}

_Noreturn void tern_test_skip(const char *format, ...)
{
	va_list args;

	printf("SKIP %s: ", running);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(EXIT_SKIPPED);
}

/* Time limit of one test in seconds; sanitizers and a busy machine are slow. */
static unsigned int time_limit(void)
{
	const char *text = getenv("TERN_TEST_TIMEOUT");
	unsigned long value = text ? strtoul(text, NULL, 10) : 0;

	return value ? (unsigned int)value : 120;
}

/* A test that ends by itself has printed its own line; else print why it ended. */
static int run_one(const struct tern_test *test)
{
	int status;
	pid_t pid;

	running = test->name;
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (!pid) {
		alarm(time_limit());
		test->run();
		fflush(stdout);
		/* exit(), not _exit(): the leak checker runs at exit. */
		exit(0);
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR) {
			perror("waitpid");
			exit(2);
		}
	}
	if (WIFSIGNALED(status)) {
		if (WTERMSIG(status) == SIGALRM)
			printf("FAIL %s: not done after %u s\n", running, time_limit());
		else
			printf("FAIL %s: killed by signal %d (%s)\n", running,
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
		return EXIT_FAILED;
	}
	if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != EXIT_FAILED &&
	    WEXITSTATUS(status) != EXIT_SKIPPED)
		printf("FAIL %s: exit code %d (a sanitizer's report stands above)\n", running,
		       WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	unsigned int passed = 0, failed = 0, skipped = 0;
	bool here = false, list = false;
	const char *part = "";
	double start = seconds();

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-1"))
			here = true;
		else if (!strcmp(argv[i], "-l"))
			list = true;
		else
			part = argv[i];
	}
	for (const struct tern_test *test = first; test; test = test->next) {
		if (!strstr(test->name, part))
			continue;
		if (list) {
			printf("%s\n", test->name);
		} else if (here) {
			running = test->name;
			test->run();
			passed++;
		} else {
			switch (run_one(test)) {
			case 0:
				passed++;
				break;
			case EXIT_SKIPPED:
				skipped++;
				break;
			default:
				failed++;
			}
		}
	}
	if (list)
		return 0;
	if (!passed && !failed && !skipped) {
		fprintf(stderr, "no test matches \"%s\"\n", part);
		return 2;
	}
	printf("%s: %u passed, %u failed, %u skipped (%.1f s)\n",
	       strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0], passed, failed,
	       skipped, seconds() - start);
	return failed ? 1 : 0;
}
