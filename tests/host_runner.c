/* Groups run one after the other; the items of a group are fibers, which change at barriers. So what depends on the
 * order of items comes out otherwise in another order, and a barrier that some items do not reach is found. Shared
 * memory holds rubbish before each group.
 *
 * A change of fibers is what nearly all the time goes into. swapcontext asks the kernel for the signal mask each time,
 * which takes longer than all the rest; on x86-64 the registers that a call keeps are changed by hand. */
#include "host_runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size)  ((void)(save), (void)(bottom), (void)(size))
#define __sanitizer_finish_switch_fiber(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size)               ((void)(at), (void)(size))
#endif

enum { STACK = 64 << 10, WARP = 32, RUBBISH = 0xA5 };

/* The modules, as the build lists them. */
#define X(name) extern const host_module host_module_##name, host_module_##name##_shuffle;
#include "host_modules.h"
#undef X
#define X(name) {&host_module_##name, &host_module_##name##_shuffle},
static const host_module *const modules[][2] = {
#include "host_modules.h"
};
#undef X

/* ---- changing the stack ---------------------------------------------------------------------------------------- */

#if defined(__x86_64__)

typedef void *stack_place;

/* Keeps the registers of the caller on its stack and goes on with another stack. */
void host_switch(stack_place *from, const stack_place *to);
__asm__(
    ".text\n"
    ".type host_switch, @function\n"
    "host_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq (%rsi), %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size host_switch, . - host_switch\n");

/* The first switch to `place` pops six registers and returns to `entry`, as if that had been called. */
static void stack_begin(stack_place *place, char *stack, void (*entry)(void)) {
  void **top = (void **)(void *)(stack + STACK);
  memset(top - 8, 0, 8 * sizeof *top);
  memcpy(top - 2, &entry, sizeof entry);
  *place = top - 8;
}

#else

#include <ucontext.h>

typedef ucontext_t stack_place;

static void host_switch(stack_place *from, const stack_place *to) {
  swapcontext(from, to);
}

static void stack_begin(stack_place *place, char *stack, void (*entry)(void)) {
  getcontext(place);
  place->uc_stack.ss_sp = stack;
  place->uc_stack.ss_size = STACK;
  place->uc_link = NULL;
  makecontext(place, entry, 0);
  place->uc_stack.ss_size = 0; /* else AddressSanitizer would forget at each switch what it knows of the stack */
}

#endif

/* ---- fibers ---------------------------------------------------------------------------------------------------- */

typedef struct fiber {
  stack_place place;
  void *sanitizer; /* its own, between switches */
  int line;        /* of the barrier where it waits; 0: it has ended */
} fiber;

struct host_runner {
  char *stacks; /* each with a page before it that cannot be touched */
  size_t pitch; /* from one to the next */
  fiber fibers[HOST_GROUP_MOST];
  uint32_t order[HOST_GROUP_MOST];
  uint64_t exchange[HOST_GROUP_MOST];
  stack_place launcher;
  void *launcher_sanitizer;
  const void *launcher_stack;
  size_t launcher_stack_size;
  const host_kernel *kernel;
  const void *const *values;
  host_order order_kind;
  uint64_t random;
  bool wrong_shuffles;
  char fault[160];
};

uint32_t host_item, host_group, host_groups;
static host_runner *running; /* that of the launch */

static char *stack_of(host_runner *r, uint32_t item) {
  return r->stacks + item * r->pitch + (r->pitch - STACK);
}

static void enter_item(host_runner *r, uint32_t item) {
  host_item = item;
  __sanitizer_start_switch_fiber(&r->launcher_sanitizer, stack_of(r, item), STACK);
  host_switch(&r->launcher, &r->fibers[item].place);
  __sanitizer_finish_switch_fiber(r->launcher_sanitizer, NULL, NULL);
}

/* Back to the launcher; line 0: for good. */
static void leave_item(host_runner *r, int line) {
  fiber *f = &r->fibers[host_item];
  f->line = line;
  __sanitizer_start_switch_fiber(line != 0 ? &f->sanitizer : NULL, r->launcher_stack, r->launcher_stack_size);
  host_switch(&f->place, &r->launcher);
  __sanitizer_finish_switch_fiber(f->sanitizer, NULL, NULL);
}

static void run_item(void) {
  __sanitizer_finish_switch_fiber(NULL, &running->launcher_stack, &running->launcher_stack_size);
  running->kernel->call(running->values);
  leave_item(running, 0);
}

void host_barrier(int line) {
  leave_item(running, line);
}

