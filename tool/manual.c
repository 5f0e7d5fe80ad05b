/* graze-manual FOLDER: writes the manual pages and the completions of bash and zsh, from the tables that --help is made
 * of. Runs at build time. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graze/base.h"
#include "verbs.h"

/* ---- options, in the order of --help ---- */

typedef struct entry {
  const struct argp_option *option;
  int group;
} entry;

enum { MOST_ENTRIES = 96 };

typedef struct entry_list {
  entry entry[MOST_ENTRIES];
  int count;
} entry_list;

static void add_options(entry_list *list, const struct argp *argp) {
  int group = 0;
  for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++) {
    if (o->group != 0) group = o->group;
    if (!(o->flags & OPTION_HIDDEN) && list->count < MOST_ENTRIES) list->entry[list->count++] = (entry){o, group};
  }
  for (const struct argp_child *child = argp->children; child && child->argp; child++) add_options(list, child->argp);
}

static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (!x->option->name || !y->option->name) return (x->option->name != NULL) - (y->option->name != NULL);
  return strcmp(x->option->name, y->option->name);
}

static entry_list options_of(const struct argp *argp) {
  static const struct argp_option own[] = {{"help", 'h', NULL, 0, "show the help", 99},
                                           {"usage", 0, NULL, 0, "show the options alone", 99},
                                           {"version", 'V', NULL, 0, "show the version", 99},
                                           {0}};
  entry_list list = {.count = 0};
  add_options(&list, argp);
  add_options(&list, &(const struct argp){.options = own});
  qsort(list.entry, (size_t)list.count, sizeof list.entry[0], compare_entries);
  return list;
}

static bool has_letter(const struct argp_option *o) {
  return o->key > 0 && o->key < 128 && isprint(o->key);
}

/* ---- files ---- */

static FILE *create(const char *folder, const char *name) {
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = (size_t)length < sizeof path ? fopen(path, "w") : NULL;
  if (file) return file;
  perror(path);
  exit(1);
}

static void finish(FILE *file) {
  bool failed = ferror(file) != 0;
  if (fclose(file) == 0 && !failed) return;
  perror("graze-manual");
  exit(1);
}

/* ---- manual pages ---- */

/* For troff: minus signs, backslashes, and lines that would be requests. */
static void put_troff(FILE *out, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    bool starts = i == 0 || text[i - 1] == '\n';
    if (starts && (text[i] == '.' || text[i] == '\'')) fputs("\\&", out);
    if (text[i] == '\\')
      fputs("\\e", out);
    else if (text[i] == '-')
      fputs("\\-", out);
    else
      fputc(text[i], out);
  }
}

static void put_text(FILE *out, const char *text) {
  put_troff(out, text, strlen(text));
}

static void put_head(FILE *out, const char *name, const char *summary) {
  fprintf(out, ".TH \"%s\" 1 \"\" \"graze %s\" \"Graze\"\n.SH NAME\n", name, graze_version());
  put_text(out, name);
  fputs(" \\- ", out);
  put_text(out, summary);
  fputs("\n.SH SYNOPSIS\n", out);
}

static void put_synopsis(FILE *out, const verb *v) {
  const char *line = v->argp->args_doc ? v->argp->args_doc : "";
  for (bool more = true; more;) {
    size_t length = strcspn(line, "\n");
    fprintf(out, ".B graze %s\n[\\fIOPTION\\fR...] ", v->name);
    put_troff(out, line, length);
    more = line[length] != '\0';
    fputs(more ? "\n.br\n" : "\n", out);
    line += length + more;
  }
}

static void put_options(FILE *out, const verb *v) {
  entry_list list = options_of(v->argp);
  fputs(".SH OPTIONS\n", out);
  for (int i = 0; i < list.count; i++) {
    const struct argp_option *o = list.entry[i].option;
    if (i > 0 && list.entry[i].group >= 90 && list.entry[i - 1].group < 90) fputs(".SS For every verb:\n", out);
    if (!o->name) {
      fprintf(out, ".SS %s\n", o->doc);
      continue;
    }
    fputs(".TP\n", out);
    if (has_letter(o)) fprintf(out, "\\fB\\-%c\\fR, ", o->key);
    fputs("\\fB\\-\\-", out);
    put_text(out, o->name);
    fputs("\\fR", out);
    if (o->arg) fprintf(out, o->flags & OPTION_ARG_OPTIONAL ? "[=\\fI%s\\fR]" : "=\\fI%s\\fR", o->arg);
    fputs("\n", out);
    put_text(out, o->doc);
    fputs("\n", out);
  }
}

/* What stands behind the options in --help: it ends with the exit codes. */
static void put_end(FILE *out, const verb *v) {
  const char *text = strchr(v->argp->doc, '\v') + 1;
  char *made = v->argp->help_filter ? v->argp->help_filter(ARGP_KEY_HELP_POST_DOC, text, NULL) : NULL;
  if (made) text = made;
  const char *codes = strstr(text, "Exit: ");
  if (codes != text) {
    fputs(".SH NOTES\n.nf\n", out);
    put_troff(out, text, (size_t)(codes - text));
    fputs(".fi\n", out);
  }
  fputs(".SH EXIT STATUS\n", out);
  put_text(out, codes + strlen("Exit: "));
  fputs("\n", out);
  free(made);
}

