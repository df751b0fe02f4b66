#ifndef WIRETAPE_CYAML_H
#define WIRETAPE_CYAML_H

#include <yaml.h>

#endif
