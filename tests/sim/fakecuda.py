"""Programs in the shape of PyTorch's, on the stand-in: float32 tensors in memory of the caching allocator, freed by reference
count, and operators that launch real registered kernels and make the copies that PyTorch makes.

    import fakecuda as torch
    x = torch.randn(64, 64); m = torch.triu(64)
    s = (x @ x.T) * 0.125
    s = s.masked_fill(m, float("-inf"))     # clone, then the in-place kernel

The build puts this file at <build>/sim/site-packages/, beside the libraries' folder: there its frames count as an installed package's, as the
framework's own. Set PYTHONPATH to it, SIM_KERNELS to <build>/sim/libsim_kernels.so. FAKECUDA_MAJOR=12 uses libcudart.so.12 and launches
by cudaLaunchKernel; the default 13 by __cudaLaunchKernel. All libraries are loaded RTLD_LOCAL, by path. Standard library only; ctypes
releases the GIL around each call, as PyTorch does around its own.
"""
import ctypes
import math
import os
import pathlib

_FOLDER = pathlib.Path(os.environ.get("FAKECUDA_FOLDER", pathlib.Path(__file__).resolve().parent.parent))
_SUFFIX = "_12" if os.environ.get("FAKECUDA_MAJOR", "13") == "12" else ""
_allocator = ctypes.CDLL(str(_FOLDER / f"libc10_cuda{_SUFFIX}.so"))
_torch = ctypes.CDLL(str(_FOLDER / f"libtorch_sim{_SUFFIX}.so"))

_P, _L, _I, _F = ctypes.c_void_p, ctypes.c_long, ctypes.c_int, ctypes.c_float
_SIGNATURES = {  # name: (result, arguments)
    "copy": (None, (_P, _P, _L, _P)),
    "clone": (_P, (_P, _L, _P)),
    "masked_fill_": (None, (_P, _P, _F, _L, _L, _P)),
    "masked_fill": (_P, (_P, _P, _F, _L, _L, _P)),
    "mul": (None, (_P, _P, _F, _L, _P)),
    "add": (None, (_P, _P, _P, _F, _L, _P)),
    "relu": (None, (_P, _P, _L, _P)),
    "softmax": (None, (_P, _P, _L, _L, _P)),
    "matmul": (None, (_P, _P, _P, _I, _I, _I, _I, _I, _P)),
    "sum": (None, (_P, _P, _L, _P)),
    "transpose": (None, (_P, _P, _I, _I, _P)),
    "fill": (None, (_P, _F, _L, _P)),
    "iota": (None, (_P, _F, _L, _P)),
    "triu": (None, (_P, _L, _P)),
    "zero": (None, (_P, _L, _P)),
    "upload": (None, (_P, _P, _L, _P)),
    "download": (None, (_P, _P, _L, _P)),
    "synchronize": (None, ()),
    "stream": (_P, ()),
    "begin_capture": (None, (_P,)),
    "end_capture": (_P, (_P,)),
    "launch_graph": (None, (_P, _P)),
}


def _function(name):
    result, arguments = _SIGNATURES[name]
    function = getattr(_torch, f"fake_{name}")
    function.restype, function.argtypes = result, arguments
    return function


_call = {name: _function(name) for name in _SIGNATURES}
_allocator.sim_c10_alloc.restype, _allocator.sim_c10_alloc.argtypes = _P, (ctypes.c_size_t,)
_allocator.sim_c10_free.restype, _allocator.sim_c10_free.argtypes = None, (_P,)
_stream = None  # the current stream; None is the default one


class _Storage:
    """A block of the allocator; given back when the last tensor in it is gone."""

    def __init__(self, size, pointer=None, free=_allocator.sim_c10_free):
        self.pointer = pointer if pointer is not None else _allocator.sim_c10_alloc(size)
        if not self.pointer:
            raise MemoryError(f"{size} bytes")
        self._free = free

    def __del__(self):
        if getattr(self, "pointer", None):
            self._free(self.pointer)


