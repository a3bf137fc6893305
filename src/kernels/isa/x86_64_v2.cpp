// SPDX-License-Identifier: Apache-2.0
#define AFTERGLOW_INSTRUCTION_SET x86_64_v2
#include "kernels/isa/unit.h"
