/* Built with a C compiler and libibverbs alone: opens the first device and looks for null operation pointers in
 * everything that the inline functions of verbs.h call through. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

static int nulls(const char* what, const void* from, const void* to) {
    void* const* p = from;
    int missing = 0;

    for (; (const void*)p < to; ++p) {
        if (*p == NULL) {
            printf("%s: pointer %ld is null\n", what, (long)(p - (void* const*)from));
            missing = 1;
        }
    }
    return missing;
}

static int check_context(struct ibv_context* context) {
    struct verbs_context* v = verbs_get_ctx(context);

    if (v == NULL || v->sz != sizeof(*v)) {
        printf("not an extended context\n");
        return 1;
    }
    return nulls("verbs_context", v, &v->priv) |
           nulls("verbs_context behind priv", &v->priv + 1, &v->_ABI_placeholder3) |
           nulls("ibv_context_ops", &context->ops, &context->ops + 1);
}

static int check_cq(struct ibv_context* context) {
    struct ibv_cq_init_attr_ex attr = {.cqe = 4, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
    struct ibv_cq_ex* cq = ibv_create_cq_ex(context, &attr);
    int missing;

    if (cq == NULL) {
        printf("ibv_create_cq_ex failed\n");
        return 1;
    }
    missing = nulls("ibv_cq_ex", &cq->start_poll, cq + 1);
    return missing | (ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) != 0);
}

static int check_qp(struct ibv_context* context) {
    struct ibv_pd* pd = ibv_alloc_pd(context);
    struct ibv_cq* cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp_init_attr_ex attr = {.send_cq = cq,
                                       .recv_cq = cq,
                                       .cap = {1, 1, 1, 1, 0},
                                       .qp_type = IBV_QPT_RC,
                                       .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                       .pd = pd,
                                       .send_ops_flags = IBV_QP_EX_WITH_SEND};
    struct ibv_qp* qp = ibv_create_qp_ex(context, &attr);
    struct ibv_qp_ex* ex = qp == NULL ? NULL : ibv_qp_to_qp_ex(qp);
    int missing;

    if (ex == NULL) {
        printf("ibv_create_qp_ex failed\n");
        return 1;
    }
    missing = nulls("ibv_qp_ex", &ex->wr_atomic_cmp_swp, ex + 1);
    return missing | (ibv_destroy_qp(qp) != 0) | (ibv_destroy_cq(cq) != 0) | (ibv_dealloc_pd(pd) != 0);
}

int main(void) {
    struct ibv_device** list = ibv_get_device_list(NULL);
    struct ibv_context* context;

    if (list == NULL || list[0] == NULL) {
        printf("no device\n");
        return 1;
    }
    context = ibv_open_device(list[0]);
    if (context == NULL) {
        perror("ibv_open_device");
        return 1;
    }
    if (check_context(context) | check_cq(context) | check_qp(context)) return 1;
    printf("%s: all operations present\n", ibv_get_device_name(list[0]));
    ibv_free_device_list(list);
    return ibv_close_device(context);
}
