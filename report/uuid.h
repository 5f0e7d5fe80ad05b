/* uuid.h: GUIDs made from names, so that the same name has the same GUID in every export; private to report. */
#ifndef GRAZE_REPORT_UUID_H
#define GRAZE_REPORT_UUID_H

#include <stdint.h>

typedef struct report_uuid {
  uint8_t bytes[16];
} report_uuid;

/* Version 5 of RFC 4122 (SHA-1) of "KIND:NAME" in the name space of this project. */
report_uuid gz_report_uuid_of(const char *kind, const char *name);

/* "xxxxxxxx-xxxx-5xxx-xxxx-xxxxxxxxxxxx", lower case. */
void gz_report_uuid_text(report_uuid uuid, char text[37]);

/* The GlobalId of IFC for an object: the one that stands in its name, as exporters write it; else the compressed UUID
 * of the name. 22 characters. */
void gz_report_ifc_guid(const char *name, char guid[23]);

#endif
