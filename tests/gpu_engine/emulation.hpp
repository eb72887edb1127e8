// What kernels use of CUDA, on a CPU: the threads of a block are contexts that run in turns.
#include <cmath>
#include <csetjmp>
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
struct Context {
    jmp_buf place;
    bool begun = false, ended = false;
};
std::vector<Context> contexts;
char* stacks;  // kept, and not cleared: that takes longer than most kernels
int stacks_count = 0;
std::vector<Barrier> warps;
std::vector<unsigned> lanes;
Barrier block;
long additions;
jmp_buf scheduler;
int current;
}  // namespace emulation

emulation::Place threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {
void thread() {
    call();
    contexts[current].ended = true;
    _longjmp(scheduler, 1);
}

// Goes on with the current thread until it waits or ends.  Jumps change no signal masks: swapcontext() asks the system to.
void resume() {
    if (_setjmp(scheduler)) return;
    Context& own = contexts[current];
    if (own.begun) _longjmp(own.place, 1);
    own.begun = true;
    ucontext_t begin;
    getcontext(&begin);
    begin.uc_stack.ss_sp = &stacks[size_t(current) * STACK];
    begin.uc_stack.ss_size = STACK;
    makecontext(&begin, thread, 0);
    setcontext(&begin);
}
void pause() {
    if (!_setjmp(contexts[current].place)) _longjmp(scheduler, 1);
}

void wait(Barrier& barrier, int threads) {
    const int round = barrier.rounds;
    if (++barrier.waiting == threads) {
        barrier.waiting = 0;
        ++barrier.rounds;
    }
    while (barrier.rounds == round) pause();
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

// Runs one block; returns how many threads are left waiting when none can go on.
int run(int threads) {
    contexts.assign(threads, {});
    warps.assign(threads / 32, {});
    lanes.assign(threads, 0);
    block = {};
    if (threads > stacks_count) {
        delete[] stacks;
        stacks = new char[size_t(threads) * STACK];
        stacks_count = threads;
    }
    for (int left = threads, idle = 0; left; ) {
        long before = left, progress = block.rounds;
        for (Barrier& warp : warps) progress += warp.rounds;
        const bool turned = (blockIdx.x + block.rounds / 2) % 2;  // the last come first, now and then
        for (int turn = 0; turn < threads; ++turn) {
            current = turned ? threads - 1 - turn : turn;
            if (contexts[current].ended) continue;
            threadIdx.x = current;
            resume();
            left -= contexts[current].ended;
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
