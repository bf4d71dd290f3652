/* Leaves every object behind: ending the process must be enough. */
#include "rc_pair.h"

int main(void) {
    for (int i = 0; i < 5; ++i) {
        struct endpoint x, y;
        open_endpoint(&x, 1 << 20, NULL);
        open_endpoint(&y, 1 << 20, NULL);
        connect_endpoint(&x, &y.self, 14, 7);
        connect_endpoint(&y, &x.self, 14, 7);
        for (int k = 0; k < 32; ++k)
            if (post(&x, IBV_WR_RDMA_WRITE, (uint64_t)k, 1 << 20, &y.self)) die("post");
    }
    printf("leaving everything behind\n");
    return 0;
}
