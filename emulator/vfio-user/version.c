// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: version and capabilities of the vfio-user protocol. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "session.h"

#define CAPABILITIES_MAX	4096
#define JSON_DEPTH		8

/*
 * What we offer, in the order of the reply. Only what the client has named
 * is answered: the reply must be a subset of the request.
 */
static const struct {
	const char *name;
	const char *value;
} offers[] = {
	{ "max_msg_fds", "16" },
	{ "max_data_xfer_size", "65536" },
	{ "pgsizes", "4096" },
	{ "max_dma_maps", "16384" },
	{ "write_multiple", "true" },
};

static_assert(TERN_CHANNEL_FDS_MAX == 16, "max_msg_fds");
static_assert(TERN_CHANNEL_DATA_MAX == 65536, "max_data_xfer_size");
static_assert(TERN_DMA_RANGES_MAX == 16384, "max_dma_maps");

/* The capabilities of the client, or NULL when it has named none. -EINVAL in *err for bad JSON. */
static json_object *parse(const char *text, size_t length, int *err)
{
	struct json_tokener *tokener;
	json_object *root;

	*err = 0;
	if (!length)
		return NULL;
	*err = -EINVAL;
	if (length > CAPABILITIES_MAX || text[length - 1] != '\0')
		return NULL;
	tokener = json_tokener_new_ex(JSON_DEPTH);
	if (!tokener) {
		*err = -ENOMEM;
		return NULL;
	}
	root = json_tokener_parse_ex(tokener, text, (int)strnlen(text, length) + 1);
	json_tokener_free(tokener);
	if (!root)
		return NULL;
	if (!json_object_is_type(root, json_type_object)) {
		json_object_put(root);
		return NULL;
	}
	*err = 0;
	return root;
}

int tern_session_negotiate(struct tern_session *session, const struct vfio_user_header *header,
			   const uint8_t *payload, size_t length)
{
	struct vfio_user_version version;
	json_object *root, *capabilities = NULL;
	char text[512];
	size_t used = 0;
	uint8_t *reply;
	int err;

	if (session->negotiated || length < sizeof(version))
		return -EINVAL;
	memcpy(&version, payload, sizeof(version));
	if (version.major != VFIO_USER_MAJOR)
		return -EPROTONOSUPPORT;
	if (version.minor > VFIO_USER_MINOR)
		version.minor = VFIO_USER_MINOR;
	root = parse((const char *)payload + sizeof(version), length - sizeof(version), &err);
	if (err)
		return err;
	if (root && json_object_object_get_ex(root, "capabilities", &capabilities) &&
	    json_object_is_type(capabilities, json_type_object)) {
		used += (size_t)sprintf(text, "{\"capabilities\":{");
		for (size_t i = 0; i < ARRAY_SIZE(offers); i++) {
			if (!json_object_object_get_ex(capabilities, offers[i].name, NULL))
				continue;
			used += (size_t)sprintf(text + used, "%s\"%s\":%s",
						text[used - 1] == '{' ? "" : ",",
						offers[i].name, offers[i].value);
		}
		used += (size_t)sprintf(text + used, "}}") + 1;
	}
	json_object_put(root);
	reply = tern_channel_reply(session->channel, header, 0, sizeof(version) + used);
	if (!reply)
		return -ENOBUFS;
	memcpy(reply, &version, sizeof(version));
	memcpy(reply + sizeof(version), text, used);
	session->negotiated = true;
	return 0;
}
