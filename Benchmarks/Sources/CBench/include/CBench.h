#pragma once
#define _GNU_SOURCE
#include "arguments.h"
#include "statistics.h"
