"""fakecuda.py's operators give the right numbers, make the copies that PyTorch makes, and free by reference count.

CTest sets FAKECUDA_FOLDER and SIM_KERNELS, and FAKECUDA_MAJOR to try both majors."""
import ctypes
import math
import os
import unittest

import fakecuda as torch


class Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("launches", "copies_d2d", "bytes_d2d", "copies_h2d", "copies_d2h",
                                                     "fills", "allocations", "frees", "graph_launches")]


def counts():
    """The stand-in's truth, from the libcuda.so.1 that is loaded."""
    result = Counts()
    ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW).sim_counts(ctypes.byref(result))
    return result


def attend(q, k, v, mask, out_of_place):
    scores = (q @ k.T) * 0.25
    if out_of_place:
        scores = scores.masked_fill(mask, float("-inf"))
    else:
        scores.masked_fill_(mask, float("-inf"))
    return scores.softmax() @ v


class Operators(unittest.TestCase):
    def test_libraries_are_of_the_major_asked_for(self):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            loaded = {line.rsplit("/", 1)[-1].strip() for line in maps if "libcudart" in line}
        self.assertEqual(loaded, {f"libcudart.so.{os.environ.get('FAKECUDA_MAJOR', '13')}"})

    def test_attention_masks_the_future_and_rows_sum_to_one(self):
        q, ones, mask = torch.randn(2, 8, 8), torch.full((2, 8, 8), 1.0), torch.triu(8)
        for value in attend(q, q, ones, mask, True).tolist():
            self.assertTrue(abs(value - 1) <= 1e-5)
        first = attend(q, q, q, mask, True)
        self.assertEqual(first.tolist()[:8], q.tolist()[:8])
        self.assertEqual(first.tolist(), attend(q, q, q, mask, False).tolist())

    def test_out_of_place_masking_is_one_copy_and_in_place_none(self):
        q, mask = torch.randn(1, 16, 16), torch.triu(16)
        before = counts()
        attend(q, q, q, mask, False)
        middle = counts()
        attend(q, q, q, mask, True)
        after = counts()
        self.assertEqual(middle.copies_d2d - before.copies_d2d, 0)
        self.assertEqual((after.copies_d2d - middle.copies_d2d, after.bytes_d2d - middle.bytes_d2d), (1, 16 * 16 * 4))
        self.assertEqual(after.launches - middle.launches, middle.launches - before.launches)

    def test_memory_comes_back_with_the_last_reference(self):
        first = torch.empty(1000)
        address, view = first.data_ptr(), first.T if len(first.shape) > 1 else torch.Tensor(first.shape, first.storage)
        del first
        second = torch.empty(1000)
        self.assertNotEqual(second.data_ptr(), address)
        del view
        third = torch.empty(1000)
        self.assertEqual(third.data_ptr(), address)

    def test_elementwise_sum_and_copies(self):
        a, b = torch.tensor([1.0, -2.0, 3.0]), torch.full((3,), 10.0)
        self.assertEqual(a.add(b, alpha=2.0).tolist(), [21.0, 18.0, 23.0])
        self.assertEqual(a.relu().tolist(), [1.0, 0.0, 3.0])
        self.assertEqual(a.mul_(2.0).tolist(), [2.0, -4.0, 6.0])
        self.assertEqual(a.sum().item_(), 4.0)
        self.assertEqual(b.copy_(a).tolist(), a.tolist())
        self.assertEqual(b.zero_().tolist(), [0.0] * 3)
        square = torch.tensor([float(i) for i in range(6)])
        square.shape = (2, 3)
        self.assertEqual(square.T.contiguous().tolist(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0])

    def test_a_graph_replays_what_was_captured(self):
        total, one = torch.zeros(4), torch.full((4,), 1.0)
        before = counts()
        with torch.graph() as graph:
            total.add_(one)
            snapshot = total.clone()
        self.assertEqual(total.tolist(), [0.0] * 4)
        for _ in range(3):
            graph.replay()
        self.assertEqual(snapshot.tolist(), [3.0] * 4)
        after = counts()
        self.assertEqual((after.graph_launches - before.graph_launches, after.copies_d2d - before.copies_d2d), (3, 3))

    def test_softmax_is_that_of_the_definition(self):
        values = [0.5, -1.0, 2.0]
        total = sum(map(math.exp, values))
        for got, value in zip(torch.tensor(values).softmax().tolist(), values):
            self.assertTrue(abs(got - math.exp(value) / total) <= 1e-6)


if __name__ == "__main__":
    unittest.main()
