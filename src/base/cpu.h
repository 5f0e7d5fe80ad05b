/* Instruction sets: which one this machine has, and how kernels are named.
 *
 * A kernel is written once, in a file X_kernels.c, and compiled once for each instruction set, with GRAZE_ISA as its
 * number (src/CMakeLists.txt). KERNEL(name) is its name there, CPU_KERNEL(name) the one to call on this machine. */
#ifndef GRAZE_SRC_BASE_CPU_H
#define GRAZE_SRC_BASE_CPU_H

typedef enum cpu_isa { CPU_SCALAR = 0, CPU_AVX2 = 1, CPU_AVX512 = 2 } cpu_isa;

/* The best one that the processor has, the operating system saves, and GRAZE_DISABLE allows. Found out once. */
cpu_isa gz_cpu_best(void);

#ifndef GRAZE_ISA /* what is no kernel */
#define GRAZE_ISA 0
#endif
#if GRAZE_ISA == 0
#define KERNEL(name) name##_scalar
#elif GRAZE_ISA == 1
#define KERNEL(name) name##_avx2
#else
#define KERNEL(name) name##_avx512
#endif

/* To declare them. */
#define CPU_KERNELS(type, name) type name##_scalar, name##_avx2, name##_avx512

/* CPU_KERNEL_TO_AVX2 is for kernels without a form for AVX-512. */
#if defined(__x86_64__)
#define CPU_KERNEL(name)         (((__typeof__(&name##_scalar)[]){name##_scalar, name##_avx2, name##_avx512})[gz_cpu_best()])
#define CPU_KERNEL_TO_AVX2(name) (gz_cpu_best() >= CPU_AVX2 ? name##_avx2 : name##_scalar)
#else
#define CPU_KERNEL(name)         (name##_scalar)
#define CPU_KERNEL_TO_AVX2(name) (name##_scalar)
#endif

#endif
