// operators.cpp - functions mangled as PyTorch's, one calling the other as in a backward pass that clones.
#define FRAME __attribute__((noinline, visibility("default")))
#define KEEP __asm__ volatile("")

typedef void callback_fn();

namespace at
{
namespace native
{
template <class T> struct Loop {
    FRAME static void run(callback_fn *callback, T)
    {
        callback();
        KEEP;
    }
};
} // namespace native
namespace _ops
{
struct copy_ {
    FRAME static void call(callback_fn *callback)
    {
        native::Loop<float>::run(callback, 1.0f);
        KEEP;
    }
};
struct clone {
    FRAME static void redispatch(callback_fn *callback)
    {
        copy_::call(callback);
        KEEP;
    }
    FRAME static void call(callback_fn *callback)
    {
        redispatch(callback);
        KEEP;
    }
};
struct masked_fill_Scalar {
    FRAME static void call(callback_fn *callback)
    {
        clone::call(callback);
        KEEP;
    }
};
} // namespace _ops
} // namespace at

namespace torch
{
namespace autograd
{
namespace generated
{
struct MaskedFillBackward0 {
    FRAME void apply(callback_fn *callback)
    {
        at::_ops::masked_fill_Scalar::call(callback);
        KEEP;
    }
};
} // namespace generated
} // namespace autograd
} // namespace torch

extern "C" FRAME void run_backward(callback_fn *callback)
{
    torch::autograd::generated::MaskedFillBackward0().apply(callback);
    KEEP;
}
