/* The self-test: operations whose rounding tells devices apart, on numbers that the host chose. Results are bits, so
 * that nothing in between can change them. */

/* For each triple (a, b, c): a + b, a * b, a / b, sqrt |a|, a * b + c with two roundings and with one, the error of a + b
 * (Knuth) and of a * b, and the determinant of a near-singular matrix. Nine results a triple. */
KERNEL(64) arithmetic(GLOBAL const u64 *RESTRICT in, GLOBAL u64 *RESTRICT out, u32 count) {
  u32 i = GROUP * 64 + ITEM;
  if (i >= count) return;
  double a = AS_F64(in[3 * i]), b = AS_F64(in[3 * i + 1]), c = AS_F64(in[3 * i + 2]);
  double sum = a + b, bb = sum - a;
  double product = a * b;
  out[9 * i + 0] = AS_U64(sum);
  out[9 * i + 1] = AS_U64(product);
  out[9 * i + 2] = AS_U64(a / b);
  out[9 * i + 3] = AS_U64(SQRT(a < 0 ? -a : a));
  out[9 * i + 4] = AS_U64(a * b + c);
  out[9 * i + 5] = AS_U64(FMA(a, b, c));
  out[9 * i + 6] = AS_U64((a - (sum - bb)) + (b - bb));
  out[9 * i + 7] = AS_U64(FMA(a, b, -product));
  out[9 * i + 8] = AS_U64(a * c - b * b);
}
