// Which attention kernel a job runs where nobody says.
#pragma once

#include "describe/layout/job.h"

namespace sextant::machine {

// The stated kernel. Where flash attention is only the default, what PyTorch and Transformer Engine
// pick on Hopper and its successors is cuDNN's.
// Sources: PyTorch 2.11 aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
// check_prefer_cudnn_attention (cuDNN first on sm90 and sm100; flash first until 2.9); Transformer
// Engine 2.x attention/dot_product_attention/utils.py, get_attention_backend.
describe::AttentionKernel attention_kernel(const describe::Job& job);

}  // namespace sextant::machine
