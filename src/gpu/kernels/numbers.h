/* Numbers given as bits. */

/* name(bits): in the order of the numbers; -0 and 0 are one. */
#define ORDERED(name, type)                                \
  FUNCTION type name(type bits) {                          \
    const type top = (type)1 << (8 * sizeof(type) - 1);    \
    if (bits == top) bits = 0;                             \
    return (bits & top) != 0 ? (type)~bits : (bits | top); \
  }

/* Where there are keys: numbers of 32 or 64 bits, as KEY says. */
#if defined(KEY)
#if defined(KEY64)
#define KEY_INFINITE ((KEY)0x7FF << 52)
#else
#define KEY_INFINITE ((KEY)0xFF << 23)
#endif
ORDERED(ordered, KEY)
#endif
