/* Numbers of 32 or 64 bits, as KEY says, given as bits. */
#if defined(KEY64)
#define KEY_TOP      ((KEY)1 << 63)
#define KEY_INFINITE ((KEY)0x7FF << 52)
#else
#define KEY_TOP      ((KEY)1 << 31)
#define KEY_INFINITE ((KEY)0xFF << 23)
#endif

/* In the order of the numbers; -0 and 0 are one. */
FUNCTION KEY ordered(KEY bits) {
  if (bits == KEY_TOP) bits = 0;
  return (bits & KEY_TOP) != 0 ? ~bits : bits | KEY_TOP;
}
