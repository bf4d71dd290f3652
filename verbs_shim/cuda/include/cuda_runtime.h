/* As cuda_runtime_api.h: what nvcc's compiler adds is not here. */
#ifndef SIMVERBS_CUDA_RUNTIME_H
#define SIMVERBS_CUDA_RUNTIME_H
#include "cuda_runtime_api.h"
#endif
