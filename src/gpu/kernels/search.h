/* name(sorted, begin, end, x): the first place in [begin, end) whose number is not below x, else `end`. */
#define LOWER_BOUND(name, type)                                              \
  FUNCTION u32 name(GLOBAL const type *sorted, u32 begin, u32 end, type x) { \
    while (begin < end) {                                                    \
      u32 middle = begin + (end - begin) / 2;                                \
      if (sorted[middle] < x)                                                \
        begin = middle + 1;                                                  \
      else                                                                   \
        end = middle;                                                        \
    }                                                                        \
    return begin;                                                            \
  }
