# Finds the CUDA toolkit: COPYSPY_CUDA_ROOT, else nvcc on PATH, else the usual places. Defines
#   COPYSPY_NVCC          the compiler
#   cuda_headers          interface target: the toolkit's headers (CUPTI's included)
#   COPYSPY_CUDART        the shared runtime to link the demos with
# and copyspy_cuda_objects(), which compiles .cu files with nvcc.
set(COPYSPY_CUDA_ROOT "" CACHE PATH "folder with bin/nvcc and include/cuda.h")
find_program(COPYSPY_NVCC nvcc HINTS ${COPYSPY_CUDA_ROOT}/bin ENV CUDA_HOME PATHS /usr/local/cuda/bin REQUIRED)
get_filename_component(_nvcc ${COPYSPY_NVCC} REALPATH)
get_filename_component(_bin ${_nvcc} DIRECTORY)
get_filename_component(_root ${_bin} DIRECTORY)
find_path(COPYSPY_CUDA_INCLUDE cuda.h HINTS ${COPYSPY_CUDA_ROOT}/include ${_root}/include
          ${_root}/targets/x86_64-linux/include REQUIRED)
find_path(COPYSPY_CUPTI_INCLUDE cupti.h HINTS ${COPYSPY_CUDA_INCLUDE} ${_root}/extras/CUPTI/include REQUIRED)
find_library(COPYSPY_CUDART NAMES cudart libcudart.so.13 libcudart.so.12 HINTS ${COPYSPY_CUDA_ROOT}/lib64
             ${COPYSPY_CUDA_ROOT}/lib ${_root}/lib64 ${_root}/lib ${_root}/targets/x86_64-linux/lib REQUIRED)
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${COPYSPY_CUDA_INCLUDE} ${COPYSPY_CUPTI_INCLUDE})

# copyspy_cuda_objects(<variable> <file.cu>...): compiles each file with nvcc for the architectures below, machine code
# for each and PTX for the last. Sets <variable> to the object files, to be named among a target's sources. Device code
# is not compressed, so that the stand-in runtime can hand out the cubins; host code carries line numbers, so that
# reports can quote it.
set(COPYSPY_CUDA_ARCHITECTURES "80;90" CACHE STRING "compute capabilities to compile kernels for")
set(COPYSPY_NVCC_FLAGS -std=c++17 -O3 -g -lineinfo --no-compress -Xcompiler=-fPIC,-Wall,-Wextra -Werror all-warnings
    -I${CMAKE_SOURCE_DIR})
foreach(_arch IN LISTS COPYSPY_CUDA_ARCHITECTURES)
  list(APPEND COPYSPY_NVCC_FLAGS -gencode arch=compute_${_arch},code=sm_${_arch})
endforeach()
list(GET COPYSPY_CUDA_ARCHITECTURES -1 _arch)
list(APPEND COPYSPY_NVCC_FLAGS -gencode arch=compute_${_arch},code=compute_${_arch})

function(copyspy_cuda_objects variable)
  set(objects "")
  foreach(file IN LISTS ARGN)
    get_filename_component(source ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${COPYSPY_NVCC} ${COPYSPY_NVCC_FLAGS} -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM COMMENT "Building CUDA object ${name}.o")
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()
