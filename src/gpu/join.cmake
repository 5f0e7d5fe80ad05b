# Puts the text of a module together: FOLDER/portable.h, the type of its keys if it has one, FOLDER/FILE.cl with what
# that includes. To OUT.
file(READ "${FOLDER}/portable.h" text)
if(KEY)
  string(APPEND text "#define KEY ${KEY}\n")
  if(KEY STREQUAL "u64")
    string(APPEND text "#define KEY64\n")
  endif()
endif()
file(READ "${FOLDER}/${FILE}.cl" body)
file(READ "${FOLDER}/group.h" group)
string(REPLACE "#include \"group.h\"\n" "${group}" body "${body}")
file(WRITE "${OUT}" "${text}${body}")
