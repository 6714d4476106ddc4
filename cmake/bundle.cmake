# copyspy_bundle(<target> [<library>...]): after <target> is linked, copies what it needs, and the libraries named, which
# it opens at run time, into build/lib under private names (bundle.sh says why), so that build/ can be carried to another
# machine as it is. To be called in the folder that defines the target. COPYSPY_LIBUNWIND is the library to name for stacks.
# Without patchelf the build works on machines that have its needs installed.
find_program(COPYSPY_PATCHELF patchelf)
find_library(COPYSPY_LIBUNWIND NAMES libunwind.so.8)

function(copyspy_bundle target)
  if(COPYSPY_SANITIZE)
    return()
  endif()
  if(NOT COPYSPY_PATCHELF OR NOT COPYSPY_LIBUNWIND)
    message(STATUS "patchelf or libunwind.so.8 not found: ${target} will work on this machine only")
    return()
  endif()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_SOURCE_DIR}/cmake/bundle.sh ${COPYSPY_PATCHELF} $<TARGET_FILE:${target}>
            ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${ARGN}
    VERBATIM COMMENT "Copying what ${target} needs into lib")
endfunction()
