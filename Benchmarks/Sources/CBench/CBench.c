// Everything is in the headers, which the programs in C include directly. This file makes them a module.
#include "CBench.h"
