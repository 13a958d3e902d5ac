// Which attention kernel a job runs where nobody says.
#pragma once

#include "describe/layout/job.h"

namespace sextant::describe {

// The stated kernel. Where flash attention is only the default, what PyTorch and Transformer Engine
// pick on Hopper and its successors is cuDNN's.
// Sources: PyTorch 2.11 aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
// check_prefer_cudnn_attention (cuDNN first on sm90 and sm100; flash first until 2.9); Transformer
// Engine 2.x attention/dot_product_attention/utils.py, get_attention_backend.
AttentionKernel attention_kernel(const Job& job);

}  // namespace sextant::describe
