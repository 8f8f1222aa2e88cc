/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tern: fields of a JSON object that a person wrote, in a configuration file,
 * as key=value on a command line (where all values are strings), or in a
 * request: checked, with errors that say what to write instead.
 */
#ifndef TERND_FIELDS_H
#define TERND_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

struct ternd_fields {
	json_object *object;
	const char *what;		/* "nic", for errors */
	char *error;
	size_t error_size;
	bool failed;			/* the first error stays in @error */
};

/* Begin; fails when @object is no object or has a key not in the NULL-terminated @keys. */
void ternd_fields_init(struct ternd_fields *fields, json_object *object, const char *what,
		       const char *const *keys, char *error, size_t error_size);

bool ternd_field_given(const struct ternd_fields *fields, const char *key);
/* With @required an absent field is an error; else the default is returned. */
const char *ternd_field_string(struct ternd_fields *fields, const char *key, bool required);
uint64_t ternd_field_number(struct ternd_fields *fields, const char *key, bool required,
			    uint64_t otherwise, uint64_t max);
double ternd_field_fraction(struct ternd_fields *fields, const char *key, bool required,
			    double otherwise);
bool ternd_field_bool(struct ternd_fields *fields, const char *key, bool required,
		      bool otherwise);
/* Returns false when the field is absent. */
bool ternd_field_mac(struct ternd_fields *fields, const char *key, uint8_t mac[6]);

void ternd_fields_fail(struct ternd_fields *fields, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "key=value,key=value" as an object of strings; ",," is a comma in a value. NULL on error. */
json_object *ternd_parse_pairs(const char *text, char *error, size_t error_size);

#endif /* TERND_FIELDS_H */
