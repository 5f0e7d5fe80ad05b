# What `cmake --install` puts where: libraries, public headers, the program, the CMake package (find_package(graze)
# with targets graze::graze, graze::io, graze::report and graze::check), the pkg-config files and the documents. tool/ installs
# its manual pages and completions. The installed tree may be moved as a
# whole.
include(CMakePackageConfigHelpers)

set(graze_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/graze")
set(graze_installed graze)
if(TARGET graze_io)
  set_target_properties(graze_io PROPERTIES EXPORT_NAME io)
  list(APPEND graze_installed graze_io)
endif()
if(TARGET graze_gpu)
  set_target_properties(graze_gpu PROPERTIES EXPORT_NAME gpu)
  list(APPEND graze_installed graze_gpu)
endif()
set(graze_report_libs "")
if(TARGET graze_report)
  set_target_properties(graze_report PROPERTIES EXPORT_NAME report)
  list(APPEND graze_installed graze_report)
  get_target_property(graze_report_libs graze_report LINK_LIBRARIES)
endif()
if(TARGET graze_check)
  set_target_properties(graze_check PROPERTIES EXPORT_NAME check)
  list(APPEND graze_installed graze_check)
endif()
# The packages that the report library was built with; the configuration and the pkg-config file ask for no others.
set(graze_report_packages "")
foreach(package IN ITEMS PNG::PNG PkgConfig::ZLIB)
  if(package IN_LIST graze_report_libs)
    list(APPEND graze_report_packages ${package})
  endif()
endforeach()

if(BUILD_SHARED_LIBS)
  # A moved tree finds its own libraries.
  file(RELATIVE_PATH graze_lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(${graze_installed} PROPERTIES INSTALL_RPATH "$ORIGIN")
  if(TARGET graze_tool)
    set_target_properties(graze_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${graze_lib_from_bin}")
  endif()
endif()

install(TARGETS ${graze_installed} EXPORT grazeTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET graze_tool)
  install(TARGETS graze_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

if(TARGET graze_import) # io/import_run.c looks for it next to the program
  install(TARGETS graze_import RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

set(graze_headers base broadphase collide engine graze math mesh record relate scene)
if(TARGET graze_io)
  list(APPEND graze_headers io)
endif()
if(TARGET graze_report)
  list(APPEND graze_headers report)
endif()
if(TARGET graze_check)
  list(APPEND graze_headers check)
endif()
if(TARGET graze_gpu)
  list(APPEND graze_headers gpu)
endif()
list(TRANSFORM graze_headers PREPEND "${PROJECT_SOURCE_DIR}/include/graze/")
list(TRANSFORM graze_headers APPEND ".h")
install(FILES ${graze_headers} "${PROJECT_BINARY_DIR}/include/graze/version.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/graze")

install(EXPORT grazeTargets NAMESPACE graze:: DESTINATION "${graze_package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/grazeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/grazeConfig.cmake" INSTALL_DESTINATION "${graze_package_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/grazeConfigVersion.cmake"
  VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/grazeConfig.cmake" "${PROJECT_BINARY_DIR}/grazeConfigVersion.cmake"
  DESTINATION "${graze_package_dir}")

# pkg-config. What a static library needs stands in Libs of a static installation, so that plain --libs links. A
# shared one carries its needs: its users can do without those packages.
file(RELATIVE_PATH graze_prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" graze_prefix_from_pc "${graze_prefix_from_pc}")
set(graze_private_libs "-lm -pthread")
set(graze_report_requires "")
if("PNG::PNG" IN_LIST graze_report_packages)
  string(APPEND graze_report_requires ", libpng")
endif()
if("PkgConfig::ZLIB" IN_LIST graze_report_packages)
  string(APPEND graze_report_requires ", zlib")
endif()
set(graze_dl_libs "")
if(CMAKE_DL_LIBS AND CMAKE_DL_LIBS IN_LIST graze_report_libs)
  set(graze_dl_libs " -l${CMAKE_DL_LIBS}")
endif()
set(graze_gpu_needs "")
if(CMAKE_DL_LIBS)
  set(graze_gpu_needs " -l${CMAKE_DL_LIBS}")
endif()
if(BUILD_SHARED_LIBS)
  set(graze_gpu_pc_libs "")
  set(graze_gpu_pc_libs_private "${graze_gpu_needs}")
  set(graze_pc_libs "")
  set(graze_pc_libs_private " ${graze_private_libs}")
  set(graze_pc_cflags " -DGRAZE_SHARED")
  set(graze_io_pc_requires "graze = ${PROJECT_VERSION}")
  set(graze_report_pc_requires "graze_io = ${PROJECT_VERSION}")
  set(graze_report_pc_libs "")
  set(graze_report_pc_libs_private "${graze_dl_libs}")
else()
  set(graze_gpu_pc_libs "${graze_gpu_needs}")
  set(graze_gpu_pc_libs_private "")
  set(graze_pc_libs " ${graze_private_libs}")
  set(graze_pc_libs_private "")
  set(graze_pc_cflags "")
  set(graze_io_pc_requires "graze = ${PROJECT_VERSION}, jansson")
  set(graze_report_pc_requires "graze_io = ${PROJECT_VERSION}${graze_report_requires}")
  set(graze_report_pc_libs "${graze_dl_libs}")
  set(graze_report_pc_libs_private "")
endif()
foreach(package IN LISTS graze_installed)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

add_custom_target(uninstall COMMAND "${CMAKE_COMMAND}" "-DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt"
  -P "${CMAKE_CURRENT_LIST_DIR}/GrazeUninstall.cmake" VERBATIM)
