# graze_embed_kernels(OUT PREFIX FOLDER KERNELS): writes OUT, in which PREFIX_sources lists the modules KERNELS, whose
# texts are in FOLDER, as text and, where nvcc works, as PTX. Of a module NAME=FILE, or NAME=FILE:KEY for a text that is
# made for a type of keys or rows. PREFIX_texts gets the files of the texts.
set(GRAZE_KERNELS_HERE "${CMAKE_CURRENT_LIST_DIR}")
find_program(GRAZE_NVCC nvcc HINTS /usr/local/cuda/bin)
if(GRAZE_NVCC AND NOT DEFINED GRAZE_NVCC_WORKS) # it may not know this compiler, or this capability no longer
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/probe.cu" "__global__ void probe() {}\n")
  execute_process(COMMAND "${GRAZE_NVCC}" --ptx --gpu-architecture=compute_75 -o "${CMAKE_CURRENT_BINARY_DIR}/probe.ptx"
    "${CMAKE_CURRENT_BINARY_DIR}/probe.cu" RESULT_VARIABLE probed OUTPUT_QUIET ERROR_QUIET)
  if(probed EQUAL 0)
    set(GRAZE_NVCC_WORKS ON CACHE INTERNAL "nvcc makes PTX here")
  else()
    set(GRAZE_NVCC_WORKS OFF CACHE INTERNAL "nvcc makes PTX here")
    message(STATUS "graze: nvcc makes no PTX, so kernels are compiled by NVRTC where they run")
  endif()
endif()

function(graze_embed_kernels out prefix folder kernels)
  set(here "${GRAZE_KERNELS_HERE}")
  file(GLOB headers CONFIGURE_DEPENDS "${here}/kernels/*.h")
  set(texts "")
  set(ptx "")
  foreach(kernel IN LISTS kernels)
    string(REGEX MATCH "^([a-z0-9]+)=([a-z0-9]+):?([a-z0-9]*)$" matched "${kernel}")
    set(name "${CMAKE_MATCH_1}")
    set(key "${CMAKE_MATCH_3}")
    set(file "${folder}/${CMAKE_MATCH_2}.cl")
    set(text "${CMAKE_CURRENT_BINARY_DIR}/${name}.cu")
    add_custom_command(OUTPUT "${text}"
      COMMAND "${CMAKE_COMMAND}" "-DKEY=${key}" "-DFOLDER=${here}/kernels" "-DFILE=${file}" "-DOUT=${text}"
        -P "${here}/join.cmake"
      DEPENDS ${headers} "${file}" "${here}/join.cmake" VERBATIM)
    list(APPEND texts "${text}")
    if(GRAZE_NVCC AND GRAZE_NVCC_WORKS)
      # The oldest capability that all toolkits in use know; drivers compile it for the device.
      set(made "${CMAKE_CURRENT_BINARY_DIR}/${name}")
      set(to_ptx "${GRAZE_NVCC}" --ptx --gpu-architecture=compute_75 --fmad=false -std=c++17)
      add_custom_command(OUTPUT "${made}.ptx" "${made}_shuffle.ptx"
        COMMAND ${to_ptx} -o "${made}.ptx" "${text}"
        COMMAND ${to_ptx} -DGRAZE_SHUFFLE -o "${made}_shuffle.ptx" "${text}"
        DEPENDS "${text}" VERBATIM)
      list(APPEND ptx "${made}.ptx")
    endif()
  endforeach()
  add_custom_command(OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DTEXTS=${texts}" "-DPTX=${ptx}" "-DPREFIX=${prefix}" "-DOUT=${out}" -P "${here}/embed.cmake"
    DEPENDS ${texts} ${ptx} "${here}/embed.cmake" VERBATIM)
  set(${prefix}_texts "${texts}" PARENT_SCOPE)
endfunction()
