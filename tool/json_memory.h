/* json_memory.h: memory of JSON trees while they are in use. */
#ifndef TOOL_JSON_MEMORY_H
#define TOOL_JSON_MEMORY_H

/* Before the first use of jansson. */
void json_memory_install(void);

#endif
