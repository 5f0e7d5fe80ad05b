/* uuid.c: see uuid.h. SHA-1 as FIPS 180-4 has it: what RFC 4122 asks for in a UUID of version 5, and no secret.
 *
 * IFC compresses the 128 bits to 22 digits of base 64 (buildingSMART, "IFC GUID"): the first digit has 2 bits, the
 * others 6, most significant first, digits 0-9 A-Z a-z _ $.
 */
#include "uuid.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* ---- SHA-1 ---- */

typedef struct sha1 {
  uint32_t state[5];
  uint8_t block[64];
  uint64_t length; /* bytes so far */
} sha1;

static uint32_t rotate(uint32_t x, int bits) {
  return x << bits | x >> (32 - bits);
}

static void sha1_block(sha1 *hash) {
  uint32_t w[80];
  for (int i = 0; i < 16; i++) {
    const uint8_t *p = hash->block + 4 * i;
    w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  }
  for (int i = 16; i < 80; i++) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = hash->state[0], b = hash->state[1], c = hash->state[2], d = hash->state[3], e = hash->state[4];
  for (int i = 0; i < 80; i++) {
    static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
    uint32_t next = rotate(a, 5) + f + e + constants[i / 20] + w[i];
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  const uint32_t sums[5] = {a, b, c, d, e};
  for (int i = 0; i < 5; i++) hash->state[i] += sums[i];
}

static void sha1_add(sha1 *hash, const void *bytes, size_t size) {
  const uint8_t *p = bytes;
  for (size_t i = 0; i < size; i++) {
    hash->block[hash->length++ % 64] = p[i];
    if (hash->length % 64 == 0) sha1_block(hash);
  }
}

static void sha1_end(sha1 *hash, uint8_t digest[20]) {
  uint64_t bits = 8 * hash->length;
  sha1_add(hash, "\x80", 1);
  while (hash->length % 64 != 56) sha1_add(hash, "", 1);
  for (int i = 56; i >= 0; i -= 8) sha1_add(hash, (uint8_t[1]){(uint8_t)(bits >> i)}, 1);
  for (int i = 0; i < 20; i++) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- UUIDs ---- */

report_uuid gz_report_uuid_of(const char *kind, const char *name) {
  /* 6a37dde1-c2cf-4b0c-9a5e-1f5bd16aeb75, drawn once for this project */
  static const uint8_t name_space[16] = {0x6a, 0x37, 0xdd, 0xe1, 0xc2, 0xcf, 0x4b, 0x0c,
                                         0x9a, 0x5e, 0x1f, 0x5b, 0xd1, 0x6a, 0xeb, 0x75};
  sha1 hash = {.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
  uint8_t digest[20];
  sha1_add(&hash, name_space, sizeof name_space);
  sha1_add(&hash, kind, strlen(kind));
  sha1_add(&hash, ":", 1);
  sha1_add(&hash, name, strlen(name));
  sha1_end(&hash, digest);
  report_uuid uuid;
  memcpy(uuid.bytes, digest, sizeof uuid.bytes);
  uuid.bytes[6] = (uint8_t)((uuid.bytes[6] & 0x0f) | 0x50); /* version 5 */
  uuid.bytes[8] = (uint8_t)((uuid.bytes[8] & 0x3f) | 0x80); /* variant of the RFC */
  return uuid;
}

void gz_report_uuid_text(report_uuid uuid, char text[37]) {
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *text++ = '-';
    *text++ = "0123456789abcdef"[uuid.bytes[i] >> 4];
    *text++ = "0123456789abcdef"[uuid.bytes[i] & 15];
  }
  *text = 0;
}

/* ---- GlobalIds of IFC ---- */

enum { GUID_LENGTH = 22 };

static bool is_guid_digit(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_border(char c) {
  return !isalnum((unsigned char)c) && c != '$';
}

/* 22 digits that fit 128 bits, with large and small letters: a word of plain text is hardly ever all that. */
static bool is_guid(const char *text) {
  bool upper = false, lower = false;
  for (int i = 0; i < GUID_LENGTH; i++) {
    if (!is_guid_digit(text[i])) return false;
    upper |= text[i] >= 'A' && text[i] <= 'Z';
    lower |= text[i] >= 'a' && text[i] <= 'z';
  }
  return text[0] >= '0' && text[0] <= '3' && upper && lower;
}

/* The last one in the name that stands between borders: "Wall/2O2Fr$t4X7Zf8NOew3FLOH", "Wall:2O2Fr$t4X7Zf8NOew3FLOH#2".
 * An underscore is a border as well as a digit: "Wall_2O2Fr$t4X7Zf8NOew3FLOH". */
static const char *find_guid(const char *name) {
  size_t length = strlen(name);
  for (size_t end = length; end >= GUID_LENGTH; end--) {
    const char *first = name + end - GUID_LENGTH;
    if ((end == length || is_border(name[end])) && (first == name || is_border(first[-1])) && is_guid(first))
      return first;
  }
  return NULL;
}

static void compress(report_uuid uuid, char guid[23]) {
  static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$";
  for (int i = 0; i < GUID_LENGTH; i++) {
    unsigned value = 0;
    for (int bit = 6 * i - 4; bit < 6 * i + 2; bit++) { /* bits of the UUID, from the most significant; 4 before it */
      value = 2 * value + (bit < 0 ? 0 : uuid.bytes[bit / 8] >> (7 - bit % 8) & 1u);
    }
    guid[i] = digits[value];
  }
  guid[GUID_LENGTH] = 0;
}

void gz_report_ifc_guid(const char *name, char guid[23]) {
  const char *written = find_guid(name);
  if (written == NULL) {
    compress(gz_report_uuid_of("object", name), guid);
  } else {
    memcpy(guid, written, GUID_LENGTH);
    guid[GUID_LENGTH] = 0;
  }
}
