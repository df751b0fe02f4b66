#ifndef CRECORDEDCLOCK_H
#define CRECORDEDCLOCK_H

// A library that the loader puts in front of the C library (LD_PRELOAD): it moves the clock of a program by a number of seconds. Nothing
// links it, and it exports only functions of the C library.

/// The environment variable with the seconds, a decimal integer.
#define WIRETAPE_CLOCK_VARIABLE "WIRETAPE_CLOCK_OFFSET"

#endif
