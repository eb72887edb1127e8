// What kernels use of CUDA, on a CPU: the threads of a block are contexts that run in turns.
#include <cmath>
#include <cstring>
#include <ucontext.h>
#include <vector>

namespace emulation {
struct Place { int x; };
struct Barrier { int waiting = 0, rounds = 0; };

void (*kernel)();
long* arguments;
void call();

constexpr int STACK = 1 << 16;
std::vector<ucontext_t> contexts;
std::vector<bool> ended;
std::vector<Barrier> warps;
std::vector<unsigned> lanes;
Barrier block;
long additions;
ucontext_t scheduler;
int current;
}  // namespace emulation

emulation::Place threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {
void wait(Barrier& barrier, int threads) {
    const int round = barrier.rounds;
    if (++barrier.waiting == threads) {
        barrier.waiting = 0;
        ++barrier.rounds;
    }
    while (barrier.rounds == round) swapcontext(&contexts[current], &scheduler);
}
void wait_for_warp() { wait(warps[threadIdx.x / 32], 32); }

// Gives each lane what `use` makes of the values of all lanes of its warp.
template <class USE> unsigned exchanged(unsigned value, USE use) {
    lanes[threadIdx.x] = value;
    wait_for_warp();
    const unsigned result = use(&lanes[threadIdx.x / 32 * 32]);
    wait_for_warp();
    return result;
}

void thread() {
    call();
    ended[current] = true;
    swapcontext(&contexts[current], &scheduler);
}

// Runs one block; returns how many threads are left waiting when none can go on.
int run(int threads) {
    contexts.assign(threads, {});
    ended.assign(threads, false);
    warps.assign(threads / 32, {});
    lanes.assign(threads, 0);
    block = {};
    std::vector<char> stacks(size_t(threads) * STACK);
    for (int each = 0; each < threads; ++each) {
        getcontext(&contexts[each]);
        contexts[each].uc_stack.ss_sp = &stacks[size_t(each) * STACK];
        contexts[each].uc_stack.ss_size = STACK;
        makecontext(&contexts[each], thread, 0);
    }
    for (int left = threads, idle = 0; left; ) {
        long before = left, progress = block.rounds;
        for (Barrier& warp : warps) progress += warp.rounds;
        const bool turned = (blockIdx.x + block.rounds / 2) % 2;  // the last come first, now and then
        for (int turn = 0; turn < threads; ++turn) {
            current = turned ? threads - 1 - turn : turn;
            if (ended[current]) continue;
            threadIdx.x = current;
            swapcontext(&scheduler, &contexts[current]);
            left -= ended[current];
        }
        for (Barrier& warp : warps) progress -= warp.rounds;
        idle = left == before && progress == block.rounds ? idle + 1 : 0;
        if (idle > 1) return left;
    }
    return 0;
}
}  // namespace emulation

extern "C" int emulate(void (*kernel)(), long* arguments, int blocks, int threads) {
    emulation::kernel = kernel;
    emulation::arguments = arguments;
    emulation::additions = 0;
    blockDim.x = threads;
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        if (const int stuck = emulation::run(threads)) return stuck;
    return 0;
}

extern "C" long additions() { return emulation::additions; }  // by atomics, of the last kernel

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __syncthreads() emulation::wait(emulation::block, blockDim.x)
#define __popc __builtin_popcount
#define __clz __builtin_clz
#define __ffs __builtin_ffs
#define __clzll(value) ((value) ? __builtin_clzll(value) : 64)
#define int8_t device_int8_t
#define uint8_t device_uint8_t
#define int16_t device_int16_t
#define uint16_t device_uint16_t
#define int32_t device_int32_t
#define uint32_t device_uint32_t
#define int64_t device_int64_t
#define uint64_t device_uint64_t

unsigned __shfl_sync(unsigned, unsigned value, int from) {
    return emulation::exchanged(value, [=](const unsigned* lanes) { return lanes[from % 32]; });
}
unsigned __shfl_down_sync(unsigned, unsigned value, int distance) {
    const int lane = threadIdx.x % 32, from = lane + distance < 32 ? lane + distance : lane;
    return emulation::exchanged(value, [=](const unsigned* lanes) { return lanes[from]; });
}
unsigned __shfl_up_sync(unsigned, unsigned value, int distance) {
    const int lane = threadIdx.x % 32, from = lane < distance ? lane : lane - distance;
    return emulation::exchanged(value, [=](const unsigned* lanes) { return lanes[from]; });
}
unsigned __ballot_sync(unsigned, bool vote) {
    return emulation::exchanged(vote, [](const unsigned* lanes) {
        unsigned votes = 0;
        for (int lane = 0; lane < 32; ++lane) votes |= lanes[lane] << lane;
        return votes;
    });
}
template <class T> T atomicAdd(T* place, T value) {
    const T before = *place;
    *place += value;
    ++emulation::additions;
    return before;
}
template <class T> T atomicOr(T* place, T bits) { const T before = *place; *place |= bits; return before; }
template <class T> T atomicCAS(T* place, T expected, T value) {
    const T before = *place;
    if (before == expected) *place = value;
    return before;
}
template <class T> T atomicMax(T* place, T value) { const T before = *place; if (before < value) *place = value; return before; }
