#pragma once
#include "arguments.h"
#include "statistics.h"
