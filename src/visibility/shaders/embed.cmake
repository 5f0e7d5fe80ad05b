# Writes OUT: each of FILES as an array of characters, gz_visibility_text_NAME, where NAME is the file's up to the first
# point and its kind: put.frag.glsl is put_frag, bounds.glsl is bounds.
set(code "/* Made by embed.cmake from shaders. */\n#include \"visibility/texts.h\"\n\n")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE "\\.glsl$" "" name "${name}")
  string(REPLACE "." "_" name "${name}")
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND code "const char gz_visibility_text_${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "${code}")
