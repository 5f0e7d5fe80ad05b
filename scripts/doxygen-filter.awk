# Turns the plain comments of the public headers into Doxygen's, for its eyes only:
#   the comment that opens a file       -> the file's description
#   a comment after code on its line    -> documentation of what stands before it
#   a comment on lines of its own       -> documentation of what follows
#   a section line, /* ---- title ---- -> left alone
{ line = $0 }
NR == 1 && line ~ /^\/\*/ { sub(/^\/\* */, "", line); print "/** @file\n * " line; next }
line ~ /^ *\/\* ----/ { print line; next }
line ~ /^ *\/\*/ { sub(/\/\*/, "/**", line); print line; next }
line ~ /[^ ] *\/\*/ { sub(/\/\*/, "/**<", line); print line; next }
{ print line }
