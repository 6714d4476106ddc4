// fixtures_sm90.cu - the tensor memory accelerator: descriptors among the parameters, and bulk copies. See fixtures.cu.
#include <cstdint>
#include <cuda.h>

#define KERNEL extern "C" __global__ void
static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return uint32_t(__cvta_generic_to_shared(p));
}

struct Tile {
    alignas(128) char bytes[4096];
    uint64_t barrier;
};

static __device__ __forceinline__ void load_tile(Tile &tile, const CUtensorMap *map, int x, int y)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            shared_address(tile.bytes)),
        "l"(map), "r"(x), "r"(y), "r"(shared_address(&tile.barrier))
        : "memory");
}

static __device__ __forceinline__ void store_tile(const CUtensorMap *map, const Tile &tile, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                 "r"(shared_address(tile.bytes)), "r"(x), "r"(y)
                 : "memory");
}

KERNEL tma_copy(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int n)
{
    __shared__ Tile tile;
    load_tile(tile, &from, n, blockIdx.x);
    store_tile(&to, tile, n, blockIdx.x);
}

KERNEL tma_reduce(int n, const __grid_constant__ CUtensorMap to, const float *scale)
{
    __shared__ Tile tile;
    tile.bytes[threadIdx.x] = char(scale[threadIdx.x]);
    __syncthreads();
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&to),
                 "r"(shared_address(tile.bytes)), "r"(n), "r"(n + 1)
                 : "memory");
}

struct Gemm {
    int m, n, k;
    CUtensorMap a, b;
    float *c;
};
KERNEL tma_in_struct(const __grid_constant__ Gemm p)
{
    __shared__ Tile tile[2];
    load_tile(tile[0], &p.a, p.m, blockIdx.x);
    load_tile(tile[1], &p.b, p.n, blockIdx.y);
    p.c[threadIdx.x] = tile[0].bytes[threadIdx.x] * tile[1].bytes[threadIdx.x];
}

KERNEL tma_chosen(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  const __grid_constant__ CUtensorMap to, int n)
{
    __shared__ Tile tile;
    load_tile(tile, n > 5 ? &a : &b, n, blockIdx.x);
    store_tile(&to, tile, n, blockIdx.x);
}

KERNEL tma_map_in_memory(const CUtensorMap *map, float *to)
{
    __shared__ Tile tile;
    load_tile(tile, map, 0, blockIdx.x);
    to[threadIdx.x] = tile.bytes[threadIdx.x];
}

KERNEL tma_prefetch(const __grid_constant__ CUtensorMap map, int n)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    if (n > 3)
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(&map), "r"(n), "r"(n)
                     : "memory");
}

KERNEL bulk_copy(char *to, const char *from, int n)
{
    __shared__ Tile tile;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
                     shared_address(tile.bytes)),
                 "l"(from + n * 64), "r"(shared_address(&tile.barrier))
                 : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(to + n * 64),
                 "r"(shared_address(tile.bytes))
                 : "memory");
}

KERNEL bulk_reduce(int *to, int n)
{
    __shared__ Tile tile;
    tile.bytes[threadIdx.x] = char(n);
    __syncthreads();
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 256;" ::"l"(to),
                 "r"(shared_address(tile.bytes))
                 : "memory");
}
