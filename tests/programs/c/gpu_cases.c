/* CUDA's and GDRCopy's calls, one case an argument; each prints "ok CASE" or says what was wrong and ends with 1. */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <errno.h>
#include <gdrapi.h>
#include <infiniband/verbs.h>
#include <setjmp.h>
#include <signal.h>
#include <simverbs_cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                   \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)
#define OK(call) EXPECT((call) == cudaSuccess)

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void devices(void) {
    int count = 0, value = 0, device = -1;
    cudaDeviceProp prop;
    char id[32];
    OK(cudaGetDeviceCount(&count));
    EXPECT(count == 8);
    OK(cudaGetDeviceProperties(&prop, 1));
    EXPECT(strstr(prop.name, "H100") != NULL && prop.totalGlobalMem == 80ULL << 30 && prop.major == 9);
    EXPECT(prop.gpuDirectRDMASupported == 1 && prop.unifiedAddressing == 1 && prop.warpSize == 32);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT(value == 9);
    OK(cudaDeviceGetPCIBusId(id, sizeof id, 1));
    OK(cudaDeviceGetByPCIBusId(&device, id));
    EXPECT(device == 1);
    EXPECT(cudaSetDevice(8) == cudaErrorInvalidDevice);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaSuccess);
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&device));
    EXPECT(device == 1);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    CUdevice current = -1;
    EXPECT(cuInit(0) == CUDA_SUCCESS && cuCtxGetDevice(&current) == CUDA_SUCCESS && current == 1);
}

