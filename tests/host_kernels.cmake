# Writes OUT, C that makes a host_module (host_kernel.h) of the module NAME: includes TEXT, its text as joined by
# src/gpu/join.cmake, and lists every KERNEL(items) name(parameters) of it.
file(READ "${TEXT}" text)
set(out "/* Made by host_kernels.cmake. */
#define GRAZE_HOST
#include \"host_kernel.h\"

/* Kept together, so that it can be overwritten before each group. */
#ifdef GRAZE_SHUFFLE
#define HOST_SHARED __attribute__((section(\"host_shared_${NAME}_shuffle\")))
#else
#define HOST_SHARED __attribute__((section(\"host_shared_${NAME}\")))
#endif
extern const host_module HOST_NAME(host_module_${NAME});
extern char HOST_NAME(__start_host_shared_${NAME})[] __attribute__((weak));
extern char HOST_NAME(__stop_host_shared_${NAME})[] __attribute__((weak));

#include \"${TEXT}\"

")
set(table "")
set(pattern "KERNEL\\(([A-Za-z0-9_]+)\\)[ \n]+([A-Za-z0-9_]+)\\(([^(){}]*)\\)[ \n]*{")
string(REGEX MATCHALL "${pattern}" kernels "${text}")
foreach(kernel IN LISTS kernels)
  string(REGEX MATCH "${pattern}" kernel "${kernel}")
  set(group "${CMAKE_MATCH_1}")
  set(name "${CMAKE_MATCH_2}")
  string(REGEX REPLACE "[ \n]*,[ \n]*" ";" parameters "${CMAKE_MATCH_3}")
  set(values "")
  set(sizes "")
  set(access "")
  set(count 0)
  foreach(parameter IN LISTS parameters)
    string(REGEX REPLACE "[ \n]*[A-Za-z0-9_]+$" "" type "${parameter}")
    if(type MATCHES "\\*")
      list(APPEND values "*(void *const *)values[${count}]")
      list(APPEND sizes "0")
      set(how "0")
      if(type MATCHES "RESTRICT")
        string(APPEND how " | HOST_RESTRICT")
      endif()
      if(NOT type MATCHES "const ")
        string(APPEND how " | HOST_WRITTEN")
      endif()
      list(APPEND access "${how}")
    else()
      list(APPEND access "0")
      list(APPEND values "*(const ${type} *)values[${count}]")
      list(APPEND sizes "sizeof(${type})")
    endif()
    math(EXPR count "${count} + 1")
  endforeach()
  list(JOIN values ", " values)
  list(JOIN sizes ", " sizes)
  list(JOIN access ", " access)
  string(APPEND out "static void call_${name}(const void *const *values) {\n  ${name}(${values});\n}
static const size_t sizes_${name}[] = {${sizes}};
static const unsigned char access_${name}[] = {${access}};\n\n")
  string(APPEND table "  {&HOST_NAME(host_module_${NAME}), \"${name}\", ${group}, call_${name}, sizes_${name}, access_${name}, ${count}},\n")
endforeach()
file(WRITE "${OUT}" "${out}static const host_kernel kernels[] = {\n${table}};

const host_module HOST_NAME(host_module_${NAME}) = {\"${NAME}\", kernels, sizeof kernels / sizeof *kernels,
  HOST_NAME(__start_host_shared_${NAME}), HOST_NAME(__stop_host_shared_${NAME})};\n")
