#include "CArguments.h"

#include <stdlib.h>

static int count;
static char **arguments;

int wiretape_argument_count(void) { return count; }

const char *wiretape_argument(int index) { return arguments[index]; }

#ifdef __GLIBC__
// glibc calls constructors with the arguments of main. Swift reads them from /proc/self/cmdline instead, and has none where that is not mounted.
__attribute__((constructor)) static void note_arguments(int argc, char **argv) {
    count = argc;
    arguments = argv;
}
#endif