uint64_t host_shuffle_up(uint64_t value, uint32_t n, int line) {
  uint32_t item = host_item;
  running->exchange[item] = value;
  host_barrier(line);
  uint64_t got = item % WARP >= n ? running->exchange[item - n] : value;
  host_barrier(line);
  return running->wrong_shuffles ? got + 1 : got;
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

/* Numbers 0 .. count - 1 in the order asked for. */
static void put_in_order(host_runner *r, uint32_t *numbers, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) numbers[i] = r->order_kind == HOST_BACKWARD ? count - 1 - i : i;
  for (uint32_t i = count; r->order_kind == HOST_RANDOM && i > 1; i--) {
    uint32_t j = (uint32_t)(splitmix64(r->random++) % i), kept = numbers[i - 1];
    numbers[i - 1] = numbers[j];
    numbers[j] = kept;
  }
}

/* Every byte, and what a sanitizer put between the arrays, which its memset would not let pass. */
__attribute__((no_sanitize("address"))) static void spoil(char *begin, const char *end) {
#if defined(__SANITIZE_ADDRESS__)
  for (volatile char *at = begin; at < end; at++) *at = (char)RUBBISH;
#else
  if (begin < end) memset(begin, RUBBISH, (size_t)(end - begin));
#endif
}

/* After a round all items wait at one barrier, or all have ended: true, else false and the fault. */
static bool judge_round(host_runner *r) {
  int line = r->fibers[0].line;
  for (uint32_t i = 1; i < r->kernel->group; i++) {
    int other = r->fibers[i].line;
    if (other == line) continue;
    char where[2][48];
    snprintf(where[0], sizeof where[0], line != 0 ? "waits at the barrier of line %d" : "has ended", line);
    snprintf(where[1], sizeof where[1], other != 0 ? "waits at that of line %d" : "has ended", other);
    snprintf(r->fault, sizeof r->fault, "group %u: item 0 %s, item %u %s", host_group, where[0], i, where[1]);
    return false;
  }
  return true;
}

static bool run_group(host_runner *r) {
  for (uint32_t i = 0; i < r->kernel->group; i++) stack_begin(&r->fibers[i].place, stack_of(r, i), run_item);
  do {
    put_in_order(r, r->order, r->kernel->group);
    for (uint32_t i = 0; i < r->kernel->group; i++) enter_item(r, r->order[i]);
    if (!judge_round(r)) {
      ASAN_UNPOISON_MEMORY_REGION(r->stacks, HOST_GROUP_MOST * r->pitch); /* frames that nobody returns to */
      return false;
    }
  } while (r->fibers[0].line != 0);
  return true;
}

const char *host_runner_run(host_runner *r, const host_kernel *kernel, uint32_t count, const void *const *values) {
  uint32_t *order = malloc((count + (size_t)1) * sizeof *order);
  if (order == NULL) return "no memory for the order of the groups";
  if (kernel->group > HOST_GROUP_MOST) {
    free(order);
    return "too many items in a group";
  }
  running = r;
  r->kernel = kernel;
  r->values = values;
  bool good = true;
  put_in_order(r, order, count);
  host_groups = count;
  for (uint32_t i = 0; good && i < count; i++) {
    host_group = order[i];
    spoil(kernel->module->shared, kernel->module->shared_end);
    good = run_group(r);
  }
  free(order);
  return good ? NULL : r->fault;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

host_runner *host_runner_create(host_order order, uint64_t seed, bool wrong_shuffles) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pitch = STACK + page;
  host_runner *r = calloc(1, sizeof *r);
  if (r == NULL) return NULL;
  r->pitch = pitch;
  r->order_kind = order;
  r->random = seed;
  r->wrong_shuffles = wrong_shuffles;
  r->stacks =
      mmap(NULL, HOST_GROUP_MOST * pitch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (r->stacks == MAP_FAILED) {
    free(r);
    return NULL;
  }
  for (uint32_t i = 0; i < HOST_GROUP_MOST; i++) mprotect(r->stacks + i * pitch, page, PROT_NONE);
  return r;
}

void host_runner_destroy(host_runner *r) {
  if (r == NULL) return;
  munmap(r->stacks, HOST_GROUP_MOST * r->pitch);
  free(r);
}

const host_module *host_find_module(const char *name, bool shuffle) {
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    if (strcmp(modules[i][shuffle]->name, name) == 0) return modules[i][shuffle];
  }
  return NULL;
}

const host_kernel *host_find_kernel(const host_module *module, const char *name) {
  for (uint32_t i = 0; i < module->count; i++) {
    if (strcmp(module->kernels[i].name, name) == 0) return &module->kernels[i];
  }
  return NULL;
}
