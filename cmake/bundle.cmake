# copyspy_bundle(<target>... OPENED <library>...): the target copyspy-bundle, part of a plain build. Once the targets are
# linked it copies what they need, and the libraries that they open at run time, into build/lib under private names
# (bundle.sh says why), so that build/ can be carried to another machine as it is. COPYSPY_LIBUNWIND is the library to
# name for stacks. Without patchelf the build works on machines that have its needs installed.
find_program(COPYSPY_PATCHELF patchelf)
find_library(COPYSPY_LIBUNWIND NAMES libunwind.so.8)

function(copyspy_bundle)
  cmake_parse_arguments(bundle "" "" "OPENED" ${ARGN})
  if(COPYSPY_SANITIZE)
    add_custom_target(copyspy-bundle)
    return()
  endif()
  if(NOT COPYSPY_PATCHELF OR NOT COPYSPY_LIBUNWIND)
    message(STATUS "patchelf or libunwind.so.8 not found: the build will work on this machine only")
    add_custom_target(copyspy-bundle DEPENDS ${bundle_UNPARSED_ARGUMENTS})
    return()
  endif()
  set(stamps "")
  foreach(target IN LISTS bundle_UNPARSED_ARGUMENTS)
    set(stamp ${CMAKE_BINARY_DIR}/bundle-${target}.stamp)
    add_custom_command(OUTPUT ${stamp}
      COMMAND ${CMAKE_SOURCE_DIR}/cmake/bundle.sh ${COPYSPY_PATCHELF} $<TARGET_FILE:${target}>
              ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${bundle_OPENED}
      COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
      DEPENDS ${target} $<TARGET_FILE:${target}> ${CMAKE_SOURCE_DIR}/cmake/bundle.sh ${stamps}
      VERBATIM COMMENT "Copying what ${target} needs into lib")
    list(APPEND stamps ${stamp})
  endforeach()
  add_custom_target(copyspy-bundle ALL DEPENDS ${stamps})
endfunction()
