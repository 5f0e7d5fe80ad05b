# Writes OUT: the modules of TEXTS as arrays, each with its PTX if that is among the files PTX, and their table,
# PREFIX_sources.
cmake_policy(SET CMP0057 NEW) # IN_LIST
function(bytes_of file result)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

set(arrays "")
set(table "")
set(count 0)
foreach(text IN LISTS TEXTS)
  get_filename_component(name "${text}" NAME_WE)
  get_filename_component(folder "${text}" DIRECTORY)
  bytes_of("${text}" bytes)
  string(APPEND arrays "static const char text_${name}[] = {${bytes}0};\n")
  set(ptx "NULL, 0")
  if("${folder}/${name}.ptx" IN_LIST PTX)
    bytes_of("${folder}/${name}.ptx" bytes)
    string(APPEND arrays "static const unsigned char ptx_${name}[] = {${bytes}0};\n")
    set(ptx "ptx_${name}, sizeof ptx_${name}")
  endif()
  string(APPEND table "    {\"${name}\", text_${name}, sizeof text_${name} - 1, ${ptx}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUT}" "/* Made by embed.cmake from kernels. */\n#include \"gpu/device.h\"\n\n${arrays}
extern const gpu_source ${PREFIX}_sources[];\nextern const uint32_t ${PREFIX}_source_count;\nconst gpu_source ${PREFIX}_sources[] = {\n${table}};\nconst uint32_t ${PREFIX}_source_count = ${count};\n")
