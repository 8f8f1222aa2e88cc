// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tern-dcb: IEEE 802.1Qau's objects by DCB netlink, which iproute2's dcb lacks.
 * Times are in us and rates in Mb/s; Documentation/lossless.rst says what each
 * field does on a Tern.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "qcn_arguments.h"

static const char usage_text[] =
	"usage: tern-dcb qcn show dev DEV [-j]\n"
	"       tern-dcb qcn stats dev DEV [-j]\n"
	"       tern-dcb qcn set dev DEV {prio {N|all} {FIELD VALUE}...}...\n"
	"FIELD: enable {on|off}, time-reset US, byte-reset BYTES, threshold N, max-rate MBPS,\n"
	"       ai-rate MBPS, hai-rate MBPS, gd LOG2, min-dec-fac PERCENT, min-rate MBPS\n";

/* What an answer brings. */
struct reply {
	int type;		/* wanted: DCB_ATTR_IEEE_* */
	void *data;
	int length;
	bool found;
	bool status_found;
	int status;		/* of a set: an errno */
};

static int take_reply(struct nl_msg *msg, void *argument)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct reply *reply = argument;
	struct nlattr *ieee, *attribute;

	if (header->nlmsg_type != RTM_GETDCB && header->nlmsg_type != RTM_SETDCB)
		return NL_SKIP;
	ieee = nlmsg_find_attr(header, sizeof(struct dcbmsg), DCB_ATTR_IEEE);
	if (!ieee)
		return NL_OK;
	if (!reply->data) {
		/* The kernel puts a negative errno into a byte. */
		if (nla_len(ieee) >= 1) {
			reply->status_found = true;
			reply->status = -(int8_t)nla_get_u8(ieee);
		}
		return NL_OK;
	}
	attribute = nla_find(nla_data(ieee), nla_len(ieee), reply->type);
	if (attribute && nla_len(attribute) >= reply->length) {
		memcpy(reply->data, nla_data(attribute), reply->length);
		reply->found = true;
	}
	return NL_OK;
}

/* Returns 0 or an errno of libnl. */
static int transact(int type, int command, const char *dev, const struct ieee_qcn *qcn,
		    struct reply *reply)
{
	struct dcbmsg dcb = { .dcb_family = AF_UNSPEC, .cmd = command };
	struct nl_sock *sock = nl_socket_alloc();
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST);
	struct nlattr *ieee;
	int err = -NLE_NOMEM;

	if (!sock || !msg || nlmsg_append(msg, &dcb, sizeof(dcb), NLMSG_ALIGNTO) ||
	    nla_put_string(msg, DCB_ATTR_IFNAME, dev))
		goto out;
	if (qcn) {
		ieee = nla_nest_start(msg, DCB_ATTR_IEEE);
		if (!ieee || nla_put(msg, DCB_ATTR_IEEE_QCN, sizeof(*qcn), qcn))
			goto out;
		nla_nest_end(msg, ieee);
	}
	err = nl_connect(sock, NETLINK_ROUTE);
	if (err)
		goto out;
	/* The answer is one message, without an acknowledgment after it. */
	nl_socket_disable_auto_ack(sock);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take_reply, reply);
	err = nl_send_auto(sock, msg);
	if (err >= 0)
		err = nl_recvmsgs_default(sock);
out:
	nlmsg_free(msg);
	nl_socket_free(sock);
	return err;
}

static int get(const char *dev, int type, void *data, int length)
{
	struct reply reply = { .type = type, .data = data, .length = length };
	int err = transact(RTM_GETDCB, DCB_CMD_IEEE_GET, dev, NULL, &reply);

	if (err) {
		fprintf(stderr, "tern-dcb: %s: %s\n", dev, nl_geterror(err));
		return 1;
	}
	if (!reply.found) {
		fprintf(stderr, "tern-dcb: %s has no QCN\n", dev);
		return 1;
	}
	return 0;
}

static int show(const char *dev, bool json)
{
	const struct qcn_field *field;
	unsigned int priority, i, value;
	struct ieee_qcn qcn;

	if (get(dev, DCB_ATTR_IEEE_QCN, &qcn, sizeof(qcn)))
		return 1;
	if (json)
		printf("[");
	for (priority = 0; priority < IEEE_8021QAZ_MAX_TCS; priority++) {
		printf(json ? "%s{\"prio\":%u" : "%sprio %u", json && priority ? "," : "",
		       priority);
		for (i = 0; i < qcn_field_count; i++) {
			field = &qcn_fields[i];
			value = qcn_get(&qcn, field, priority);
			if (i == 0 && json)
				printf(",\"enable\":%s", value ? "true" : "false");
			else if (i == 0)
				printf(" enable %s", value ? "on" : "off");
			else if (json)
				printf(",\"%s\":%u", field->name, value);
			else
				printf(" %s %u%s", field->name, value, field->unit);
		}
		printf(json ? "}" : "\n");
	}
	if (json)
		printf("]\n");
	return 0;
}

static int stats(const char *dev, bool json)
{
	struct ieee_qcn_stats stats;
	unsigned int priority;

	if (get(dev, DCB_ATTR_IEEE_QCN_STATS, &stats, sizeof(stats)))
		return 1;
	for (priority = 0; priority < IEEE_8021QAZ_MAX_TCS; priority++)
		printf(json ? "%s{\"prio\":%u,\"rp-centiseconds\":%llu,\"created-rps\":%u}%s" :
			      "%sprio %u rp-centiseconds %llu created-rps %u%s",
		       json ? priority ? "," : "[" : "", priority,
		       (unsigned long long)stats.rppp_rp_centiseconds[priority],
		       stats.rppp_created_rps[priority],
		       !json ? "\n" : priority == IEEE_8021QAZ_MAX_TCS - 1 ? "]\n" : "");
	return 0;
}

static int set(const char *dev, char **words, int count)
{
	struct reply reply = { 0 };
	struct ieee_qcn qcn;
	char error[128];
	int err;

	if (get(dev, DCB_ATTR_IEEE_QCN, &qcn, sizeof(qcn)))
		return 1;
	if (qcn_apply(&qcn, words, count, error, sizeof(error))) {
		fprintf(stderr, "tern-dcb: %s\n%s", error, usage_text);
		return 2;
	}
	err = transact(RTM_SETDCB, DCB_CMD_IEEE_SET, dev, &qcn, &reply);
	if (err) {
		fprintf(stderr, "tern-dcb: %s: %s\n", dev, nl_geterror(err));
		return 1;
	}
	if (!reply.status_found || reply.status) {
		fprintf(stderr, "tern-dcb: %s: %s; the kernel's log may say why\n", dev,
			reply.status_found ? strerror(reply.status) : "no answer");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	bool json = argc > 1 && !strcmp(argv[argc - 1], "-j");
	int count = argc - 5 - json;

	if (argc < 5 || strcmp(argv[1], "qcn") || strcmp(argv[3], "dev") || count < 0)
		goto usage;
	if (!strcmp(argv[2], "show") && !count)
		return show(argv[4], json);
	if (!strcmp(argv[2], "stats") && !count)
		return stats(argv[4], json);
	if (!strcmp(argv[2], "set") && !json)
		return set(argv[4], argv + 5, count);
usage:
	fputs(usage_text, stderr);
	return 2;
}
