// SPDX-License-Identifier: Apache-2.0
#define AFTERGLOW_INSTRUCTION_SET portable
#include "kernels/isa/unit.h"