class Tensor:
    """Contiguous float32, or a mask of bytes; `transposed` only for the right side of @."""

    def __init__(self, shape, storage=None, item=4, transposed=False):
        self.shape, self.item, self.transposed = tuple(shape), item, transposed
        self.storage = storage if storage is not None else _Storage(self.nbytes)

    @property
    def count(self):
        return math.prod(self.shape)

    @property
    def nbytes(self):
        return max(self.count * self.item, 1)

    def data_ptr(self):
        return self.storage.pointer

    def _new(self, shape=None, pointer=None):
        shape = self.shape if shape is None else shape
        size = max(math.prod(shape) * self.item, 1)
        return Tensor(shape, _Storage(size, pointer), self.item)

    # in the manner of PyTorch: a name that ends in _ works in place
    def mul(self, factor):
        out = self._new()
        _call["mul"](out.data_ptr(), self.data_ptr(), factor, self.count, _stream)
        return out

    def mul_(self, factor):
        _call["mul"](self.data_ptr(), self.data_ptr(), factor, self.count, _stream)
        return self

    def add(self, other, alpha=1.0):
        out = self._new()
        _call["add"](out.data_ptr(), self.data_ptr(), other.data_ptr(), alpha, self.count, _stream)
        return out

    def add_(self, other, alpha=1.0):
        _call["add"](self.data_ptr(), self.data_ptr(), other.data_ptr(), alpha, self.count, _stream)
        return self

    def relu(self):
        out = self._new()
        _call["relu"](out.data_ptr(), self.data_ptr(), self.count, _stream)
        return out

    def masked_fill(self, mask, value):
        pointer = _call["masked_fill"](self.data_ptr(), mask.data_ptr(), value, self.count, mask.count, _stream)
        return self._new(pointer=pointer)

    def masked_fill_(self, mask, value):
        _call["masked_fill_"](self.data_ptr(), mask.data_ptr(), value, self.count, mask.count, _stream)
        return self

    def fill_(self, value):
        _call["fill"](self.data_ptr(), value, self.count, _stream)
        return self

    def zero_(self):
        _call["zero"](self.data_ptr(), self.nbytes, _stream)
        return self

    def softmax(self, dim=-1):
        assert dim == -1
        out = self._new()
        _call["softmax"](out.data_ptr(), self.data_ptr(), self.count // self.shape[-1], self.shape[-1], _stream)
        return out

    def sum(self):
        out = self._new(())
        _call["sum"](out.data_ptr(), self.data_ptr(), self.count, _stream)
        return out

    def clone(self):
        return self._new(pointer=_call["clone"](self.data_ptr(), self.nbytes, _stream))

    def copy_(self, other):
        assert self.nbytes == other.nbytes
        _call["copy"](self.data_ptr(), other.data_ptr(), self.nbytes, _stream)
        return self

    @property
    def T(self):
        shape = self.shape[:-2] + (self.shape[-1], self.shape[-2])
        return Tensor(shape, self.storage, self.item, not self.transposed)

    def contiguous(self):
        """A copy made by a kernel when the tensor is transposed (two dimensions)."""
        if not self.transposed:
            return self
        columns, rows = self.shape
        out = self._new()
        _call["transpose"](out.data_ptr(), self.data_ptr(), rows, columns, _stream)
        return out

    def matmul(self, other):
        assert not self.transposed and self.shape[-1] == other.shape[-2] and self.shape[:-2] == other.shape[:-2]
        out = self._new(self.shape[:-1] + other.shape[-1:])
        _call["matmul"](out.data_ptr(), self.data_ptr(), other.data_ptr(), math.prod(self.shape[:-2]), self.shape[-2],
                        self.shape[-1], other.shape[-1], int(other.transposed), _stream)
        return out

    __matmul__, __mul__, __add__ = matmul, mul, add

    def tolist(self):
        """All elements in storage order; waits for the device."""
        values = (ctypes.c_float * self.count)() if self.item == 4 else (ctypes.c_ubyte * self.count)()
        _call["download"](values, self.data_ptr(), self.count * self.item, _stream)
        return list(values)

    def item_(self):
        return self.tolist()[0]


def empty(*shape):
    return Tensor(shape)


def full(shape, value):
    return Tensor(shape).fill_(value)


def zeros(*shape):
    return Tensor(shape).zero_()


def randn(*shape):
    """Not random: a fixed pattern around zero, made by a kernel."""
    out = Tensor(shape)
    _call["iota"](out.data_ptr(), 1 / 506, out.count, _stream)
    return out


def tensor(values):
    """A one-dimensional tensor from host values: a host-to-device copy."""
    out = Tensor((len(values),))
    _call["upload"](out.data_ptr(), (ctypes.c_float * len(values))(*values), out.nbytes, _stream)
    return out


def triu(side):
    """The causal mask: true above the diagonal."""
    out = Tensor((side, side), item=1)
    _call["triu"](out.data_ptr(), side, _stream)
    return out


def synchronize():
    _call["synchronize"]()


class stream:
    """with stream(): work goes to a stream of its own."""

    def __init__(self):
        self.handle = _call["stream"]()

    def __enter__(self):
        global _stream
        self.before, _stream = _stream, self.handle
        return self

    def __exit__(self, *unused):
        global _stream
        _stream = self.before


class graph(stream):
    """with graph() as g: work is captured; g.replay() runs it. Tensors made inside must outlive the replays."""

    def __enter__(self):
        super().__enter__()
        _call["begin_capture"](self.handle)
        return self

    def __exit__(self, *unused):
        self.exec = _call["end_capture"](self.handle)
        super().__exit__()

    def replay(self):
        _call["launch_graph"](self.exec, self.handle)
