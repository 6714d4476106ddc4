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
