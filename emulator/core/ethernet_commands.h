/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tern: handlers of the port's and Ethernet's commands. */
#ifndef TERN_ETHERNET_COMMANDS_H
#define TERN_ETHERNET_COMMANDS_H

#include "command.h"

struct qp;

/* port.c */
uint16_t query_port_command(struct command *command);
uint16_t set_port_command(struct command *command);
/* filter.c */
uint16_t set_station_address_command(struct command *command);
uint16_t set_receive_mode_command(struct command *command);
uint16_t set_multicast_table_command(struct command *command);
uint16_t set_vlan_table_command(struct command *command);
/* rss.c */
uint16_t set_rss_command(struct command *command);
/* hashing.c */
uint16_t set_hashing_command(struct command *command);

/*
 * The ETHERNET queue pairs, with receive queues, of a table of @count QPNs in
 * guest memory. @count is not above RSS_ENTRIES_MAX. TERN_COMMAND_STATUS_*.
 */
uint16_t rss_table_read(struct function *fn, uint64_t address, unsigned int count,
			struct qp **table);

/* The ETHERNET queue pair @qpn, which must have a receive queue. TERN_COMMAND_STATUS_*. */
uint16_t ethernet_receiver_find(struct function *fn, uint32_t qpn, struct qp **qp);

#endif /* TERN_ETHERNET_COMMANDS_H */
