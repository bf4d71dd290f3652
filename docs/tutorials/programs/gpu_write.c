/* RDMA WRITE from the memory of one host's GPU into that of another's, and back to the CPU to see that it is right.
 *
 *   server: gpu_write [-a runtime|driver|dmabuf]
 *   client: gpu_write [-a …] SERVER
 *
 * -a says who allocates and how the adapter learns of the memory: cudaMalloc or cuMemAlloc with ibv_reg_mr (which needs
 * the kernel module nvidia_peermem), or a dma-buf with ibv_reg_dmabuf_mr. */
#include <arpa/inet.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BYTES = 1 << 20, PORT = 18600 };

static void fail(const char* what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static void check_cuda(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorString(error), cudaGetErrorName(error));
    exit(1);
}

static void check_driver(CUresult error, const char* what) {
    const char* text = "?";
    if (error == CUDA_SUCCESS) return;
    cuGetErrorString(error, &text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(1);
}

struct peer {
    uint32_t qpn, psn, rkey;
    uint64_t addr;
    union ibv_gid gid;
    uint16_t lid;
};

static int connect_to(const char* server) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    char port[16];
    snprintf(port, sizeof port, "%d", PORT);
    if (server == NULL) {
        struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)};
        const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(listener, (struct sockaddr*)&here, sizeof here) != 0 || listen(listener, 1) != 0) fail("listen");
        const int fd = accept(listener, NULL, NULL);
        if (fd < 0) fail("accept");
        close(listener);
        return fd;
    }
    if (getaddrinfo(server, port, &hints, &found) != 0) fail("getaddrinfo");
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) fail("connect");
    freeaddrinfo(found);
    return fd;
}

static void exchange(int fd, const void* mine, void* theirs, size_t bytes) {
    if (write(fd, mine, bytes) != (ssize_t)bytes || recv(fd, theirs, bytes, MSG_WAITALL) != (ssize_t)bytes)
        fail("exchange");
}

/* GPU memory, and a region over it. */
static void* allocate(const char* api) {
    void* memory = NULL;
    if (strcmp(api, "runtime") == 0) {
        check_cuda(cudaSetDevice(0), "cudaSetDevice");
        check_cuda(cudaMalloc(&memory, BYTES), "cudaMalloc");
    } else {
        CUdevice device;
        CUcontext context;
        CUdeviceptr pointer;
        check_driver(cuInit(0), "cuInit");
        check_driver(cuDeviceGet(&device, 0), "cuDeviceGet");
        check_driver(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
        check_driver(cuCtxSetCurrent(context), "cuCtxSetCurrent");
        check_driver(cuMemAlloc(&pointer, BYTES), "cuMemAlloc");
        memory = (void*)pointer;
    }
    return memory;
}

static struct ibv_mr* register_memory(const char* api, struct ibv_pd* pd, void* memory) {
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    struct ibv_mr* mr;
    if (strcmp(api, "dmabuf") == 0) {
        int fd = -1;
        check_driver(
            cuMemGetHandleForAddressRange(&fd, (CUdeviceptr)memory, BYTES, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
            "cuMemGetHandleForAddressRange");
        mr = ibv_reg_dmabuf_mr(pd, 0, BYTES, (uint64_t)memory, fd, access);
        if (mr == NULL) fail("ibv_reg_dmabuf_mr");
        close(fd);
    } else {
        mr = ibv_reg_mr(pd, memory, BYTES, access);
        if (mr == NULL) fail("ibv_reg_mr");
    }
    return mr;
}

static void connect_qp(struct ibv_qp* qp, const struct peer* mine, const struct peer* theirs, int is_global) {
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
        fail("INIT");
    memset(&attr, 0, sizeof attr);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = theirs->qpn;
    attr.rq_psn = theirs->psn;
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.dlid = theirs->lid;
    attr.ah_attr.is_global = (uint8_t)is_global;
    attr.ah_attr.grh.dgid = theirs->gid;
    attr.ah_attr.grh.hop_limit = 64;
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0)
        fail("RTR");
    memset(&attr, 0, sizeof attr);
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = mine->psn;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    attr.max_rd_atomic = 1;
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC) != 0)
        fail("RTS");
}

int main(int argc, char** argv) {
    const char* api = "runtime";
    int option;
    while ((option = getopt(argc, argv, "a:")) != -1) {
        if (option != 'a') return 2;
        api = optarg;
    }
    const char* server = optind < argc ? argv[optind] : NULL;

    void* const gpu = allocate(api);
    uint8_t* const host = malloc(BYTES);
    for (int i = 0; i < BYTES; ++i) host[i] = (uint8_t)(i * 7 + i / 251);
    if (server != NULL)
        check_cuda(cudaMemcpy(gpu, host, BYTES, cudaMemcpyHostToDevice), "cudaMemcpy");
    else
        check_cuda(cudaMemset(gpu, 0, BYTES), "cudaMemset");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

    struct ibv_device** const list = ibv_get_device_list(NULL);
    struct ibv_context* const context = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
    if (context == NULL) fail("ibv_open_device");
    struct ibv_pd* const pd = ibv_alloc_pd(context);
    struct ibv_mr* const mr = register_memory(api, pd, gpu);
    struct ibv_cq* const cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                                    .qp_type = IBV_QPT_RC};
    struct ibv_qp* const qp = ibv_create_qp(pd, &init);
    if (qp == NULL) fail("ibv_create_qp");

    struct ibv_port_attr port;
    struct peer mine = {.qpn = qp->qp_num, .psn = 100, .rkey = mr->rkey, .addr = (uint64_t)gpu}, theirs;
    if (ibv_query_port(context, 1, &port) != 0 || ibv_query_gid(context, 1, 0, &mine.gid) != 0) fail("ibv_query_port");
    mine.lid = port.lid;
    const int fd = connect_to(server);
    exchange(fd, &mine, &theirs, sizeof mine);
    connect_qp(qp, &mine, &theirs, port.link_layer == IBV_LINK_LAYER_ETHERNET);
    exchange(fd, "r", &option, 1);

    if (server != NULL) {
        struct ibv_sge sge = {.addr = (uint64_t)gpu, .length = BYTES, .lkey = mr->lkey};
        struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .wr.rdma = {.remote_addr = theirs.addr, .rkey = theirs.rkey}},
                           *bad;
        struct ibv_wc wc;
        if (ibv_post_send(qp, &wr, &bad) != 0) fail("ibv_post_send");
        while (ibv_poll_cq(cq, 1, &wc) == 0) {
        }
        printf("RDMA WRITE of %d bytes from GPU to GPU: %s\n", BYTES, ibv_wc_status_str(wc.status));
        if (wc.status != IBV_WC_SUCCESS) return 1;
    }
    exchange(fd, "d", &option, 1);
    if (server == NULL) {
        uint8_t* const back = malloc(BYTES);
        check_cuda(cudaMemcpy(back, gpu, BYTES, cudaMemcpyDeviceToHost), "cudaMemcpy");
        const int same = memcmp(back, host, BYTES) == 0;
        printf("GPU memory after the WRITE: %s\n", same ? "right" : "WRONG");
        if (!same) return 1;
        free(back);
    }
    close(fd);
    ibv_destroy_qp(qp);
    ibv_destroy_cq(cq);
    ibv_dereg_mr(mr);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
    ibv_free_device_list(list);
    check_cuda(cudaFree(gpu), "cudaFree");
    free(host);
    return 0;
}