static void memory(void) {
    enum { N = 300000 };
    static uint8_t in[N], out[N];
    uint8_t *gpu = NULL, *other = NULL, *managed = NULL, *pinned = NULL;
    size_t before, after, total, pitch;
    for (int i = 0; i < N; ++i) in[i] = (uint8_t)(i * 13 + i / 255);
    OK(cudaSetDevice(0));
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc((void**)&gpu, N));
    OK(cudaMalloc((void**)&other, 64ULL << 20));
    OK(cudaMemGetInfo(&after, &total));
    EXPECT(total == 80ULL << 30 && after == before - (66ULL << 20) && (uintptr_t)gpu % 256 == 0);
    OK(cudaMemcpy(gpu, in, N, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(other + 5, gpu, N, cudaMemcpyDeviceToDevice));
    OK(cudaMemset(other + 5 + 100, 0x5A, 50));
    OK(cudaMemcpy(out, other + 5, N, cudaMemcpyDefault));
    for (int i = 0; i < N; ++i) EXPECT(out[i] == (i >= 100 && i < 150 ? 0x5A : in[i]));
    EXPECT(cudaMemcpy(gpu, in, N + 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(gpu, in, 8, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(gpu, in, 8, (cudaMemcpyKind)7) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaFree(gpu + 1) == cudaErrorInvalidValue);
    EXPECT(cudaMalloc((void**)&pinned, 100ULL << 30) == cudaErrorMemoryAllocation);

    uint8_t* rows = NULL;
    OK(cudaMallocPitch((void**)&rows, &pitch, 100, 7));
    EXPECT(pitch >= 100);
    OK(cudaMemcpy2D(rows, pitch, in, 120, 100, 7, cudaMemcpyHostToDevice));
    memset(out, 0, N);
    OK(cudaMemcpy2D(out, 200, rows, pitch, 100, 7, cudaMemcpyDeviceToHost));
    for (int r = 0; r < 7; ++r) EXPECT(memcmp(out + 200 * r, in + 120 * r, 100) == 0 && out[200 * r + 100] == 0);

    OK(cudaMallocHost((void**)&pinned, 4096));
    OK(cudaMallocManaged((void**)&managed, 4096, cudaMemAttachGlobal));
    managed[17] = 99;
    OK(cudaMemcpy(pinned, managed, 4096, cudaMemcpyDefault));
    EXPECT(pinned[17] == 99);
    OK(cudaHostRegister(in, N, 0));
    EXPECT(cudaHostRegister(in + 4096, 10, 0) == cudaErrorHostMemoryAlreadyRegistered);

    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, other + 1000));
    EXPECT(a.type == cudaMemoryTypeDevice && a.device == 0 && a.hostPointer == NULL);
    OK(cudaPointerGetAttributes(&a, pinned + 1));
    EXPECT(a.type == cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&a, in + 1));
    EXPECT(a.type == cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&a, managed));
    EXPECT(a.type == cudaMemoryTypeManaged);
    OK(cudaPointerGetAttributes(&a, out));
    EXPECT(a.type == cudaMemoryTypeUnregistered);
    unsigned type = 0;
    int ordinal = 0;
    CUdeviceptr base = 0;
    EXPECT(cuInit(0) == CUDA_SUCCESS);
    EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)other) == CUDA_SUCCESS);
    EXPECT(type == CU_MEMORYTYPE_DEVICE);
    EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)out) ==
           CUDA_ERROR_INVALID_VALUE);
    CUpointer_attribute which[2] = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void* where[2] = {&ordinal, &base};
    EXPECT(cuPointerGetAttributes(2, which, where, (CUdeviceptr)other + 77) == CUDA_SUCCESS);
    EXPECT(ordinal == 0 && base == (CUdeviceptr)other);
    EXPECT(cuPointerGetAttributes(2, which, where, (CUdeviceptr)out) == CUDA_SUCCESS && ordinal == -2 && base == 0);

    OK(cudaHostUnregister(in));
    EXPECT(cudaHostUnregister(in) == cudaErrorHostMemoryNotRegistered);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
    OK(cudaFree(other));
    OK(cudaFree(rows));
    OK(cudaFree(gpu));
    EXPECT(cudaFree(gpu) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(out, gpu, 8, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
}

static void peers(void) {
    int can = 0;
    uint32_t *a = NULL, *b = NULL, value = 0xC0FFEE, back = 0;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    EXPECT(can == 1);
    OK(cudaSetDevice(0));
    OK(cudaMalloc((void**)&a, 4096));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
    OK(cudaSetDevice(1));
    OK(cudaMalloc((void**)&b, 4096));
    EXPECT(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
    OK(cudaMemcpy(a, &value, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyPeer(b, 1, a, 0, 4));
    OK(cudaMemcpy(&back, b, 4, cudaMemcpyDeviceToHost));
    EXPECT(back == value);
}

static int order[8], steps;
static void step(void* data) {
    order[steps++] = (int)(intptr_t)data;
}

static void streams(void) {
    enum { N = 8 << 20 };
    cudaStream_t one, two;
    cudaEvent_t begin, end;
    uint8_t *host = NULL, *gpu = NULL, *back = NULL;
    float ms = 0;
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaMallocHost((void**)&host, N));
    OK(cudaMallocHost((void**)&back, N));
    OK(cudaMalloc((void**)&gpu, N));
    memset(host, 7, N);
    const double before = now_us();
    OK(cudaEventRecord(begin, one));
    OK(cudaMemcpyAsync(gpu, host, N, cudaMemcpyHostToDevice, one));
    OK(cudaEventRecord(end, one));
    const double launched = now_us();
    EXPECT(cudaStreamQuery(one) == cudaErrorNotReady && cudaEventQuery(end) == cudaErrorNotReady);
    EXPECT(cudaGetLastError() == cudaErrorNotReady);
    OK(cudaStreamWaitEvent(two, end, 0));
    OK(cudaMemcpyAsync(back, gpu, N, cudaMemcpyDeviceToHost, two));
    OK(cudaEventSynchronize(end));
    const double copied = now_us();
    OK(cudaEventElapsedTime(&ms, begin, end));
    OK(cudaStreamSynchronize(two));
    EXPECT(memcmp(host, back, N) == 0);
    /* 8 MiB take some hundred microseconds on any link; the calls return at once. */
    EXPECT(launched - before < 20 && copied - before > 100);
    EXPECT(ms * 1000 > 100 && ms * 1000 < copied - before + 1);

    OK(cudaLaunchHostFunc(one, step, (void*)1));
    OK(cudaMemcpyAsync(gpu, host, N, cudaMemcpyHostToDevice, one));
    OK(cudaLaunchHostFunc(one, step, (void*)2));
    EXPECT(steps < 2);
    OK(cudaLaunchHostFunc(0, step, (void*)3)); /* the legacy stream waits for the blocking one */
    OK(cudaLaunchHostFunc(one, step, (void*)4));
    OK(cudaDeviceSynchronize());
    EXPECT(steps == 4 && order[0] == 1 && order[1] == 2 && order[2] == 3 && order[3] == 4);

    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    EXPECT(cudaStreamSynchronize(one) == cudaErrorInvalidResourceHandle);
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
}

static void add(void** arguments, struct simverbs_launch* launch) {
    int* const values = *(int**)arguments[0];
    const int n = *(int*)arguments[1];
    for (int i = 0; i < n; ++i) values[i] += (int)launch->grid[0];
    launch->duration_ns = 50000;
}
static const char kernel_stub = 0, unknown_stub = 0;

static void kernels(void) {
    int values[3] = {1, 2, 3}, n = 3, *gpu = NULL;
    const size_t sizes[2] = {sizeof gpu, sizeof n};
    void* arguments[2] = {&gpu, &n};
    cudaStream_t stream;
    const dim3 grid = {5, 1, 1}, block = {32, 1, 1};
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc((void**)&gpu, sizeof values));
    OK(cudaMemcpy(gpu, values, sizeof values, cudaMemcpyHostToDevice));
    OK((cudaError_t)simverbs_cuda_register_host_function(&kernel_stub, add, 2, sizes));
    OK(cudaLaunchKernel(&kernel_stub, grid, block, arguments, 0, stream));
    n = 0; /* the launch has copied its arguments */
    const double before = now_us();
    OK(cudaStreamSynchronize(stream));
    EXPECT(now_us() - before > 40);
    OK(cudaMemcpy(values, gpu, sizeof values, cudaMemcpyDeviceToHost));
    EXPECT(values[0] == 6 && values[1] == 7 && values[2] == 8);
    EXPECT(cudaLaunchKernel(&unknown_stub, grid, block, arguments, 0, stream) == cudaErrorInvalidDeviceFunction);
}

static void ipc(void) {
    int to_child[2], to_parent[2];
    char byte = 0;
    cudaIpcMemHandle_t handle;
    cudaIpcEventHandle_t event_handle;
    EXPECT(pipe(to_child) == 0 && pipe(to_parent) == 0);
    /* Nobody may use CUDA before the fork and after it. */
    const pid_t child = fork();
    if (child == 0) {
        uint32_t *p = NULL, value = 0;
        cudaEvent_t event;
        EXPECT(read(to_child[0], &handle, sizeof handle) == sizeof handle);
        EXPECT(read(to_child[0], &event_handle, sizeof event_handle) == sizeof event_handle);
        OK(cudaIpcOpenMemHandle((void**)&p, handle, cudaIpcMemLazyEnablePeerAccess));
        OK(cudaIpcOpenEventHandle(&event, event_handle));
        OK(cudaEventSynchronize(event));
        OK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
        EXPECT(value == 0x1234);
        value = 0x5678;
        OK(cudaMemcpy(p + 1, &value, 4, cudaMemcpyHostToDevice));
        EXPECT(cudaFree(p) == cudaErrorInvalidValue);
        OK(cudaIpcCloseMemHandle(p));
        EXPECT(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
        EXPECT(write(to_parent[1], &byte, 1) == 1);
        exit(0);
    }
    uint32_t *gpu = NULL, value = 0x1234;
    cudaEvent_t event;
    OK(cudaMalloc((void**)&gpu, 8));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    OK(cudaMemcpyAsync(gpu, &value, 4, cudaMemcpyHostToDevice, 0));
    OK(cudaEventRecord(event, 0));
    OK(cudaIpcGetMemHandle(&handle, gpu));
    OK(cudaIpcGetEventHandle(&event_handle, event));
    void* own = NULL;
    EXPECT(cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess) == cudaErrorDeviceUninitialized);
    EXPECT(write(to_child[1], &handle, sizeof handle) == sizeof handle);
    EXPECT(write(to_child[1], &event_handle, sizeof event_handle) == sizeof event_handle);
    EXPECT(read(to_parent[0], &byte, 1) == 1);
    OK(cudaMemcpy(&value, gpu + 1, 4, cudaMemcpyDeviceToHost));
    EXPECT(value == 0x5678);
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

static void forked(void) {
    void* p = NULL;
    OK(cudaMalloc(&p, 8));
    const pid_t child = fork();
    if (child == 0) {
        EXPECT(cudaMalloc(&p, 8) == cudaErrorInitializationError);
        exit(0);
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    OK(cudaFree(p));
}

static void gdrcopy(void) {
    enum { BYTES = 65536 };
    int flag = -1, major = 0, minor = 0;
    uint8_t *gpu = NULL, host[BYTES], back[BYTES];
    gdr_mh_t mh;
    gdr_info_t info;
    void* map = NULL;
    for (int i = 0; i < BYTES; ++i) host[i] = (uint8_t)(i ^ (i >> 8));
    OK(cudaMalloc((void**)&gpu, 4 * BYTES));
    gpu = (uint8_t*)(((uintptr_t)gpu + GPU_PAGE_OFFSET) & GPU_PAGE_MASK);
    gdr_t g = gdr_open();
    EXPECT(g != NULL && gdr_driver_get_version(g, &major, &minor) == 0 && major == 2);
    EXPECT(gdr_pin_buffer(g, (unsigned long)host, BYTES, 0, 0, &mh) == EINVAL);
    EXPECT(gdr_pin_buffer(g, (unsigned long)gpu, BYTES, 0, 0, &mh) == 0);
    EXPECT(gdr_map(g, mh, &map, BYTES) == 0 && gdr_get_info(g, mh, &info) == 0);
    EXPECT(info.va == (uint64_t)gpu && info.mapped == 1 && info.wc_mapping == 1 && info.mapped_size == BYTES);
    uint8_t* const window = (uint8_t*)map + ((uint64_t)gpu - info.va);
    double t = now_us();
    EXPECT(gdr_copy_to_mapping(mh, window, host, 8) == 0);
    const double store = now_us() - t;
    t = now_us();
    EXPECT(gdr_copy_from_mapping(mh, back, window, 8) == 0);
    const double load = now_us() - t;
    t = now_us();
    OK(cudaMemcpy(back, gpu, 8, cudaMemcpyDeviceToHost));
    const double copy = now_us() - t;
    printf("8 bytes: store %.2f us, load %.2f us, cudaMemcpy %.2f us\n", store, load, copy);
    EXPECT(store < 1 && load < 4 && copy > 5);
    EXPECT(gdr_copy_to_mapping(mh, window, host, BYTES) == 0);
    window[3] = 0xEE; /* a plain store */
    OK(cudaMemcpy(back, gpu, BYTES, cudaMemcpyDeviceToHost));
    EXPECT(back[3] == 0xEE && memcmp(back + 4, host + 4, BYTES - 4) == 0);
    OK(cudaMemset(gpu, 0x11, 16));
    OK(cudaDeviceSynchronize());
    EXPECT(window[0] == 0x11 && window[15] == 0x11 && window[16] == host[16]);
    EXPECT(gdr_copy_to_mapping(mh, window, host, BYTES + 1) == EINVAL);
    EXPECT(gdr_get_callback_flag(g, mh, &flag) == 0 && flag == 0);
    EXPECT(gdr_unmap(g, mh, map, BYTES) == 0 && gdr_unpin_buffer(g, mh) == 0 && gdr_close(g) == 0);
}

static struct ibv_pd* open_pd(void) {
    struct ibv_device** const list = ibv_get_device_list(NULL);
    EXPECT(list != NULL && list[0] != NULL);
    struct ibv_pd* const pd = ibv_alloc_pd(ibv_open_device(list[0]));
    EXPECT(pd != NULL);
    return pd;
}

/* Prints what the two ways of registering GPU memory say. */
static void regions(void) {
    char* gpu = NULL;
    int fd = -1;
    OK(cudaMalloc((void**)&gpu, 1 << 20));
    struct ibv_pd* const pd = open_pd();
    errno = 0;
    struct ibv_mr* mr = ibv_reg_mr(pd, gpu, 1 << 20, IBV_ACCESS_LOCAL_WRITE);
    printf("ibv_reg_mr: %s\n", mr != NULL ? "success" : strerror(errno));
    if (mr != NULL) {
        EXPECT(ibv_reg_mr(pd, gpu + 4096, 1 << 20, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
        EXPECT(ibv_dereg_mr(mr) == 0);
    }
    EXPECT(cuInit(0) == CUDA_SUCCESS);
    const CUresult result =
        cuMemGetHandleForAddressRange(&fd, (CUdeviceptr)gpu, 1 << 20, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    int supported = -1;
    EXPECT(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0) == CUDA_SUCCESS);
    printf("dma-buf: supported %d, export %d\n", supported, result);
    errno = 0;
    mr = ibv_reg_dmabuf_mr(pd, 4096, 1 << 16, 0, fd, IBV_ACCESS_LOCAL_WRITE);
    printf("ibv_reg_dmabuf_mr: %s\n", mr != NULL ? "success" : strerror(errno));
    if (mr != NULL) {
        EXPECT(ibv_dereg_mr(mr) == 0);
        EXPECT(ibv_reg_dmabuf_mr(pd, 4096, 1 << 20, 0, fd, 0) == NULL && errno == EINVAL);
        EXPECT(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, 0) == NULL && errno == EINVAL);
    }
}

static sigjmp_buf out_of_fault;
static void on_fault(int signal) {
    siglongjmp(out_of_fault, signal);
}

static void handled_access(void) {
    volatile char* gpu = NULL;
    OK(cudaMalloc((void**)&gpu, 100));
    signal(SIGSEGV, on_fault);
    if (sigsetjmp(out_of_fault, 1) == 0) {
        (void)gpu[5];
        EXPECT(!"the CPU can read GPU memory");
    }
    OK(cudaMemset((void*)gpu, 1, 100));
}

static void access_(void) {
    volatile char* gpu = NULL;
    OK(cudaMalloc((void**)&gpu, 100));
    fflush(stdout);
    gpu[5] = 1;
}

/* Dies with memory, work under way and a region; the next program finds all of the GPU's memory free. */
static void dies(void) {
    void *gpu = NULL, *host = NULL;
    OK(cudaMalloc(&gpu, 8ULL << 30));
    OK(cudaMallocHost(&host, 256 << 20));
    struct ibv_pd* const pd = open_pd();
    EXPECT(ibv_reg_mr(pd, gpu, 1 << 20, IBV_ACCESS_LOCAL_WRITE) != NULL);
    OK(cudaMemcpyAsync(gpu, host, 256 << 20, cudaMemcpyHostToDevice, 0));
    puts("ok dies");
    fflush(stdout);
    raise(SIGKILL);
}
static void all_free(void) {
    size_t free_bytes = 0, total = 0;
    for (int i = 0; i < 200 && free_bytes != 80ULL << 30; ++i) {
        OK(cudaMemGetInfo(&free_bytes, &total));
        usleep(1000);
    }
    EXPECT(free_bytes == 80ULL << 30);
}

static void entry_points(void) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    void* const runtime = dlopen("libcudart.so.12", RTLD_NOW);
    EXPECT(driver != NULL && runtime != NULL);
    EXPECT(dlvsym(runtime, "cudaMalloc", "libcudart.so.12") != NULL);
    EXPECT(dlopen("libcudart.so.11.0", RTLD_NOW) != NULL && dlopen("libcudart.so.13", RTLD_NOW) != NULL);
    EXPECT(dlopen("libgdrapi.so.2", RTLD_NOW) != NULL && dlopen("libcuda.so", RTLD_NOW) != NULL);
    CUresult (*alloc)(CUdeviceptr*, size_t) = NULL;
    EXPECT(cuGetProcAddress("cuMemAlloc", (void**)&alloc, 12000, 0) == CUDA_SUCCESS);
    EXPECT((void*)alloc == dlsym(driver, "cuMemAlloc_v2"));
    EXPECT(cuGetProcAddress("cuNoSuchThing", (void**)&alloc, 12000, 0) == CUDA_ERROR_NOT_FOUND);
    const char* name = NULL;
    EXPECT(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &name) == CUDA_SUCCESS);
    EXPECT(strcmp(name, "CUDA_ERROR_OUT_OF_MEMORY") == 0);
    int (*table)(const void**, const void*) = (int (*)(const void**, const void*))dlsym(driver, "cuGetExportTable");
    const void* private_table = &name;
    EXPECT(table(&private_table, "0123456789abcdef") != 0 && private_table == NULL);
}

static const struct {
    const char* name;
    void (*run)(void);
} cases[] = {{"devices", devices},
             {"memory", memory},
             {"peers", peers},
             {"streams", streams},
             {"kernels", kernels},
             {"ipc", ipc},
             {"forked", forked},
             {"gdrcopy", gdrcopy},
             {"regions", regions},
             {"access", access_},
             {"dies", dies},
             {"all_free", all_free},
             {"handled_access", handled_access},
             {"entry_points", entry_points}};

int main(int argc, char** argv) {
    for (int a = 1; a < argc; ++a)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
            if (strcmp(argv[a], cases[i].name) != 0) continue;
            cases[i].run();
            printf("ok %s\n", cases[i].name);
        }
    return 0;
}
