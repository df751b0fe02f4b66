#ifndef CARGUMENTS_H
#define CARGUMENTS_H

/// How many arguments the process was started with; 0 where the C library does not tell.
int wiretape_argument_count(void);

/// One of them, the program's name first.
const char *wiretape_argument(int index);

#endif
