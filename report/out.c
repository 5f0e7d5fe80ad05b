/* out.c: see out.h. */
#include "out.h"

#include <math.h>
#include <string.h>

void gz_put_finite(gz_text *out, double value) {
  if (isfinite(value)) gz_put_double(out, value);
}

/* U+FFFE and U+FFFF are valid UTF-8 and no characters of XML. */
static bool is_xml_stranger(const char *text) {
  return strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0;
}

static const char *put_xml_special(gz_text *out, const char *at) {
  switch (*at) {
    case '<':
      gz_put_text(out, "&lt;");
      break;
    case '>':
      gz_put_text(out, "&gt;");
      break;
    case '&':
      gz_put_text(out, "&amp;");
      break;
    case '"':
      gz_put_text(out, "&quot;");
      break;
    case '\t': /* as references: a parser makes spaces of bare ones in attributes, and \n of \r everywhere */
      gz_put_text(out, "&#9;");
      break;
    case '\n':
      gz_put_text(out, "&#10;");
      break;
    case '\r':
      gz_put_text(out, "&#13;");
      break;
    default:
      if ((unsigned char)*at >= 0x80 && !is_xml_stranger(at)) return gz_put_character(out, at);
      gz_put_text(out, GZ_REPLACEMENT);
      return at + ((unsigned char)*at >= 0x80 ? 3 : 1);
  }
  return at + 1;
}

static bool is_plain_in_xml(char c) {
  return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '<' && c != '>' && c != '&' && c != '"';
}

void gz_put_xml(gz_text *out, const char *text) {
  for (const char *at = text != NULL ? text : ""; *at;) {
    size_t plain = 0;
    while (is_plain_in_xml(at[plain])) plain++;
    gz_put_bytes(out, at, plain);
    at += plain;
    if (*at) at = put_xml_special(out, at);
  }
}

void gz_put_csv(gz_text *out, const char *text) {
  if (text == NULL) return;
  bool quoted = strpbrk(text, "\",;\t\r\n") != NULL || *text == ' ' || (*text && text[strlen(text) - 1] == ' ');
  if (quoted) gz_put_text(out, "\"");
  for (const char *at = text; *at;) {
    if (*at == '"') gz_put_text(out, "\"");
    at = gz_put_character(out, at);
  }
  if (quoted) gz_put_text(out, "\"");
}
