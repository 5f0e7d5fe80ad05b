/* The self-test: operations whose rounding tells devices apart, on numbers that the host chose. Results are bits, so
 * that nothing in between can change them. */

FUNCTION double to_double(u64 bits) {
#if defined(__OPENCL_VERSION__)
  return as_double(bits);
#else
  return __longlong_as_double((i64)bits);
#endif
}

FUNCTION u64 to_bits(double x) {
#if defined(__OPENCL_VERSION__)
  return as_ulong(x);
#else
  return (u64)__double_as_longlong(x);
#endif
}

/* For each triple (a, b, c): a + b, a * b, a / b, sqrt |a|, a * b + c with two roundings and with one, the error of a + b
 * (Knuth) and of a * b, and the determinant of a near-singular matrix. Nine results a triple. */
KERNEL(64) arithmetic(GLOBAL const u64 *RESTRICT in, GLOBAL u64 *RESTRICT out, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  double a = to_double(in[3 * i]), b = to_double(in[3 * i + 1]), c = to_double(in[3 * i + 2]);
  double sum = a + b, bb = sum - a;
  double product = a * b;
  out[9 * i + 0] = to_bits(sum);
  out[9 * i + 1] = to_bits(product);
  out[9 * i + 2] = to_bits(a / b);
  out[9 * i + 3] = to_bits(SQRT(a < 0 ? -a : a));
  out[9 * i + 4] = to_bits(a * b + c);
  out[9 * i + 5] = to_bits(FMA(a, b, c));
  out[9 * i + 6] = to_bits((a - (sum - bb)) + (b - bb));
  out[9 * i + 7] = to_bits(FMA(a, b, -product));
  out[9 * i + 8] = to_bits(a * c - b * b);
}
