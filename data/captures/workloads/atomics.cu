// atomics: global atomics of every kind on int, float and double; one kernel ignores the old values, so that the
// compiler makes reductions (RED) of them, the others use them (ATOM), among them loops on compare-and-swap.
// Meant to move RED and ATOM instructions, the L2's atomic units by type, contention on few addresses, and retries.
#include "check.cuh"

using Wide = unsigned long long;

constexpr int threads = 256, blocks = 128;
constexpr int count = threads * blocks;
constexpr int slots = 256, per_slot = count / slots;

// What the threads of one slot do together; all starts at 0. Thread i belongs to slot i % slots and brings the value i.
struct Slot {
    int sum, min, max, next, box;
    unsigned any, parity, wrapped;
    float float_sum, float_next, float_box, greatest_float;
    double double_sum, double_next, double_box, greatest_double;
    Wide wide_sum, old_sum, taken;
};

__global__ void reductions(Slot *slot)
{
    int i = blockIdx.x * threads + threadIdx.x;
    Slot *mine = slot + i % slots;
    atomicAdd(&mine->sum, i);
    atomicMin(&mine->min, -i);
    atomicMax(&mine->max, i);
    atomicOr(&mine->any, 1u << (i / slots % 24));
    atomicXor(&mine->parity, unsigned(i));
    atomicInc(&mine->wrapped, 99);
    atomicAdd(&mine->wide_sum, Wide(i) << 20);
    atomicAdd(&mine->float_sum, float(i % 16));
    atomicAdd(&mine->double_sum, double(i));
}

// The old values of a counter are 0, 1, 2...: their sum is known although their order is not.
__global__ void tickets(Slot *slot)
{
    int i = blockIdx.x * threads + threadIdx.x;
    Slot *mine = slot + i % slots;
    Wide old = atomicAdd(&mine->next, 1);
    old += Wide(atomicAdd(&mine->float_next, 1.0f));
    old += Wide(atomicAdd(&mine->double_next, 1.0));
    atomicAdd(&mine->old_sum, old);
}

__device__ double exchange(double *box, double value)
{
    return __longlong_as_double(atomicExch(reinterpret_cast<Wide *>(box), Wide(__double_as_longlong(value))));
}

// Everyone puts a value in and takes one out: what was taken and what is left make up what was put.
__global__ void exchanges(Slot *slot)
{
    int i = blockIdx.x * threads + threadIdx.x;
    Slot *mine = slot + i % slots;
    Wide got = atomicExch(&mine->box, i);
    got += Wide(atomicExch(&mine->float_box, float(i)));
    got += Wide(exchange(&mine->double_box, double(i)));
    atomicAdd(&mine->taken, got);
}

// A maximum for a type without an instruction for it: retry until nobody came between. Values of 0 and
// above only: their bits sort as they do.
template <typename Value, typename Bits> __device__ void raise(Value *greatest, Value value)
{
    Bits *address = reinterpret_cast<Bits *>(greatest), desired, seen = 0;
    memcpy(&desired, &value, sizeof value);
    for (Bits assumed = ~Bits(0); assumed != seen && seen < desired;) {
        assumed = seen;
        seen = atomicCAS(address, assumed, desired);
    }
}

__global__ void swap_loops(Slot *slot)
{
    int i = blockIdx.x * threads + threadIdx.x;
    Slot *mine = slot + i % slots;
    raise<float, unsigned>(&mine->greatest_float, float(i));
    raise<double, Wide>(&mine->greatest_double, double(i));
}

std::vector<double> reduced(const Slot &s)
{
    return {double(s.sum), double(s.min), double(s.max), double(s.any), double(s.parity), double(s.wrapped),
            double(s.wide_sum), s.float_sum, s.double_sum};
}

int main()
{
    Buffer<Slot> device(slots);
    reductions<<<blocks, threads>>>(device.get());
    tickets<<<blocks, threads>>>(device.get());
    exchanges<<<blocks, threads>>>(device.get());
    swap_loops<<<blocks, threads>>>(device.get());
    finish();

    std::vector<Slot> want(slots);
    for (int i = 0; i < count; i++) {
        Slot &s = want[i % slots];
        s.sum += i, s.float_sum += float(i % 16), s.double_sum += i, s.wide_sum += Wide(i) << 20;
        s.min = std::min(s.min, -i), s.max = std::max(s.max, i);
        s.any |= 1u << (i / slots % 24), s.parity ^= unsigned(i), s.wrapped = s.wrapped == 99 ? 0 : s.wrapped + 1;
    }
    auto got = device.download();
    for (size_t i = 0; i < slots; i++) {
        auto wanted = reduced(want[i]);
        expect("atomics: reductions", reduced(got[i]), [&](size_t k) { return wanted[k]; });
    }
    auto old_sum = fill<Wide>(slots, [&](size_t i) { return got[i].old_sum; });
    expect("atomics: tickets", old_sum, [](size_t) { return 3 * per_slot * (per_slot - 1) / 2; });
    auto exchanged = fill<double>(slots, [&](size_t i) {
        return double(got[i].taken) + got[i].box + got[i].float_box + got[i].double_box;
    });
    expect("atomics: exchanges", exchanged, [&](size_t i) { return 3.0 * want[i].sum; });
    auto raised = fill<double>(slots, [&](size_t i) { return got[i].greatest_float + got[i].greatest_double; });
    expect("atomics: swaps", raised, [&](size_t i) { return 2.0 * want[i].max; });
    return passed("atomics", "old values used and unused");
}
