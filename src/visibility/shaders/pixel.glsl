/* What is kept of a pixel: three words of four, zero where nothing is. Floats are kept as integers in the same order, the lower
 * bound as its complement, so that both grow. */
layout(binding = 0, r32ui) uniform uimageBuffer pixels;
layout(binding = 4) uniform usamplerBuffer texels; /* the same, to be read at once */

uint ordered(float x) {
  uint bits = floatBitsToUint(x);
  if (bits == 0x80000000u) bits = 0u;
  return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

uvec3 words_of(uint pixel) {
  return texelFetch(texels, int(pixel)).xyz;
}
