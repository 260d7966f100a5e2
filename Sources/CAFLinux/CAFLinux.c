#include "CAFLinux.h"
