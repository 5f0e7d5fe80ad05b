/* Which instruction set the SIMD kernels run in. */
#ifndef GRAZE_SRC_BASE_CPU_H
#define GRAZE_SRC_BASE_CPU_H

typedef enum cpu_isa { CPU_SCALAR = 0, CPU_AVX2 = 1, CPU_AVX512 = 2 } cpu_isa;

/* The best one that the processor has, the operating system saves, and GRAZE_DISABLE allows. Found out once. */
cpu_isa gz_cpu_best(void);

/* The kernel of this name for this machine, of name_scalar, name_avx2 and name_avx512. */
#if defined(__x86_64__)
#define CPU_KERNEL(name) (((__typeof__(&name##_scalar)[]){name##_scalar, name##_avx2, name##_avx512})[gz_cpu_best()])
#else
#define CPU_KERNEL(name) (name##_scalar)
#endif

#endif
