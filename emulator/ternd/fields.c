// SPDX-License-Identifier: GPL-2.0-or-later
/* Tern: fields of a JSON object that a person wrote. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

void ternd_fields_fail(struct ternd_fields *fields, const char *format, ...)
{
	va_list args;
	int used;

	if (fields->failed)
		return;
	fields->failed = true;
	used = snprintf(fields->error, fields->error_size, "%s: ", fields->what);
	va_start(args, format);
	if (used >= 0 && (size_t)used < fields->error_size)
		vsnprintf(fields->error + used, fields->error_size - (size_t)used, format, args);
	va_end(args);
}

static void join(const char *const *keys, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (; *keys; keys++) {
		int more = snprintf(text + used, size - used, "%s%s", used ? ", " : "", *keys);

		if (more < 0 || (size_t)more >= size - used)
			return;
		used += (size_t)more;
	}
}

void ternd_fields_init(struct ternd_fields *fields, json_object *object, const char *what,
		       const char *const *keys, char *error, size_t error_size)
{
	*fields = (struct ternd_fields){ object, what, error, error_size, false };
	if (!json_object_is_type(object, json_type_object)) {
		ternd_fields_fail(fields, "must be an object, {\"key\": value, ...}");
		return;
	}
	json_object_object_foreach(object, key, value) {
		const char *const *known = keys;
		char text[400];

		(void)value;
		while (*known && strcmp(*known, key))
			known++;
		if (*known)
			continue;
		join(keys, text, sizeof(text));
		ternd_fields_fail(fields, "unknown key \"%s\"; known are: %s", key, text);
		return;
	}
}

static json_object *get(struct ternd_fields *fields, const char *key, bool required)
{
	json_object *value = NULL;

	if (fields->failed)
		return NULL;
	if (!json_object_object_get_ex(fields->object, key, &value) || !value) {
		if (required)
			ternd_fields_fail(fields, "\"%s\" is missing", key);
		return NULL;
	}
	return value;
}

bool ternd_field_given(const struct ternd_fields *fields, const char *key)
{
	return !fields->failed && json_object_object_get_ex(fields->object, key, NULL);
}

const char *ternd_field_string(struct ternd_fields *fields, const char *key, bool required)
{
	json_object *value = get(fields, key, required);

	if (!value)
		return NULL;
	if (!json_object_is_type(value, json_type_string) || !json_object_get_string_len(value)) {
		ternd_fields_fail(fields, "\"%s\" must be a string that is not empty", key);
		return NULL;
	}
	return json_object_get_string(value);
}

static bool number_of_string(const char *text, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 0);
	return !errno && !*end;
}

uint64_t ternd_field_number(struct ternd_fields *fields, const char *key, bool required,
			    uint64_t otherwise, uint64_t max)
{
	json_object *value = get(fields, key, required);
	uint64_t number = 0;
	bool good = false;

	if (!value)
		return otherwise;
	if (json_object_is_type(value, json_type_int)) {
		number = json_object_get_uint64(value);
		/* A negative number reads as 0 here and is smaller as signed. */
		good = number > INT64_MAX || json_object_get_int64(value) >= 0;
	} else if (json_object_is_type(value, json_type_string)) {
		good = number_of_string(json_object_get_string(value), &number);
	}
	if (!good || number > max) {
		ternd_fields_fail(fields, "\"%s\" must be a whole number from 0 to %llu", key,
				  (unsigned long long)max);
		return otherwise;
	}
	return number;
}

double ternd_field_fraction(struct ternd_fields *fields, const char *key, bool required,
			    double otherwise)
{
	json_object *value = get(fields, key, required);
	double number = NAN;

	if (!value)
		return otherwise;
	if (json_object_is_type(value, json_type_double) ||
	    json_object_is_type(value, json_type_int)) {
		number = json_object_get_double(value);
	} else if (json_object_is_type(value, json_type_string)) {
		char *end;

		number = strtod(json_object_get_string(value), &end);
		if (*end)
			number = NAN;
	}
	if (!(number >= 0 && number <= 1)) {
		ternd_fields_fail(fields, "\"%s\" must be a number from 0 to 1", key);
		return otherwise;
	}
	return number;
}

bool ternd_field_bool(struct ternd_fields *fields, const char *key, bool required,
		      bool otherwise)
{
	json_object *value = get(fields, key, required);
	const char *text;

	if (!value)
		return otherwise;
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value);
	if (json_object_is_type(value, json_type_string)) {
		text = json_object_get_string(value);
		if (!strcmp(text, "on") || !strcmp(text, "true"))
			return true;
		if (!strcmp(text, "off") || !strcmp(text, "false"))
			return false;
	}
	ternd_fields_fail(fields, "\"%s\" must be on or off (in JSON: true or false)", key);
	return otherwise;
}

bool ternd_field_mac(struct ternd_fields *fields, const char *key, uint8_t mac[6])
{
	const char *text = ternd_field_string(fields, key, false);
	unsigned int byte[6];
	int used = 0;

	if (!text)
		return false;
	if (strlen(text) != 17 ||
	    sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1], &byte[2], &byte[3],
		   &byte[4], &byte[5], &used) != 6 || used != 17) {
		ternd_fields_fail(fields, "\"%s\" must look like 02:00:00:00:00:01", key);
		return false;
	}
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)byte[i];
	if (mac[0] & 1 || !(mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5])) {
		ternd_fields_fail(fields, "\"%s\" %s is no address of one station: its first "
				  "byte must be even, and it must not be zero", key, text);
		return false;
	}
	return true;
}

json_object *ternd_parse_pairs(const char *text, char *error, size_t error_size)
{
	json_object *object = json_object_new_object();
	char *copy = strdup(text), *at = copy;

	while (*at) {
		char *equals = strchr(at, '='), *from, *to;
		const char *comma = strchr(at, ',');
		bool more = false;

		if (!equals || equals == at || (comma && comma < equals)) {
			snprintf(error, error_size, "\"%s\": write key=value,key=value", text);
			goto fail;
		}
		*equals = '\0';
		for (from = to = equals + 1; *from; from++) {
			if (*from == ',') {
				if (from[1] != ',') {
					more = true;
					break;
				}
				from++;
			}
			*to++ = *from;
		}
		if (json_object_object_get_ex(object, at, NULL)) {
			snprintf(error, error_size, "\"%s\": %s is given twice", text, at);
			goto fail;
		}
		json_object_object_add(object, at,
				       json_object_new_string_len(equals + 1,
								  (int)(to - equals - 1)));
		at = more ? from + 1 : from;
	}
	free(copy);
	return object;

fail:
	free(copy);
	json_object_put(object);
	return NULL;
}
