# Writes the commit (and "+changes" when the tree differs from it) to a header, at every build.
cmake_minimum_required(VERSION 3.20)
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed)
  set(commit "unknown")
else()
  execute_process(COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "+changes")
  endif()
endif()
file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#define BENCH_COMMIT \"@commit@\"\n" @ONLY)
