# Writes the version header, touching it only when something changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT COMMIT)
  set(COMMIT "unknown")
endif()
set(TEXT "#define CONVOY_VERSION \"${VERSION}\"\n#define CONVOY_COMMIT \"${COMMIT}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} OLD)
endif()
if(NOT "${OLD}" STREQUAL "${TEXT}")
  file(WRITE ${OUTPUT} "${TEXT}")
endif()
