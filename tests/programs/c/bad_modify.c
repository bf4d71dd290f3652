/* INIT -> RTR without IBV_QP_MIN_RNR_TIMER: EINVAL, and the state stays. */
#include <errno.h>

#include "rc_pair.h"

int main(void) {
    struct endpoint e;
    open_endpoint(&e, 4096, NULL);
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    if (ibv_modify_qp(e.qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) die("to INIT");
    memset(&a, 0, sizeof a);
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = IBV_MTU_1024;
    a.dest_qp_num = 1;
    a.max_dest_rd_atomic = 1;
    a.ah_attr.port_num = 1;
    a.ah_attr.is_global = 1;
    a.ah_attr.grh.dgid = e.self.gid;
    a.ah_attr.grh.sgid_index = 1;
    int rc = ibv_modify_qp(
        e.qp, &a,
        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC);
    printf("modify: errno %d, state %d\n", rc, e.qp->state);
    return rc == EINVAL && e.qp->state == IBV_QPS_INIT ? 0 : 1;
}