static void write_page(const char *folder, const verb *v) {
  char name[64], file[80];
  snprintf(name, sizeof name, "graze-%s", v->name);
  snprintf(file, sizeof file, "%s.1", name);
  FILE *out = create(folder, file);
  put_head(out, name, v->summary);
  put_synopsis(out, v);
  fputs(".SH DESCRIPTION\n", out);
  put_troff(out, v->argp->doc, strcspn(v->argp->doc, "\v"));
  fputs("\n", out);
  put_options(out, v);
  put_end(out, v);
  fputs(".SH SEE ALSO\n.BR graze (1)\n", out);
  finish(out);
}

static void write_main_page(const char *folder) {
  FILE *out = create(folder, "graze.1");
  put_head(out, "graze", verbs_summary);
  fputs(".B graze\n\\fIVERB\\fR [\\fIOPTION\\fR...] \\fIFILES\\fR\n.SH VERBS\n", out);
  for (const verb *v = verbs; v->name; v++) {
    fprintf(out, ".TP\n.B %s\n", v->name);
    put_text(out, v->summary);
    fputs("\n", out);
  }
  fputs(".TP\n.BR help \" [\\fIVERB\\fR]\"\nthe options of a verb, or the verbs\n.SH EXIT STATUS\n", out);
  put_text(out, verbs_exit);
  fputs(".SH SEE ALSO\n", out);
  for (const verb *v = verbs; v->name; v++) fprintf(out, ".BR graze\\-%s (1)%s\n", v->name, v[1].name ? "," : "");
  finish(out);
}

/* ---- bash ---- */

static void put_names(FILE *out, const struct argp *argp, bool with_argument) {
  entry_list list = options_of(argp);
  const char *before = "";
  for (int i = 0; i < list.count; i++) {
    const struct argp_option *o = list.entry[i].option;
    bool takes = o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
    if (!o->name || (with_argument && !takes)) continue;
    fprintf(out, "%s--%s", before, o->name);
    if (has_letter(o)) fprintf(out, "%s-%c", with_argument ? "|" : " ", o->key);
    before = with_argument ? "|" : " ";
  }
}

static void write_bash(const char *folder) {
  FILE *out = create(folder, "graze.bash");
  fputs(
      "# Completion of graze in bash.\n"
      "_graze() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} verbs='help",
      out);
  for (const verb *v = verbs; v->name; v++) fprintf(out, " %s", v->name);
  fputs(
      "' options=\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 || ( $COMP_CWORD -eq 2 && ${COMP_WORDS[1]} == help ) ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$verbs\" -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n",
      out);
  for (const verb *v = verbs; v->name; v++) {
    fprintf(out, "    %s) options='", v->name);
    put_names(out, v->argp, false);
    fputs("' ;;\n", out);
  }
  fputs(
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _graze graze\n",
      out);
  finish(out);
}

/* ---- zsh ---- */

/* Within single quotes, in brackets or before a colon. */
static void put_zsh(FILE *out, const char *text) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", out);
    else if (strchr("[]:\\", *text))
      fprintf(out, "\\%c", *text);
    else
      fputc(*text, out);
  }
}

static void put_zsh_option(FILE *out, const struct argp_option *o) {
  const char *joint = !o->arg ? "" : o->flags & OPTION_ARG_OPTIONAL ? "=-" : "=";
  fputs(" \\\n        ", out);
  if (has_letter(o))
    fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}", o->key, o->name, o->key, o->arg ? "+" : "", o->name, joint);
  fputs("'", out);
  if (!has_letter(o)) fprintf(out, "*--%s%s", o->name, joint);
  fputs("[", out);
  put_zsh(out, o->doc);
  fputs("]", out);
  bool files = o->arg && (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "FOLDER") == 0);
  if (o->arg) fprintf(out, "%s", o->flags & OPTION_ARG_OPTIONAL ? "::" : ":");
  if (o->arg) put_zsh(out, o->arg);
  if (o->arg) fputs(files ? ":_files" : ": ", out);
  fputs("'", out);
}

static void write_zsh(const char *folder) {
  FILE *out = create(folder, "_graze");
  fputs(
      "#compdef graze\n"
      "# Completion of graze in zsh.\n"
      "_graze() {\n"
      "  local -a verbs\n"
      "  verbs=(",
      out);
  for (const verb *v = verbs; v->name; v++) {
    fprintf(out, "\n    '%s:", v->name);
    put_zsh(out, v->summary);
    fputs("'", out);
  }
  fputs(
      "\n    'help:the options of a verb')\n"
      "  if (( CURRENT == 2 )) || [[ $CURRENT -eq 3 && $words[2] == help ]]; then\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $words[1] in\n",
      out);
  for (const verb *v = verbs; v->name; v++) {
    entry_list list = options_of(v->argp);
    fprintf(out, "    %s)\n      _arguments", v->name);
    for (int i = 0; i < list.count; i++) {
      if (list.entry[i].option->name) put_zsh_option(out, list.entry[i].option);
    }
    fputs(" \\\n        '*:file:_files' ;;\n", out);
  }
  fputs(
      "  esac\n"
      "}\n"
      "_graze \"$@\"\n",
      out);
  finish(out);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: graze-manual FOLDER\n", stderr);
    return 2;
  }
  for (const verb *v = verbs; v->name; v++) write_page(argv[1], v);
  write_main_page(argv[1]);
  write_bash(argv[1]);
  write_zsh(argv[1]);
  return 0;
}
