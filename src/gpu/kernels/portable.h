/* What kernels are written in: the part that OpenCL C 1.2, CUDA C++ and C have in common, under one set of names. This
 * text goes before that of every module. As C they run in tests, where tests/host_kernel.h goes before this.
 *
 * Pointers carry GLOBAL, those to SHARED arrays SHARED_ARG: OpenCL 1.2 has no pointers to any memory. No
 * vectors: their members and operators differ. Every product and sum is rounded by itself: OpenCL is told so here, CUDA
 * by an option. FMA(a, b, c) is the one that is rounded once. A CALLED function is large and called from many places:
 * it is not to be made part of them. Barriers are reached by all items of a group or none. Kernels are one-dimensional:
 * KERNEL(256) name(...) has groups of 256 items.
 *
 * AS_... are the same bits as another type; LEADING_ZEROS is of 64 bits, BITS_SET of 32. Where it is defined,
 * SHUFFLE_UP(x, n) is the x of the item n before this one among 32 that run together; all 32 call it, and the first n
 * get their own. */
#if defined(__OPENCL_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define KERNEL(items)    __kernel __attribute__((reqd_work_group_size(items, 1, 1))) void
#define FUNCTION         static inline
#define CALLED           static __attribute__((noinline))
#define GLOBAL           __global
#define SHARED           __local
#define SHARED_ARG       __local
#define RESTRICT         restrict
#define ITEM             ((u32)get_local_id(0))
#define GROUP            ((u32)get_group_id(0))
#define GROUPS           ((u32)get_num_groups(0))
#define BARRIER          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define FMA(a, b, c)     fma(a, b, c)
#define SQRT(a)          sqrt(a)
#define ABS(a)           fabs(a)
#define LEADING_ZEROS(x) ((u32)clz((u64)(x)))
#define BITS_SET(x)      popcount(x)
#define AS_F64(bits)     as_double(bits)
#define AS_F32(bits)     as_float(bits)
#define AS_U64(x)        as_ulong(x)
#define AS_U32(x)        as_uint(x)
#define ADD_SHARED(p, x) atomic_add(p, x)
#define ADD_GLOBAL(p, x) atomic_add(p, x)
#define OR_GLOBAL(p, x)  atomic_or(p, x)
#define MIN_GLOBAL(p, x) atomic_min(p, x)
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef long i64;

#elif defined(__CUDACC__)

#define KERNEL(items) extern "C" __global__ void __launch_bounds__(items)
#define FUNCTION      static __device__ inline
#define CALLED        static __device__ __noinline__
#define GLOBAL
#define SHARED __shared__
#define SHARED_ARG
#define RESTRICT         __restrict__
#define ITEM             ((u32)threadIdx.x)
#define GROUP            ((u32)blockIdx.x)
#define GROUPS           ((u32)gridDim.x)
#define BARRIER          __syncthreads()
#define FMA(a, b, c)     fma(a, b, c)
#define SQRT(a)          sqrt(a)
#define ABS(a)           fabs(a)
#define LEADING_ZEROS(x) ((u32)__clzll((i64)(x)))
#define BITS_SET(x)      ((u32)__popc(x))
#define AS_F64(bits)     __longlong_as_double((i64)(bits))
#define AS_F32(bits)     __uint_as_float(bits)
#define AS_U64(x)        ((u64)__double_as_longlong(x))
#define AS_U32(x)        __float_as_uint(x)
#define ADD_SHARED(p, x) atomicAdd(p, x)
#define ADD_GLOBAL(p, x) atomicAdd(p, x)
#define OR_GLOBAL(p, x)  atomicOr(p, x)
#define MIN_GLOBAL(p, x) atomicMin(p, x)
#if defined(GRAZE_SHUFFLE)
#define SHUFFLE_UP(x, n) __shfl_up_sync(0xFFFFFFFFu, x, n)
#endif
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#elif defined(GRAZE_HOST)

#define KERNEL(items) static void
#define FUNCTION      static inline
#define CALLED        static
#define GLOBAL
#define SHARED static HOST_SHARED
#define SHARED_ARG
#define RESTRICT         restrict
#define ITEM             host_item
#define GROUP            host_group
#define GROUPS           host_groups
#define BARRIER          host_barrier(__LINE__)
#define FMA(a, b, c)     __builtin_fma(a, b, c)
#define SQRT(a)          __builtin_sqrt(a)
#define ABS(a)           __builtin_fabs(a)
#define LEADING_ZEROS(x) host_leading_zeros(x)
#define BITS_SET(x)      ((u32)__builtin_popcount(x))
#define AS_F64(bits)     host_as_f64(bits)
#define AS_F32(bits)     host_as_f32(bits)
#define AS_U64(x)        host_as_u64(x)
#define AS_U32(x)        host_as_u32(x)
#define ADD_SHARED(p, x) __atomic_fetch_add(p, x, __ATOMIC_RELAXED)
#define ADD_GLOBAL(p, x) __atomic_fetch_add(p, x, __ATOMIC_RELAXED)
#define OR_GLOBAL(p, x)  __atomic_fetch_or(p, x, __ATOMIC_RELAXED)
#define MIN_GLOBAL(p, x) host_min(p, x)
#if defined(GRAZE_SHUFFLE)
#define SHUFFLE_UP(x, n) host_shuffle_up(x, n, __LINE__)
#endif
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#endif
