/* The child of a fork opens the device itself; the parent's objects are not the child's, and go on working. */
#include <sys/wait.h>

#include "rc_pair.h"

static void loop_back(const char* who) {
    struct endpoint x, y;
    open_endpoint(&x, 4096, NULL);
    open_endpoint(&y, 4096, NULL);
    connect_endpoint(&x, &y.self, 14, 7);
    connect_endpoint(&y, &x.self, 14, 7);
    strcpy(x.buffer, who);
    if (post(&x, IBV_WR_RDMA_WRITE, 1, 32, &y.self) || wait_completion(&x).status || strcmp(y.buffer, who)) {
        printf("%s: failed\n", who);
        exit(1);
    }
    printf("%s: ok\n", who);
    fflush(stdout);
}

int main(void) {
    int status = 0;
    struct endpoint before;
    open_endpoint(&before, 4096, NULL);
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
        loop_back("child");
        _exit(7);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7) return 1;
    connect_endpoint(&before, &before.self, 14, 7); /* a QP connected to itself */
    loop_back("parent");
    return 0;
}
